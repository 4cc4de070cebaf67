package io.espalier.worker.process;

import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.StopReason;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Watches the time limits of one task; confined to the supervisor's thread. */
final class TimeWatch {
  private final TaskHost host;
  private final BooleanSupplier heldUp;
  private final Consumer<StopReason> stop;
  private TaskTimeLimits times = new TaskTimeLimits(InvocationLimits.NONE, System.nanoTime());
  private long extension;
  private boolean isPausing;
  private boolean over;
  private int timer;

  /**
   * @param heldUp returns whether we may be the ones who keep the task from writing
   * @param stop stops the task; called at most once for each {@link #begin}
   */
  TimeWatch(TaskHost host, BooleanSupplier heldUp, Consumer<StopReason> stop) {
    this.host = host;
    this.heldUp = heldUp;
    this.stop = stop;
  }

  /** Watches these limits from now on, in the place of earlier ones; extensions are kept. */
  void begin(InvocationLimits limits) {
    times = new TaskTimeLimits(limits, System.nanoTime());
    times.extend(extension);
    times.pause(isPausing, System.nanoTime());
    watch();
  }

  /** The task has written something. */
  void sign() {
    times.sign(System.nanoTime());
  }

  /** Moves the timeout and the deadline. */
  void extend(long millis) {
    extension += millis;
    times.extend(millis);
    watch();
  }

  /** Notes whether the task is to pause. */
  void pause(boolean isToPause) {
    isPausing = isToPause;
    times.pause(isToPause, System.nanoTime());
    watch();
  }

  void end() {
    over = true;
  }

  /** Starts or moves the timer. */
  private void watch() {
    if (times.isEmpty() || over) {
      return;
    }
    long wait = times.waitNanos(System.nanoTime(), System.currentTimeMillis());
    if (wait == TaskTimeLimits.NEVER) {
      return;
    }
    // Setting another timer invalidates the earlier one.
    int mine = ++timer;
    host.after(
        wait,
        () -> {
          if (mine == timer) {
            check();
          }
        });
  }

  private void check() {
    if (over) {
      return;
    }
    long now = System.nanoTime();
    if (heldUp.getAsBoolean()) {
      times.sign(now);
    }
    StopReason reason = times.due(now, System.currentTimeMillis());
    if (reason != null) {
      stop.accept(reason);
    }
    watch();
  }
}
