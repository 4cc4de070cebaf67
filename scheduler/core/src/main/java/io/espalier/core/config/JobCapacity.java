package io.espalier.core.config;

/**
 * How much the scheduler takes at once ({@code capacity} of the settings).
 *
 * @param runningJobs jobs that may start tasks at once; 0: no limit
 * @param waitingJobs jobs that may wait for a place; beyond, new jobs are refused; 0: no limit
 * @param waitingTasks tasks that may wait; from there on, new jobs are refused; 0: no limit
 * @param maxStarting starts that may be in flight: placed, and not confirmed by the runner; 0: no
 *     limit
 * @param maxStartingPerWorker the same of each worker by itself
 */
public record JobCapacity(
    int runningJobs, int waitingJobs, int waitingTasks, int maxStarting, int maxStartingPerWorker) {
  public static final JobCapacity NONE = new JobCapacity(0, 0, 0, 0, 0);

  /** Returns whether it bounds jobs, and not only their starts. */
  public boolean boundsJobs() {
    return runningJobs > 0 || waitingJobs > 0 || waitingTasks > 0;
  }
}
