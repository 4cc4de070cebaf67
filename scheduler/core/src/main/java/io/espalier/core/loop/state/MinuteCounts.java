package io.espalier.core.loop.state;

import io.espalier.core.api.view.JobActivity;
import java.util.ArrayList;
import java.util.List;

/** Counts by the minute how many tasks were placed and ended in the last hour. */
final class MinuteCounts {
  private final int[] starts = new int[JobActivity.MINUTES];
  private final int[] ends = new int[JobActivity.MINUTES];
  private final int[] errors = new int[JobActivity.MINUTES];
  private long minute = Long.MIN_VALUE;

  void started(long nowMillis) {
    starts[turnTo(nowMillis)]++;
  }

  void ended(boolean isError, long nowMillis) {
    int at = turnTo(nowMillis);
    ends[at]++;
    errors[at] += isError ? 1 : 0;
  }

  /** Returns the counts of the last hour; the newest minute is not over. */
  JobActivity.Minutes view(long nowMillis) {
    int at = turnTo(nowMillis);
    return new JobActivity.Minutes(
        (minute - JobActivity.MINUTES + 1) * 60_000,
        fromOldest(starts, at),
        fromOldest(ends, at),
        fromOldest(errors, at));
  }

  private static List<Integer> fromOldest(int[] counts, int newest) {
    List<Integer> list = new ArrayList<>(counts.length);
    for (int i = 1; i <= counts.length; i++) {
      list.add(counts[(newest + i) % counts.length]);
    }
    return list;
  }

  /** Clears the minutes in which nothing happened, and returns the index of the present one. */
  private int turnTo(long nowMillis) {
    long now = Math.floorDiv(nowMillis, 60_000L);
    minute = minute == Long.MIN_VALUE ? now : minute;
    for (int steps = 0; minute < now && steps < starts.length; steps++) {
      minute++;
      int at = index();
      starts[at] = 0;
      ends[at] = 0;
      errors[at] = 0;
    }
    minute = Math.max(minute, now);
    return index();
  }

  private int index() {
    return (int) Math.floorMod(minute, (long) starts.length);
  }
}
