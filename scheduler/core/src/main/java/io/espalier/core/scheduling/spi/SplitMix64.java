package io.espalier.core.scheduling.spi;

/**
 * The SplitMix64 random generator: small, free of allocation, and specified here, so that a seed
 * gives the same placements on every JDK.
 */
public final class SplitMix64 {
  private long state;

  public SplitMix64(long seed) {
    state = seed;
  }

  /** Returns 64 random bits. */
  public long next() {
    long z = state += 0x9e3779b97f4a7c15L;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /**
   * Returns a random number in [0, bound).
   *
   * @param bound positive
   */
  public int below(int bound) {
    return (int) (((next() >>> 32) * bound) >>> 32);
  }

  /** Returns a random number in [0, 1). */
  public double fraction() {
    return (next() >>> 11) * 0x1.0p-53;
  }
}
