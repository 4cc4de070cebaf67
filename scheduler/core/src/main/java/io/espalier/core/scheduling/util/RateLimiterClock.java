package io.espalier.core.scheduling.util;

/**
 * The time that fills token buckets: goes on with the clock, stands still where that jumps back.
 * Timers tick by the clock itself.
 */
public final class RateLimiterClock {
  /** No jump of the clock counts for more, so that no sum of tokens can overflow. */
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

  /** Milliseconds since the first known instant. */
  public long now() {
    return elapsed;
  }

  /** The last tick of timers. */
  public long lastTick() {
    return elapsed - Math.floorMod(wallMillis, (long) Ticks.MILLIS);
  }

  /** When timers tick for what is due then, by the clock. */
  public long wallTick(long due) {
    if (due == Long.MAX_VALUE) {
      return due;
    }
    long at = wallMillis + (due - elapsed);
    return Ticks.ceil(at) * Ticks.MILLIS;
  }
}
