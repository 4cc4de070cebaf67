package io.espalier.core.api.view;

import java.util.List;

/**
 * What the tasks of one job, or of all jobs, have done in the last hour, and which run far longer
 * than the others did. Counted since this scheduler process began; nothing is stored.
 *
 * @param job name of the job; empty: all jobs
 * @param minutes starts and ends by the minute
 * @param p50Millis half of the newest attempts took no longer; negative: unknown, or all jobs
 * @param p95Millis 95 percent of them took no longer; negative: unknown, or all jobs
 * @param stragglers those that started first, at most {@link #MOST}
 * @param stragglersTotal number of all of them
 */
public record JobActivity(
    String job,
    long atMillis,
    Minutes minutes,
    long p50Millis,
    long p95Millis,
    List<Straggler> stragglers,
    int stragglersTotal) {
  /** The number of minutes that are counted. */
  public static final int MINUTES = 60;

  /** The largest number of stragglers in an answer. */
  public static final int MOST = 20;

  public JobActivity {
    stragglers = List.copyOf(stragglers);
  }

  /**
   * Counts by the minute, the oldest first; the last minute is not over.
   *
   * @param fromMillis when the oldest minute began
   * @param starts tasks that were placed
   * @param ends attempts that ended
   * @param errors those of them that left their task failed or in error
   */
  public record Minutes(
      long fromMillis, List<Integer> starts, List<Integer> ends, List<Integer> errors) {
    public Minutes {
      starts = List.copyOf(starts);
      ends = List.copyOf(ends);
      errors = List.copyOf(errors);
    }
  }

  /**
   * A running task that runs for more than twice as long as 95 percent of the newest attempts of
   * its job took.
   *
   * @param usualMillis how long 95 percent took
   */
  public record Straggler(String job, String node, long startedMillis, long usualMillis) {}
}
