package io.espalier.core.api.view;

import io.espalier.core.json.Json;
import io.espalier.core.status.RetryCounts;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.StepPosition;
import io.espalier.core.status.TaskStatus;
import org.jspecify.annotations.Nullable;

/**
 * One task as monitors see it.
 *
 * @param status label, such as {@code unstarted}, {@code running}, {@code error_backoff}
 * @param bits as in docs/design/bistro.md#status-bits
 * @param attempts number of starts since it was last forgiven, or ever
 * @param untilMillis end of its back-off; 0: none
 * @param sinceMillis when it got this status; 0: unknown
 * @param data data that the task wrote with its status
 * @param checkpoint the newest progress it wrote, for its next attempt
 * @param running its live invocation; null when it does not run
 * @param retries counts of its failures for rules that consider progress
 * @param step the step that runs, or with which its next start goes on; null: the first, or the
 *     only
 * @param eligibleMillis since when it could start, as far as its status, its job and what it
 *     depends on are concerned; 0: it could not, its node is excluded or disabled, or it runs
 */
public record TaskView(
    String job,
    String node,
    String level,
    String status,
    int bits,
    int attempts,
    long untilMillis,
    long sinceMillis,
    Json.@Nullable Obj data,
    Json.@Nullable Obj checkpoint,
    @Nullable RunningTaskView running,
    RetryCounts retries,
    @Nullable StepPosition step,
    long eligibleMillis) {

  /** Creates a view of a task that does not run, from its status alone. */
  public static TaskView of(String job, String node, String level, TaskStatus status) {
    return of(job, node, level, status.bits(), status, null, 0);
  }

  /**
   * Creates a view of a task with this status.
   *
   * @param bits bits of the status, and of the task's other properties: avoided, disabled
   * @param status null: it was never tried
   * @param running null: it does not run
   * @param eligibleMillis since when it could start; 0: it could not
   */
  public static TaskView of(
      String job,
      String node,
      String level,
      int bits,
      @Nullable TaskStatus status,
      @Nullable RunningTaskView running,
      long eligibleMillis) {
    return new TaskView(
        job,
        node,
        level,
        StatusLabel.of(bits).word(),
        bits,
        status == null ? 0 : status.attempts(),
        status == null ? 0 : status.readyAtMillis(),
        status == null ? 0 : status.sinceMillis(),
        status == null ? null : status.data(),
        status == null ? null : status.checkpoint(),
        running,
        status == null ? RetryCounts.NONE : status.retries(),
        status == null ? null : status.step(),
        eligibleMillis);
  }
}
