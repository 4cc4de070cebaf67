package io.espalier.core.config;

/**
 * How many jobs the scheduler takes ({@code capacity} of the settings).
 *
 * @param runningJobs jobs that may start tasks at once; 0: no limit
 * @param waitingJobs jobs that may wait for a place; beyond, new jobs are refused; 0: no limit
 * @param waitingTasks tasks that may wait; from there on, new jobs are refused; 0: no limit
 */
public record JobCapacity(int runningJobs, int waitingJobs, int waitingTasks) {
  public static final JobCapacity NONE = new JobCapacity(0, 0, 0);
}
