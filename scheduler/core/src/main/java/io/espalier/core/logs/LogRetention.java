package io.espalier.core.logs;

/**
 * How long lines are kept.
 *
 * @param maxAgeMillis older ones go; 0: no bound
 * @param maxBytes on the disk; the oldest ones go when it is more; 0: no bound
 */
public record LogRetention(long maxAgeMillis, long maxBytes) {
  /** Everything is kept. */
  public static final LogRetention ALL = new LogRetention(0, 0);

  public LogRetention {
    if (maxAgeMillis < 0 || maxBytes < 0) {
      throw new IllegalArgumentException("a retention of " + maxAgeMillis + ", " + maxBytes);
    }
  }

  /** Lines before this time go; 0: none. */
  public long keptSince(long nowMillis) {
    return maxAgeMillis == 0 ? 0 : Math.max(0, nowMillis - maxAgeMillis);
  }
}
