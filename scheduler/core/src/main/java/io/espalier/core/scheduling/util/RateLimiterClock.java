package io.espalier.core.scheduling.util;

/**
 * A monotonic clock that fills token buckets. It advances with the wall clock and stands still when
 * the wall clock jumps back. Timers tick by the wall clock.
 */
public final class RateLimiterClock {
  /** The maximum step for one jump of the wall clock, so that no sum of tokens can overflow. */
  private static final long LONGEST_STEP_MILLIS = 30L * 24 * 3_600_000;

  private boolean started;
  private long wallMillis;
  private long elapsed;

  public void at(long nowMillis) {
    if (started) {
      elapsed += Math.max(0, Math.min(LONGEST_STEP_MILLIS, nowMillis - wallMillis));
    }
    started = true;
    wallMillis = nowMillis;
  }

  /** Returns the newest instant of the wall clock, epoch milliseconds. */
  public long wallMillis() {
    return wallMillis;
  }

  /** Returns the milliseconds since the first known instant. */
  public long now() {
    return elapsed;
  }

  /** Returns the last tick of timers, in the time of this clock. */
  public long lastTick() {
    return elapsed - Math.floorMod(wallMillis, (long) Ticks.MILLIS);
  }

  /** Returns the wall-clock tick at which timers handle what is due at a time of this clock. */
  public long wallTick(long due) {
    if (due == Long.MAX_VALUE) {
      return due;
    }
    long at = wallMillis + (due - elapsed);
    return Ticks.ceil(at) * Ticks.MILLIS;
  }
}
