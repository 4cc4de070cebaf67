package io.espalier.core.loop.state;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.running.Invocation;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Decides when orphans are killed (docs/design/bistro.md#orphans): when the job's delay has passed
 * since their first sighting. That time is fixed as long as the task stays an orphan. A task that
 * survives is killed again after the delay, then after twice the delay and so on, and with KILL
 * from the third time on.
 *
 * <p>Pure and single-threaded: it receives the current orphans and returns what to kill now. A
 * check may take several steps.
 */
public final class OrphanTimers {
  private static final int TIMES_BEFORE_KILL = 2;

  /** The longest pause between two signals to the same task. */
  private static final long LONGEST_PAUSE_MILLIS = 60_000;

  private Map<Invocation, Timer> timers = new HashMap<>();

  /** The timers of the orphans seen in the current check. */
  private Map<Invocation, Timer> seen = new HashMap<>();

  private long next = Long.MAX_VALUE;
  private long nextSeen = Long.MAX_VALUE;

  /**
   * A running task that should not run.
   *
   * @param killAfter delay; empty: never
   */
  public record Orphan(
      String job,
      String node,
      Invocation invocation,
      Optional<Duration> killAfter,
      KillRequest kill) {}

  /**
   * A signal to send.
   *
   * @param survived number of signals that the task has survived
   */
  public record Kill(
      String job, String node, Invocation invocation, KillRequest how, int survived) {}

  private record Timer(long dueMillis, int signals) {}

  /** Begins a check of all orphans. {@link #look} must follow for each, then {@link #end}. */
  public void begin() {
    seen = new HashMap<>();
    nextSeen = Long.MAX_VALUE;
  }

  /**
   * Checks one orphan.
   *
   * @return the signal to send now; null when there is none
   */
  public @Nullable Kill look(Orphan orphan, long nowMillis) {
    if (orphan.killAfter().isEmpty()) {
      return null;
    }
    long delay = orphan.killAfter().get().toMillis();
    Timer timer = timers.getOrDefault(orphan.invocation(), new Timer(nowMillis + delay, 0));
    Kill kill = null;
    if (timer.dueMillis() <= nowMillis) {
      kill =
          new Kill(
              orphan.job(),
              orphan.node(),
              orphan.invocation(),
              timer.signals() < TIMES_BEFORE_KILL
                  ? orphan.kill()
                  : new KillRequest(KillRequest.Method.KILL, 0),
              timer.signals());
      timer = new Timer(nowMillis + pause(delay, timer.signals() + 1), timer.signals() + 1);
    }
    seen.put(orphan.invocation(), timer);
    nextSeen = Math.min(nextSeen, timer.dueMillis());
    return kill;
  }

  /** Ends a check: tasks that it has not seen are no longer orphans, and are forgotten. */
  public void end() {
    timers = seen;
    seen = new HashMap<>();
    next = nextSeen;
  }

  /** Ends an incomplete check: nothing is forgotten. */
  public void giveUp() {
    timers.putAll(seen);
    next = Math.min(next, nextSeen);
    seen = new HashMap<>();
  }

  /** Returns true when a known orphan survived a KILL that no task can survive. */
  public boolean isStubborn(Invocation invocation) {
    return signals(invocation) > TIMES_BEFORE_KILL + 1;
  }

  /** The number of signals sent to it. */
  public int signals(Invocation invocation) {
    Timer timer = seen.getOrDefault(invocation, timers.get(invocation));
    return timer == null ? 0 : timer.signals();
  }

  /** When the next kill is due, as of the last check; {@link Long#MAX_VALUE} when none is. */
  public long nextMillis() {
    return next;
  }

  private static long pause(long delayMillis, int signals) {
    long base = Math.max(1_000, delayMillis);
    return Math.max(base, Math.min(LONGEST_PAUSE_MILLIS, base << Math.min(signals - 1, 16)));
  }
}
