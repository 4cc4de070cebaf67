package io.espalier.worker.process;

/**
 * How many lines a task may write (behaviour 7.5): the quota begins with one increment, every line
 * costs one, every period adds an increment, what is not used is kept. At 0 or less the task's
 * output is not read, so that the task has to wait. Times are of a monotonic clock.
 */
final class LogQuota {
  private final long startNanos;
  private final long periodNanos;
  private final int increment;
  private long used;

  /**
   * @param increment lines per period; 0 or less: no limit
   */
  LogQuota(long startNanos, int periodMillis, int increment) {
    this.startNanos = startNanos;
    this.periodNanos = Math.max(1, periodMillis) * 1_000_000L;
    this.increment = increment;
  }

  /** Whether a line may be taken now. */
  boolean allows(long nowNanos) {
    return increment <= 0 || allowance(nowNanos) > used;
  }

  void use() {
    used++;
  }

  /** Nanoseconds from {@code nowNanos} until a line may be taken; 0: now. */
  long waitNanos(long nowNanos) {
    if (allows(nowNanos)) {
      return 0;
    }
    // The first period in which (periods + 1) * increment > used.
    long periods = used / increment;
    return Math.max(1, startNanos + periods * periodNanos - nowNanos);
  }

  private long allowance(long nowNanos) {
    return ((nowNanos - startNanos) / periodNanos + 1) * increment;
  }
}
