package io.espalier.worker.process.kill;

import io.espalier.core.config.task.KillRequest;
import io.espalier.worker.process.os.Signals;

/**
 * Schedules the signals of a task (docs/design/bistro.md#killing): a wait of 0 or less is an
 * immediate KILL, the earliest KILL of several requests wins, and no TERM follows a KILL. Times are
 * of a monotonic clock.
 */
public final class KillPlan {
  /** Never: no signal is due. */
  public static final long NEVER = Long.MAX_VALUE;

  private boolean killed;
  private boolean waiting;
  private long killAt;

  /** Returns the signal to send now; 0: none. */
  public int request(KillRequest how, long nowNanos) {
    if (killed) {
      return 0;
    }
    return switch (how.method()) {
      case KILL -> kill();
      case TERM -> Signals.TERM;
      case TERM_WAIT_KILL -> {
        if (how.waitMillis() <= 0) {
          yield kill();
        }
        long at = nowNanos + how.waitMillis() * 1_000_000L;
        if (!waiting || at - killAt < 0) {
          waiting = true;
          killAt = at;
        }
        yield Signals.TERM;
      }
    };
  }

  /** Returns the signal that is due: 0 or KILL. */
  public int due(long nowNanos) {
    return waiting && nowNanos - killAt >= 0 ? kill() : 0;
  }

  /** Returns the nanoseconds until a signal is due, or {@link #NEVER}. */
  public long waitNanos(long nowNanos) {
    return waiting ? Math.max(0, killAt - nowNanos) : NEVER;
  }

  public boolean isKilled() {
    return killed;
  }

  private int kill() {
    killed = true;
    waiting = false;
    return Signals.KILL;
  }
}
