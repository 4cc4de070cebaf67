package io.espalier.core.protocol;

/**
 * One moment by three clocks of a worker's host (docs/design/design.md#clocks-of-a-lease). Each of
 * them may fail to see some time go by: the monotonic clock a suspended host, the wall clock a step
 * backwards. So the age of something is the largest that any of them sees.
 *
 * @param monotonicMillis a clock that never goes back; all other timers of the worker use it
 * @param uptimeMillis time since the host started, suspension included
 * @param wallMillis epoch milliseconds
 */
public record ClockReading(long monotonicMillis, long uptimeMillis, long wallMillis) {
  /** The most time that may have gone by since then, in milliseconds; at least 0. */
  public long millisSince(ClockReading earlier) {
    long monotonic = monotonicMillis - earlier.monotonicMillis;
    long uptime = uptimeMillis - earlier.uptimeMillis;
    long wall = wallMillis - earlier.wallMillis;
    return Math.max(0, Math.max(monotonic, Math.max(uptime, wall)));
  }
}
