package io.espalier.core.loop.state;

import io.espalier.core.forecast.JobPace;
import io.espalier.core.loop.state.LiveTasks.Live;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds how long the tasks of each job take that has ended some, for forecasts, in slices: a pass
 * over the live tasks, then one over the jobs. Use it on the owner's thread.
 */
public final class PaceScan {
  /** The durations of a job cost as much as so many tasks. */
  private static final int UNITS_PER_JOB = 100;

  private final Throughput paces;
  private final LiveTasks live;
  private final List<String> jobs;
  private final Map<String, DurationHistogram> running = new HashMap<>();
  private final Map<String, JobPace> found = new HashMap<>();

  /** The number of the live task to be looked at next, then the place of the job. */
  private int place;

  private int job;

  public PaceScan(Throughput paces, LiveTasks live) {
    this.paces = paces;
    this.live = live;
    jobs = paces.measured();
    jobs.forEach(name -> addIfCounted(name));
  }

  private void addIfCounted(String name) {
    // Once that many have ended, those that run make no difference.
    if (paces.ended(name) < DurationHistogram.MEMORY) {
      running.put(name, new DurationHistogram());
    }
  }

  public boolean isDone() {
    return job == jobs.size();
  }

  /**
   * Runs a slice.
   *
   * @param units about how many tasks to look at
   * @return how many were looked at, at least 1
   */
  public int step(long nowMillis, int units) {
    int used = 0;
    int end = running.isEmpty() ? place : live.high();
    for (; place < end && used < units; used++) {
      Live task = live.at(place++);
      DurationHistogram of = task == null ? null : running.get(task.key.job());
      if (task != null && of != null) {
        of.addForEver(nowMillis - task.startedMillis());
      }
    }
    for (; place >= end && job < jobs.size() && used < units; used += UNITS_PER_JOB) {
      String name = jobs.get(job++);
      JobPace pace = paces.ofForecasts(name, running.get(name));
      if (pace != null) {
        found.put(name, pace);
      }
    }
    return Math.max(1, used);
  }

  /** Returns the paces by job, once it is done. */
  public Map<String, JobPace> paces() {
    return Map.copyOf(found);
  }
}
