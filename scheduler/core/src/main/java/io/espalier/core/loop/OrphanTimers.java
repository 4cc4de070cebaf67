package io.espalier.core.loop;

import io.espalier.core.config.KillRequest;
import io.espalier.core.running.Invocation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Decides when orphans are killed (behaviour 5.8): at their first sighting plus the job's delay,
 * fixed for as long as the task stays an orphan. A task that survives is killed again after the
 * delay, then after twice that and so on, and with KILL from the third time on (L34).
 *
 * <p>Pure and single-threaded: told what is an orphan now, answers what to kill now.
 */
final class OrphanTimers {
  private static final int TIMES_BEFORE_KILL = 2;

  /** The longest pause between two signals to the same stubborn task. */
  private static final long LONGEST_PAUSE_MILLIS = 60_000;

  private final Map<Invocation, Timer> timers = new HashMap<>();

  /**
   * A running task that should not run.
   *
   * @param killAfter empty: never
   */
  record Orphan(
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
  record Kill(String job, String node, Invocation invocation, KillRequest how, int survived) {}

  private record Timer(long dueMillis, int signals) {}

  /**
   * @param orphans all of them; a task that is missing is forgotten
   */
  List<Kill> update(List<Orphan> orphans, long nowMillis) {
    Set<Invocation> seen = new HashSet<>();
    List<Kill> kills = new ArrayList<>();
    for (Orphan orphan : orphans) {
      if (orphan.killAfter().isEmpty()) {
        continue;
      }
      seen.add(orphan.invocation());
      long delay = orphan.killAfter().get().toMillis();
      Timer timer =
          timers.computeIfAbsent(orphan.invocation(), i -> new Timer(nowMillis + delay, 0));
      if (timer.dueMillis() <= nowMillis) {
        kills.add(
            new Kill(
                orphan.job(),
                orphan.node(),
                orphan.invocation(),
                timer.signals() < TIMES_BEFORE_KILL
                    ? orphan.kill()
                    : new KillRequest(KillRequest.Method.KILL, 0),
                timer.signals()));
        timers.put(
            orphan.invocation(),
            new Timer(nowMillis + pause(delay, timer.signals() + 1), timer.signals() + 1));
      }
    }
    timers.keySet().retainAll(seen);
    return kills;
  }

  /** Whether it is an orphan that has outlived a KILL that nothing outlives. */
  boolean isStubborn(Invocation invocation) {
    Timer timer = timers.get(invocation);
    return timer != null && timer.signals() > TIMES_BEFORE_KILL + 1;
  }

  /** How many signals it was sent. */
  int signals(Invocation invocation) {
    Timer timer = timers.get(invocation);
    return timer == null ? 0 : timer.signals();
  }

  /** When the next kill is due; {@link Long#MAX_VALUE} when none is. */
  long nextMillis() {
    return timers.values().stream().mapToLong(Timer::dueMillis).min().orElse(Long.MAX_VALUE);
  }

  private static long pause(long delayMillis, int signals) {
    long base = Math.max(1_000, delayMillis);
    return Math.max(base, Math.min(LONGEST_PAUSE_MILLIS, base << Math.min(signals - 1, 16)));
  }
}
