package io.espalier.worker.call;

import io.espalier.core.call.CallCourse;
import java.util.Comparator;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * When to look at each call next: one time per call, in milliseconds of {@link System#nanoTime};
 * {@link CallCourse#NEVER} is never. Confined to the thread of the calls.
 */
final class CallTimers {
  private final TreeSet<Timer> timers =
      new TreeSet<>(Comparator.comparingLong(Timer::atMillis).thenComparingLong(Timer::number));
  private long count;

  /**
   * When to look at a call.
   *
   * @param number orders calls of one time by when they were set
   */
  record Timer(long atMillis, long number, CallInFlight call) {}

  /** Sets the time of a call, in place of an earlier one. */
  void set(CallInFlight call, long atMillis) {
    if (call.timer != null) {
      timers.remove(call.timer);
      call.timer = null;
    }
    if (atMillis != CallCourse.NEVER) {
      call.timer = new Timer(atMillis, ++count, call);
      timers.add(call.timer);
    }
  }

  /** Removes and returns the first call whose time has come; null: there is none. */
  @Nullable CallInFlight take(long nowMillis) {
    if (nextMillis() > nowMillis) {
      return null;
    }
    CallInFlight due = timers.first().call();
    set(due, CallCourse.NEVER);
    return due;
  }

  /** Returns the earliest of the times. */
  long nextMillis() {
    return timers.isEmpty() ? CallCourse.NEVER : timers.first().atMillis();
  }
}
