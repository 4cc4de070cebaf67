package io.espalier.core.protocol;

/**
 * A reading of three clocks of a worker's host at one moment
 * (docs/design/design.md#clocks-of-a-lease). Each clock can miss time: the monotonic clock while
 * the host is suspended, the wall clock when it is set back. The age of something is therefore the
 * largest age by any of them.
 *
 * @param monotonicMillis monotonic clock, which never goes back; all other timers of the worker use
 *     it
 * @param uptimeMillis time since the host started, including suspension
 * @param wallMillis epoch milliseconds
 */
public record ClockReading(long monotonicMillis, long uptimeMillis, long wallMillis) {
  /**
   * The longest time that may have passed since the earlier reading, in milliseconds; at least 0.
   */
  public long millisSince(ClockReading earlier) {
    long monotonic = monotonicMillis - earlier.monotonicMillis;
    long uptime = uptimeMillis - earlier.uptimeMillis;
    long wall = wallMillis - earlier.wallMillis;
    return Math.max(0, Math.max(monotonic, Math.max(uptime, wall)));
  }
}
