package io.espalier.core.api;

/**
 * Counts of one job's tasks. {@code total} leaves out avoided and disabled tasks; {@code total =
 * done + failed + running + waiting + ready + blocked}.
 *
 * @param waiting in back-off
 * @param ready would start if slots, tokens of rates, and workers were free
 * @param blocked neither running, waiting nor ended, and kept by more than that: their job is
 *     paused, stopped, disabled, has errors, has failed, needs no more, is past its {@code
 *     complete_by} or waits for other jobs; or they wait for other tasks on their node; or they
 *     need more than any node has
 * @param avoided excluded by filters
 * @param disabled on a disabled node
 * @param ratePerSecond attempts that ended in the last minute, per second
 * @param secondsLeft until all tasks that may run are through, as fast as in the last minute; -1:
 *     unknown, also where nothing may run
 */
public record JobProgress(
    String job,
    long total,
    long done,
    long failed,
    long running,
    long waiting,
    long ready,
    long blocked,
    long avoided,
    long disabled,
    double ratePerSecond,
    double secondsLeft) {

  /** Counts without a pace; the total follows from them. */
  public static JobProgress of(
      String job,
      long done,
      long failed,
      long running,
      long waiting,
      long ready,
      long blocked,
      long avoided,
      long disabled) {
    long total = done + failed + running + waiting + ready + blocked;
    return new JobProgress(
        job, total, done, failed, running, waiting, ready, blocked, avoided, disabled, 0, -1);
  }

  /** Of a job without tasks. */
  public static JobProgress none(String job) {
    return of(job, 0, 0, 0, 0, 0, 0, 0, 0);
  }

  /** The counts of both under this name, without a pace. */
  public JobProgress plus(JobProgress other) {
    return new JobProgress(
        job,
        total + other.total,
        done + other.done,
        failed + other.failed,
        running + other.running,
        waiting + other.waiting,
        ready + other.ready,
        blocked + other.blocked,
        avoided + other.avoided,
        disabled + other.disabled,
        0,
        -1);
  }

  /** The same with its pace. */
  public JobProgress withPace(double perSecond, double left) {
    return new JobProgress(
        job, total, done, failed, running, waiting, ready, blocked, avoided, disabled, perSecond,
        left);
  }
}
