package io.espalier.core.scheduling.task;

import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.util.RateLimiterClock;
import io.espalier.core.scheduling.util.Ticks;

/**
 * When the tasks of jobs that depend on other jobs node by node were released by them. Only such
 * jobs pay for it, with four bytes per task from their first release on; it is not carried into the
 * next scheduling state.
 */
final class ReleaseTimes {
  private final JobTable jobs;
  private final TaskTable tasks;
  private final RateLimiterClock clock;

  /**
   * By job and node: ticks since the start of the clock, plus one; 0: not known. Null: no task of
   * the job was released.
   */
  private final int[][] released;

  ReleaseTimes(JobTable jobs, TaskTable tasks, RateLimiterClock clock) {
    this.jobs = jobs;
    this.tasks = tasks;
    this.clock = clock;
    released = new int[jobs.count()][];
  }

  /** Notes that the last task on which this one depended is done. */
  void released(int job, int node) {
    int[] ofJob = released[job];
    if (ofJob == null) {
      ofJob = new int[tasks.end(job) - tasks.first(job)];
      released[job] = ofJob;
    }
    ofJob[node - tasks.first(job)] =
        1 + (int) Math.min(Integer.MAX_VALUE - 1, clock.now() / Ticks.MILLIS);
  }

  /** Returns how long ago a task was released, in milliseconds; {@link Long#MAX_VALUE}: unknown. */
  long agoMillis(int job, int node) {
    int[] ofJob = jobs.dependencies[job].length == 0 ? null : released[job];
    int at = ofJob == null ? 0 : ofJob[node - tasks.first(job)];
    return at == 0 ? Long.MAX_VALUE : Math.max(0, clock.now() - (at - 1L) * Ticks.MILLIS);
  }
}
