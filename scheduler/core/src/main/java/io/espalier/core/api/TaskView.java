package io.espalier.core.api;

import io.espalier.core.json.Json;
import io.espalier.core.status.RetryCounts;
import org.jspecify.annotations.Nullable;

/**
 * One task as monitors see it.
 *
 * @param status label, such as {@code unstarted}, {@code running}, {@code error_backoff}
 * @param bits behaviour 6.1
 * @param attempts how often it was started since it was last forgiven, or ever
 * @param untilMillis end of its back-off; 0: none
 * @param sinceMillis when it got this status; 0: unknown
 * @param data what the task said with its status
 * @param checkpoint the newest progress it wrote, for its next attempt
 * @param running its live invocation; null when it does not run
 * @param retries its failures as rules that look at progress count them
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
    @Nullable RunningTask running,
    RetryCounts retries) {

  /** A task without counted failures. */
  public TaskView(
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
      @Nullable RunningTask running) {
    this(
        job,
        node,
        level,
        status,
        bits,
        attempts,
        untilMillis,
        sinceMillis,
        data,
        checkpoint,
        running,
        RetryCounts.NONE);
  }

  /** A task that does not run and has no checkpoint. */
  public TaskView(
      String job,
      String node,
      String level,
      String status,
      int bits,
      int attempts,
      long untilMillis,
      long sinceMillis,
      Json.@Nullable Obj data) {
    this(job, node, level, status, bits, attempts, untilMillis, sinceMillis, data, null, null);
  }
}
