package io.espalier.worker.process.output;

import java.util.function.BooleanSupplier;

/**
 * The quota of lines that a task may write (docs/design/bistro.md#output): it begins with one
 * increment, every line costs one, every period adds an increment, and unused lines accumulate. At
 * 0 or less the task's output is not read, so that the task must wait. The same applies while the
 * log store has no room. Times are of a monotonic clock. The quota applies only to stdout and
 * stderr, never to the status pipe.
 */
final class LogQuota {
  /** The pause before the store is checked again for room. */
  private static final long ROOM_NANOS = 20_000_000;

  private final BooleanSupplier room;
  private final long startNanos;
  private final long periodNanos;
  private final int increment;
  private long used;

  /**
   * @param increment lines per period; 0 or less: no limit
   */
  LogQuota(long startNanos, int periodMillis, int increment) {
    this(startNanos, periodMillis, increment, () -> true);
  }

  /**
   * @param increment lines per period; 0 or less: no limit
   * @param room returns whether the log store accepts lines now
   */
  LogQuota(long startNanos, int periodMillis, int increment, BooleanSupplier room) {
    this.room = room;
    this.startNanos = startNanos;
    this.periodNanos = Math.max(1, periodMillis) * 1_000_000L;
    this.increment = increment;
  }

  /** Returns whether the task may write a line now. */
  boolean allows(long nowNanos) {
    return isInQuota(nowNanos) && room.getAsBoolean();
  }

  void use() {
    used++;
  }

  /**
   * Returns the nanoseconds from {@code nowNanos} until a line is allowed, or until the next check
   * of the store; 0: now.
   */
  long waitNanos(long nowNanos) {
    if (isInQuota(nowNanos)) {
      return room.getAsBoolean() ? 0 : ROOM_NANOS;
    }
    // The first period in which (periods + 1) * increment > used.
    long periods = used / increment;
    return Math.max(1, startNanos + periods * periodNanos - nowNanos);
  }

  private boolean isInQuota(long nowNanos) {
    return increment <= 0 || allowance(nowNanos) > used;
  }

  private long allowance(long nowNanos) {
    return ((nowNanos - startNanos) / periodNanos + 1) * increment;
  }
}
