package io.espalier.core.api.view;

import io.espalier.core.running.Invocation;
import io.espalier.core.running.Progress;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.Throttle;
import org.jspecify.annotations.Nullable;

/**
 * A live invocation as monitors see it.
 *
 * @param usage the newest sample of its usage; null before the first
 * @param limits its time limits as instants
 * @param progress the newest progress reported in this attempt; null: none yet
 * @param ratePerSecond units done per second in this attempt; 0: unknown
 * @param role role of its node under the parent through which it runs, such as {@code replica};
 *     usually empty
 * @param step the step that runs; empty: its job has no steps
 * @param batch the fencing token of the first task of its batch; empty: its job has no batches, or
 *     an earlier scheduler process has started it and the batch shares no charge
 * @param waitedMillis how long the task had been eligible when it was placed; negative: unknown
 * @param call null: it runs a process
 * @param throttle how fast it was told to work; null: this scheduler has told it nothing else than
 *     full speed
 * @param stopping that it is being stopped; null: nobody has requested its end
 */
public record RunningTaskView(
    String job,
    String node,
    Invocation invocation,
    int attempt,
    String workerShard,
    @Nullable ResourceUsage usage,
    TaskDeadlines limits,
    @Nullable Progress progress,
    double ratePerSecond,
    String role,
    String step,
    String batch,
    long waitedMillis,
    @Nullable RunningCall call,
    @Nullable Throttle throttle,
    @Nullable Stopping stopping) {

  /**
   * A stop that is under way: the end of the task was requested, and its process has not ended yet.
   *
   * @param sinceMillis when it was first requested
   * @param reason why, and by whom if a person has requested it
   */
  public record Stopping(long sinceMillis, String reason) {}

  /** Creates a view of a task without limits, progress and usage. */
  public static RunningTaskView of(
      String job, String node, Invocation invocation, int attempt, String workerShard) {
    return new RunningTaskView(
        job,
        node,
        invocation,
        attempt,
        workerShard,
        null,
        TaskDeadlines.UNLIMITED,
        null,
        0,
        "",
        "",
        "",
        -1,
        null,
        null,
        null);
  }

  /** Seconds until everything is done, at its current rate; -1: unknown. */
  public double secondsLeft() {
    Long done = progress == null ? null : progress.done();
    Long total = progress == null ? null : progress.total();
    if (done == null || total == null || (ratePerSecond <= 0 && done < total)) {
      return -1;
    }
    return done >= total ? 0 : (total - done) / ratePerSecond;
  }
}
