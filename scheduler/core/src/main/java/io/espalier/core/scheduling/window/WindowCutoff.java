package io.espalier.core.scheduling.window;

import io.espalier.core.config.JobScheduling;
import java.util.function.LongSupplier;

/** How long before the end of a window the last tasks of a job start. */
public final class WindowCutoff {
  private static final long ROUND_MILLIS = 10_000;

  private WindowCutoff() {}

  /**
   * Returns how long a task must be able to run before a window closes, in milliseconds. It is
   * rounded up, so that cut-offs do not move with each task.
   *
   * @param takesMillis how long tasks of the job take; is not asked if they may overrun windows
   */
  public static long of(JobScheduling scheduling, LongSupplier takesMillis) {
    return scheduling.mayOverrun()
        ? 0
        : (takesMillis.getAsLong() + ROUND_MILLIS - 1) / ROUND_MILLIS * ROUND_MILLIS;
  }

  /**
   * Returns when the last task of a job starts in a window, and the window is closed for it: epoch
   * milliseconds.
   *
   * @param closesMillis when the window closes
   * @param cutoffMillis as {@link #of} has returned it
   */
  public static long closedFrom(long closesMillis, long cutoffMillis) {
    return closesMillis - Math.max(0, cutoffMillis - 1);
  }
}
