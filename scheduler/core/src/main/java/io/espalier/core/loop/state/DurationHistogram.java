package io.espalier.core.loop.state;

/**
 * How long tasks of one job took, the newest ones above all: counts in buckets an eighth of an
 * octave wide, halved whenever there are many. Says how long one that runs already will take.
 */
final class DurationHistogram {
  /** From 0 up to the largest long: 8 exact ones, then 8 for each power of two. */
  private static final int BUCKETS = 488;

  /** So many attempts weigh as much as all before them. */
  private static final int MEMORY = 2_048;

  private final int[] counts = new int[BUCKETS];
  private int total;

  void add(long millis) {
    counts[bucket(Math.max(0, millis))]++;
    if (++total >= 2 * MEMORY) {
      total = 0;
      for (int i = 0; i < BUCKETS; i++) {
        counts[i] >>>= 1;
        total += counts[i];
      }
    }
  }

  /**
   * How long a task takes that has been running for a while: the median of those that took as long
   * or longer.
   *
   * @return milliseconds from its start; -1: none took longer, or none is known
   */
  long expected(long elapsedMillis) {
    int from = bucket(Math.max(0, elapsedMillis));
    int longer = 0;
    for (int i = from; i < BUCKETS; i++) {
      longer += counts[i];
    }
    if (longer == 0) {
      return -1;
    }
    int left = (longer + 1) / 2;
    int at = from;
    while (left > counts[at]) {
      left -= counts[at++];
    }
    return middle(at);
  }

  static int bucket(long millis) {
    if (millis < 8) {
      return (int) millis;
    }
    int exponent = Long.SIZE - 1 - Long.numberOfLeadingZeros(millis);
    return (exponent - 2) * 8 + (int) ((millis >>> (exponent - 3)) & 7);
  }

  private static long middle(int bucket) {
    if (bucket < 8) {
      return bucket;
    }
    int exponent = bucket / 8 + 2;
    long width = 1L << (exponent - 3);
    return (8 + bucket % 8) * width + width / 2;
  }
}
