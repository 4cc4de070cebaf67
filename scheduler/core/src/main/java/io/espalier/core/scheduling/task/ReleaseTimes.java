package io.espalier.core.scheduling.task;

import io.espalier.core.scheduling.util.RateLimiterClock;
import io.espalier.core.scheduling.util.Ticks;

/**
 * When tasks whose status says nothing of it became free to start: those that depend on tasks of
 * other jobs, by the end of the last of these, and those that were reset to never tried. Four bytes
 * for each task of a page in which there is such a task, and nothing for others. Neither stored nor
 * carried into the next scheduling state, so that these tasks then wait from that moment on.
 */
final class ReleaseTimes {
  private static final int PAGE = 4096;

  private final TaskTable tasks;
  private final RateLimiterClock clock;

  /**
   * By job, and by page and place in it of the task: ticks since the start of the clock, plus one;
   * 0: not known. Null: no task of the job, or of the page, was released.
   */
  private final int[][][] released;

  ReleaseTimes(int jobs, TaskTable tasks, RateLimiterClock clock) {
    this.tasks = tasks;
    this.clock = clock;
    released = new int[jobs][][];
  }

  /** Notes that a task has just become free to start. */
  void released(int job, int node) {
    int first = tasks.first(job);
    int[][] pages = released[job];
    if (pages == null) {
      pages = new int[(tasks.end(job) - first + PAGE - 1) / PAGE][];
      released[job] = pages;
    }
    int[] page = pages[(node - first) / PAGE];
    if (page == null) {
      page = new int[PAGE];
      pages[(node - first) / PAGE] = page;
    }
    page[(node - first) % PAGE] =
        1 + (int) Math.min(Integer.MAX_VALUE - 1, clock.now() / Ticks.MILLIS);
  }

  /** Returns whether a task of the job was released. */
  boolean hasAny(int job) {
    return released[job] != null;
  }

  /** Returns how long ago a task was released, in milliseconds; {@link Long#MAX_VALUE}: unknown. */
  long agoMillis(int job, int node) {
    int[][] pages = released[job];
    int place = node - tasks.first(job);
    int[] page = pages == null ? null : pages[place / PAGE];
    int at = page == null ? 0 : page[place % PAGE];
    return at == 0 ? Long.MAX_VALUE : Math.max(0, clock.now() - (at - 1L) * Ticks.MILLIS);
  }
}
