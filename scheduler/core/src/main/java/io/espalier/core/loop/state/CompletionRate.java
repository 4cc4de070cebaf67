package io.espalier.core.loop.state;

/** How many attempts of one job ended in the last minute, by the second. */
final class CompletionRate {
  private static final int SECONDS = 60;

  /** Less than this says nothing about a rate. */
  private static final int SHORTEST = 5;

  private final int[] ends = new int[SECONDS];
  private final int[] last = new int[SECONDS];
  private long second = Long.MIN_VALUE;
  private long first = Long.MIN_VALUE;
  private long sumEnds;
  private long sumLast;

  /**
   * @param isLast whether its task is done or has failed for good with it
   */
  void ended(boolean isLast, long nowMillis) {
    turnTo(nowMillis / 1000);
    int at = (int) (second % SECONDS);
    ends[at]++;
    sumEnds++;
    if (isLast) {
      last[at]++;
      sumLast++;
    }
  }

  /** Ends per second. */
  double perSecond(long nowMillis) {
    turnTo(nowMillis / 1000);
    return (double) sumEnds / seconds();
  }

  /** Tasks that were through for good, per second. */
  double throughPerSecond(long nowMillis) {
    turnTo(nowMillis / 1000);
    return (double) sumLast / seconds();
  }

  private long seconds() {
    return Math.max(SHORTEST, Math.min(SECONDS, second - first + 1));
  }

  private void turnTo(long now) {
    if (first == Long.MIN_VALUE) {
      first = now;
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
