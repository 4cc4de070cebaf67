package io.espalier.worker.process;

import io.espalier.core.config.KillRequest;

/**
 * Which signals a task gets when (docs/design/bistro.md#killing): a wait of 0 or less is a KILL at
 * once, of several requests the earliest KILL wins, and after a KILL there are no more TERMs. Times
 * are of a monotonic clock.
 */
final class KillPlan {
  static final int TERM = 15;
  static final int KILL = 9;

  /** No time. */
  static final long NEVER = Long.MAX_VALUE;

  private boolean killed;
  private boolean waiting;
  private long killAt;

  /** What to send now: 0 for nothing, else a signal. */
  int request(KillRequest how, long nowNanos) {
    if (killed) {
      return 0;
    }
    return switch (how.method()) {
      case KILL -> kill();
      case TERM -> TERM;
      case TERM_WAIT_KILL -> {
        if (how.waitMillis() <= 0) {
          yield kill();
        }
        long at = nowNanos + how.waitMillis() * 1_000_000L;
        if (!waiting || at - killAt < 0) {
          waiting = true;
          killAt = at;
        }
        yield TERM;
      }
    };
  }

  /** The signal that is due: 0 or KILL. */
  int due(long nowNanos) {
    return waiting && nowNanos - killAt >= 0 ? kill() : 0;
  }

  /** Nanoseconds until something is due, or {@link #NEVER}. */
  long waitNanos(long nowNanos) {
    return waiting ? Math.max(0, killAt - nowNanos) : NEVER;
  }

  boolean isKilled() {
    return killed;
  }

  private int kill() {
    killed = true;
    waiting = false;
    return KILL;
  }
}
