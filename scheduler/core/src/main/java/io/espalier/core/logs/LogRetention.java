package io.espalier.core.logs;

/**
 * How long lines are retained.
 *
 * @param maxAgeMillis older lines are deleted; 0: no bound
 * @param maxBytes size on disk beyond which the oldest lines are deleted; 0: no bound
 */
public record LogRetention(long maxAgeMillis, long maxBytes) {
  /** Retains everything. */
  public static final LogRetention ALL = new LogRetention(0, 0);

  public LogRetention {
    if (maxAgeMillis < 0 || maxBytes < 0) {
      throw new IllegalArgumentException("a retention of " + maxAgeMillis + ", " + maxBytes);
    }
  }

  /** The time before which lines are deleted; 0: none are. */
  public long keptSince(long nowMillis) {
    return maxAgeMillis == 0 ? 0 : Math.max(0, nowMillis - maxAgeMillis);
  }
}
