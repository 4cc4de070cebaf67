package io.espalier.worker.process;

import java.util.function.BooleanSupplier;

/**
 * How many lines a task may write (docs/design/bistro.md#output): the quota begins with one
 * increment, every line costs one, every period adds an increment, what is not used is kept. At 0
 * or less the task's output is not read, so that the task has to wait. The same holds while the log
 * store has no room. Times are of a monotonic clock. Only stdout and stderr are subject to it,
 * never the status pipe.
 */
final class LogQuota {
  /** How long to wait before asking again whether there is room. */
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
   * @param room whether the log store takes lines now
   */
  LogQuota(long startNanos, int periodMillis, int increment, BooleanSupplier room) {
    this.room = room;
    this.startNanos = startNanos;
    this.periodNanos = Math.max(1, periodMillis) * 1_000_000L;
    this.increment = increment;
  }

  /** Whether a line may be taken now. */
  boolean allows(long nowNanos) {
    return isInQuota(nowNanos) && room.getAsBoolean();
  }

  void use() {
    used++;
  }

  /**
   * Nanoseconds from {@code nowNanos} until a line may be taken, or until it is time to ask again;
   * 0: now.
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
