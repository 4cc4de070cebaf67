package io.espalier.core.loop.state;

/** Counts by the second how many attempts of one job ended in the last minute. */
final class CompletionRate {
  private static final int SECONDS = 60;

  /** The shortest time, in seconds, from which a rate can be derived. */
  private static final int SHORTEST = 5;

  private final int[] ends = new int[SECONDS];
  private final int[] last = new int[SECONDS];
  private long second = Long.MIN_VALUE;

  /** The second of the first end, from which rates are derived. */
  private long first = Long.MIN_VALUE;

  private long sumEnds;
  private long sumLast;

  /**
   * Counts an ended attempt.
   *
   * @param isLast true when the task is now done or has failed permanently
   */
  void ended(boolean isLast, long nowMillis) {
    turnTo(nowMillis / 1000);
    if (first == Long.MIN_VALUE) {
      first = second;
    }
    int at = (int) (second % SECONDS);
    ends[at]++;
    sumEnds++;
    if (isLast) {
      last[at]++;
      sumLast++;
    }
  }

  /** Ends of attempts per second. */
  double perSecond(long nowMillis) {
    turnTo(nowMillis / 1000);
    return (double) sumEnds / seconds();
  }

  /** Tasks per second that are done or have failed permanently. */
  double throughPerSecond(long nowMillis) {
    turnTo(nowMillis / 1000);
    return (double) sumLast / seconds();
  }

  private long seconds() {
    if (first == Long.MIN_VALUE) {
      return SHORTEST;
    }
    return Math.max(SHORTEST, Math.min(SECONDS, second - first + 1));
  }

  private void turnTo(long now) {
    if (second == Long.MIN_VALUE) {
      second = now;
    }
    for (int steps = 0; second < now && steps < SECONDS; steps++) {
      second++;
      int at = (int) (second % SECONDS);
      sumEnds -= ends[at];
      sumLast -= last[at];
      ends[at] = 0;
      last[at] = 0;
    }
    second = Math.max(second, now);
  }
}
