package io.espalier.core.loop.state;

import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.JobDurations;

/** The durations of the tasks of one job with windows, of those that nobody slows down. */
final class WindowDurations {
  /** The least number of tasks that must be done before their durations count. */
  private static final int SAMPLES = 20;

  private final DurationHistogram done;

  /** How long those had run that were killed because their window had ended. */
  private final DurationHistogram stopped;

  private WindowDurations(DurationHistogram done, DurationHistogram stopped) {
    this.done = done;
    this.stopped = stopped;
  }

  static WindowDurations none() {
    return new WindowDurations(new DurationHistogram(), new DurationHistogram());
  }

  /**
   * Reads what was stored.
   *
   * @throws IllegalArgumentException if it cannot be read
   */
  static WindowDurations of(JobDurations stored) {
    return new WindowDurations(
        DurationHistogram.parse(stored.done()), DurationHistogram.parse(stored.stopped()));
  }

  JobDurations stored(String job) {
    return new JobDurations(job, done.text(), stopped.text());
  }

  /** Counts the end of a task; returns whether it counts. */
  boolean ended(Live task, TaskResult end, TaskStatus status, long millis) {
    if (task.wasThrottled) {
      return false;
    }
    if (end.kind() == TaskResult.Kind.EXITED && status.main() == TaskStatus.Main.DONE) {
      done.add(millis);
      return true;
    }
    if (end.kind() == TaskResult.Kind.KILLED && task.overdue == StopReason.WINDOW_ENDED) {
      stopped.add(millis);
      return true;
    }
    return false;
  }

  /** See {@link Throughput#mostTakeMillis}. */
  long mostTakeMillis(long assumedMillis) {
    boolean isAssumed = done.total() < SAMPLES && assumedMillis >= 0;
    DurationHistogram counted = isAssumed ? new DurationHistogram() : done;
    return Math.max(isAssumed ? assumedMillis : 0, counted.bound(0.95, stopped));
  }
}
