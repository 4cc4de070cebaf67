package io.espalier.worker.process;

import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.StopReason;
import org.jspecify.annotations.Nullable;

/**
 * When a task has to be stopped because of its time limits. Does nothing by itself and reads no
 * clock: monotonic nanoseconds for what is measured from an event, epoch milliseconds for the
 * deadline, which follows the wall clock also when somebody sets it.
 */
final class TaskTimeLimits {
  /** No time. */
  static final long NEVER = Long.MAX_VALUE;

  /** The longest wait for a deadline, because wall clocks jump. */
  static final long CLOCK_CHECK_NANOS = 30_000_000_000L;

  private static final long MS = 1_000_000L;

  /** Longer ones, a century, are no limits; so sums of them do not overflow. */
  private static final long LONGEST_MILLIS = 100L * 366 * 86_400_000;

  private final long startNanos;
  private final long noOutputNanos;
  private long timeoutNanos;
  private long deadlineMillis;
  private long lastSignNanos;
  private boolean over;

  /**
   * @param startNanos when the task's process was there
   */
  TaskTimeLimits(InvocationLimits limits, long startNanos) {
    this.startNanos = startNanos;
    this.lastSignNanos = startNanos;
    this.timeoutNanos = MS * bounded(limits.timeoutMillis());
    this.noOutputNanos = MS * bounded(limits.noOutputMillis());
    this.deadlineMillis = limits.deadlineMillis();
  }

  private static long bounded(long millis) {
    return millis > LONGEST_MILLIS ? 0 : millis;
  }

  /** Whether there is anything to watch. */
  boolean isEmpty() {
    return timeoutNanos == 0 && noOutputNanos == 0 && deadlineMillis == 0;
  }

  /** The task wrote something, or was kept from writing by us. */
  void sign(long nowNanos) {
    lastSignNanos = nowNanos;
  }

  /** Moves the timeout and the deadline, where there are any. */
  void extend(long millis) {
    long more = Math.max(-LONGEST_MILLIS, Math.min(LONGEST_MILLIS, millis));
    if (timeoutNanos > 0) {
      timeoutNanos = Math.max(1, Math.min(MS * LONGEST_MILLIS, timeoutNanos + MS * more));
    }
    if (deadlineMillis > 0) {
      deadlineMillis = Math.max(1, deadlineMillis + more);
    }
  }

  /** Why it must be stopped now: once, then never again. */
  @Nullable StopReason due(long nowNanos, long nowMillis) {
    if (over) {
      return null;
    }
    StopReason reason = null;
    if (deadlineMillis > 0 && nowMillis >= deadlineMillis) {
      reason = StopReason.DEADLINE;
    } else if (timeoutNanos > 0 && nowNanos - startNanos >= timeoutNanos) {
      reason = StopReason.TIMEOUT;
    } else if (noOutputNanos > 0 && nowNanos - lastSignNanos >= noOutputNanos) {
      reason = StopReason.NO_OUTPUT;
    }
    over = reason != null;
    return reason;
  }

  /** Nanoseconds until it is worth asking again, or {@link #NEVER}. */
  long waitNanos(long nowNanos, long nowMillis) {
    long wait = NEVER;
    if (over) {
      return wait;
    }
    if (timeoutNanos > 0) {
      wait = Math.min(wait, timeoutNanos - (nowNanos - startNanos));
    }
    if (noOutputNanos > 0) {
      wait = Math.min(wait, noOutputNanos - (nowNanos - lastSignNanos));
    }
    if (deadlineMillis > 0) {
      long left = Math.min(CLOCK_CHECK_NANOS / MS, deadlineMillis - nowMillis);
      wait = Math.min(wait, MS * left);
    }
    return Math.max(0, wait);
  }
}
