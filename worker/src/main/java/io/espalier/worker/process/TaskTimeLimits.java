package io.espalier.worker.process;

import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.StopReason;
import org.jspecify.annotations.Nullable;

/**
 * Decides when a task must be stopped because of its time limits. It takes no action and reads no
 * clock. Durations measured from an event use monotonic nanoseconds. The deadline uses epoch
 * milliseconds: it follows the wall clock even when somebody sets that.
 */
public final class TaskTimeLimits {
  /** Never. */
  public static final long NEVER = Long.MAX_VALUE;

  /** The longest wait for a deadline, because wall clocks jump. */
  static final long CLOCK_CHECK_NANOS = 30_000_000_000L;

  private static final long MS = 1_000_000L;

  /** Longer ones, a century, are no limits, so that sums of them do not overflow. */
  private static final long LONGEST_MILLIS = 100L * 366 * 86_400_000;

  private final long startNanos;
  private final long noOutputNanos;
  private long timeoutNanos;
  private long deadlineMillis;
  private long lastSignNanos;
  private boolean isPausing;
  private boolean over;

  /**
   * @param startNanos when the task's process started
   */
  public TaskTimeLimits(InvocationLimits limits, long startNanos) {
    this.startNanos = startNanos;
    this.lastSignNanos = startNanos;
    this.timeoutNanos = MS * bounded(limits.timeoutMillis());
    this.noOutputNanos = MS * bounded(limits.noOutputMillis());
    this.deadlineMillis = limits.deadlineMillis();
  }

  private static long bounded(long millis) {
    return millis > LONGEST_MILLIS ? 0 : millis;
  }

  /** Returns whether no limit is set. */
  public boolean isEmpty() {
    return timeoutNanos == 0 && noOutputNanos == 0 && deadlineMillis == 0;
  }

  /** Notes a sign of life: the task wrote something, or we kept it from writing. */
  public void sign(long nowNanos) {
    lastSignNanos = nowNanos;
  }

  /** Notes whether the task is to pause: meanwhile it need not give a sign of life. */
  public void pause(boolean isToPause, long nowNanos) {
    if (isPausing) {
      lastSignNanos = nowNanos;
    }
    isPausing = isToPause;
  }

  /** Moves the timeout and the deadline, where they are set. */
  public void extend(long millis) {
    long more = Math.max(-LONGEST_MILLIS, Math.min(LONGEST_MILLIS, millis));
    if (timeoutNanos > 0) {
      timeoutNanos = Math.max(1, Math.min(MS * LONGEST_MILLIS, timeoutNanos + MS * more));
    }
    if (deadlineMillis > 0) {
      deadlineMillis = Math.max(1, deadlineMillis + more);
    }
  }

  /** Returns, only once, why the task must be stopped now. */
  public @Nullable StopReason due(long nowNanos, long nowMillis) {
    if (over) {
      return null;
    }
    StopReason reason = null;
    if (deadlineMillis > 0 && nowMillis >= deadlineMillis) {
      reason = StopReason.DEADLINE;
    } else if (timeoutNanos > 0 && nowNanos - startNanos >= timeoutNanos) {
      reason = StopReason.TIMEOUT;
    } else if (isWatchingOutput() && nowNanos - lastSignNanos >= noOutputNanos) {
      reason = StopReason.NO_OUTPUT;
    }
    over = reason != null;
    return reason;
  }

  private boolean isWatchingOutput() {
    return noOutputNanos > 0 && !isPausing;
  }

  /** Returns the nanoseconds until the next useful check, or {@link #NEVER}. */
  public long waitNanos(long nowNanos, long nowMillis) {
    long wait = NEVER;
    if (over) {
      return wait;
    }
    if (timeoutNanos > 0) {
      wait = Math.min(wait, timeoutNanos - (nowNanos - startNanos));
    }
    if (isWatchingOutput()) {
      wait = Math.min(wait, noOutputNanos - (nowNanos - lastSignNanos));
    }
    if (deadlineMillis > 0) {
      long left = Math.min(CLOCK_CHECK_NANOS / MS, deadlineMillis - nowMillis);
      wait = Math.min(wait, MS * left);
    }
    return Math.max(0, wait);
  }
}
