package io.espalier.core.api.view;

import java.util.Map;

/**
 * Counts of one job's tasks. {@code total} excludes avoided and disabled tasks; {@code total = done
 * + failed + cancelled + running + waiting + ready + blocked}.
 *
 * @param cancelled tasks that an operator has cancelled: ended, neither done nor failed
 * @param waiting tasks in back-off
 * @param ready tasks that would start if their nodes were open, and slots, tokens of rates and
 *     workers free
 * @param blocked tasks that are neither running, waiting nor ended and cannot start for other
 *     reasons: their job is paused, stopped, disabled, has errors, has failed, needs no more, is
 *     past its {@code complete_by} or waits for other jobs; or they wait for other tasks on their
 *     node or for their stage; or they need more than any node has
 * @param avoided tasks excluded by filters
 * @param disabled tasks on a disabled node
 * @param ratePerSecond attempts that ended in the last minute, per second
 * @param secondsLeft time until all tasks that may run are finished, at the rate of the last
 *     minute; -1: unknown, or none may run, or some can never start
 * @param waits how long its tasks waited before they were placed
 * @param counterRates growth of its counters per second in the last minute, by name
 */
public record JobProgress(
    String job,
    long total,
    long done,
    long failed,
    long cancelled,
    long running,
    long waiting,
    long ready,
    long blocked,
    long avoided,
    long disabled,
    double ratePerSecond,
    double secondsLeft,
    WaitQuantiles waits,
    Map<String, Double> counterRates) {

  /** Creates counts without rates; computes the total. */
  public static JobProgress of(
      String job,
      long done,
      long failed,
      long cancelled,
      long running,
      long waiting,
      long ready,
      long blocked,
      long avoided,
      long disabled) {
    long total = done + failed + cancelled + running + waiting + ready + blocked;
    return new JobProgress(
        job,
        total,
        done,
        failed,
        cancelled,
        running,
        waiting,
        ready,
        blocked,
        avoided,
        disabled,
        0,
        -1,
        WaitQuantiles.NONE,
        Map.of());
  }

  /** Returns the number of tasks that are not over. */
  public long left() {
    return total - done - failed - cancelled;
  }

  /** The counts of a job without tasks. */
  public static JobProgress none(String job) {
    return of(job, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  }

  /** The sum of both counts under this name, without rates. */
  public JobProgress plus(JobProgress other) {
    return of(
        job,
        done + other.done,
        failed + other.failed,
        cancelled + other.cancelled,
        running + other.running,
        waiting + other.waiting,
        ready + other.ready,
        blocked + other.blocked,
        avoided + other.avoided,
        disabled + other.disabled);
  }

  /** A copy with rates and waits. */
  public JobProgress withPace(
      double perSecond, double left, WaitQuantiles newWaits, Map<String, Double> counting) {
    return new JobProgress(
        job, total, done, failed, cancelled, running, waiting, ready, blocked, avoided, disabled,
        perSecond, left, newWaits, counting);
  }
}
