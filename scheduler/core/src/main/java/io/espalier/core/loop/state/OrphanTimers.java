package io.espalier.core.loop.state;

import io.espalier.core.config.KillRequest;
import io.espalier.core.running.Invocation;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Decides when orphans are killed (docs/design/bistro.md#orphans): at their first sighting plus the
 * job's delay, fixed for as long as the task stays an orphan. A task that survives is killed again
 * after the delay, then after twice that and so on, and with KILL from the third time on.
 *
 * <p>Pure and single-threaded: told what is an orphan now, answers what to kill now. A look may
 * take several steps.
 */
public final class OrphanTimers {
  private static final int TIMES_BEFORE_KILL = 2;

  /** The longest pause between two signals to the same stubborn task. */
  private static final long LONGEST_PAUSE_MILLIS = 60_000;

  private Map<Invocation, Timer> timers = new HashMap<>();

  /** Of the orphans that the look under way has seen. */
  private Map<Invocation, Timer> seen = new HashMap<>();

  private long next = Long.MAX_VALUE;
  private long nextSeen = Long.MAX_VALUE;

  /**
   * A running task that should not run.
   *
   * @param killAfter empty: never
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
   * @param survived how many it has survived
   */
  public record Kill(
      String job, String node, Invocation invocation, KillRequest how, int survived) {}

  private record Timer(long dueMillis, int signals) {}

  /** Begins a look at all orphans, {@link #look} must follow for each, then {@link #end}. */
  public void begin() {
    seen = new HashMap<>();
    nextSeen = Long.MAX_VALUE;
  }

  /**
   * Looks at one orphan.
   *
   * @return the signal to send now; null: none
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

  /** Ends a look: tasks that it has not seen are no orphans any more, and forgotten. */
  public void end() {
    timers = seen;
    seen = new HashMap<>();
    next = nextSeen;
  }

  /** Ends a look that is not complete: nothing is forgotten. */
  public void giveUp() {
    timers.putAll(seen);
    next = Math.min(next, nextSeen);
    seen = new HashMap<>();
  }

  /** Whether one that was seen has outlived a KILL that nothing outlives. */
  public boolean isStubborn(Invocation invocation) {
    return signals(invocation) > TIMES_BEFORE_KILL + 1;
  }

  /** How many signals it was sent. */
  public int signals(Invocation invocation) {
    Timer timer = seen.getOrDefault(invocation, timers.get(invocation));
    return timer == null ? 0 : timer.signals();
  }

  /** When the next kill is due, as of the last look; {@link Long#MAX_VALUE} when none is. */
  public long nextMillis() {
    return next;
  }

  private static long pause(long delayMillis, int signals) {
    long base = Math.max(1_000, delayMillis);
    return Math.max(base, Math.min(LONGEST_PAUSE_MILLIS, base << Math.min(signals - 1, 16)));
  }
}
