package io.espalier.core.config.task;

import java.util.List;

/**
 * How long a task waits after an error (docs/design/bistro.md#back-off): increasing intervals;
 * after the last one, the task either repeats it or fails.
 *
 * @param seconds strictly increasing, positive intervals; empty only when not repeating
 * @param repeats whether the last interval is repeated forever; otherwise the task fails
 */
public record Backoff(List<Integer> seconds, boolean repeats) {
  /** The wait of a task that has no interval left but must wait without failing. */
  public static final int NO_MORE_SECONDS = 60;

  public static final Backoff DEFAULT =
      new Backoff(List.of(15, 30, 60, 300, 900, 3600, 7200, 21600, 86400), true);

  public Backoff {
    seconds = List.copyOf(seconds);
    if (seconds.isEmpty() && repeats) {
      throw new IllegalArgumentException("nothing to repeat");
    }
  }

  /**
   * The interval after {@code current}.
   *
   * @param current current interval in seconds; 0 for none yet
   */
  public Interval next(int current) {
    for (int s : seconds) {
      if (s > current) {
        return new Interval(s, false);
      }
    }
    return repeats
        ? new Interval(seconds.get(seconds.size() - 1), false)
        : new Interval(NO_MORE_SECONDS, true);
  }

  /**
   * A wait.
   *
   * @param noMore whether there was no interval left: a task with an error fails instead of waiting
   */
  public record Interval(int seconds, boolean noMore) {}
}
