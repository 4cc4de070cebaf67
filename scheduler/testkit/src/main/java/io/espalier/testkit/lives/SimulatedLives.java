package io.espalier.testkit.lives;

import io.espalier.testkit.cluster.Coverage;
import io.espalier.testkit.cluster.Invariant;
import io.espalier.testkit.cluster.ProtocolBug;
import io.espalier.testkit.cluster.SimulatedCluster;
import io.espalier.testkit.cluster.SimulatedCluster.Outcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/** Runs many simulated lives on several threads and collects their outcomes. */
public final class SimulatedLives {
  private static final int LAST_LINES = 60;

  private final List<Outcome> failures = new ArrayList<>();
  private final Map<Invariant, Integer> broken = new EnumMap<>(Invariant.class);
  private final Coverage coverage = new Coverage();
  private final long began = System.nanoTime();
  private long lives;
  private long steps;
  private long starts;
  private long simulatedMillis;

  private SimulatedLives() {}

  /**
   * Simulates the lives from seed {@code from} on.
   *
   * @param goesOn receives the seed before each life; false ends the run
   * @param bug bug injected into each of them; null: none
   * @param watcher called after each life, one call at a time
   */
  public static SimulatedLives run(
      long from,
      LongPredicate goesOn,
      int threads,
      @Nullable ProtocolBug bug,
      Consumer<SimulatedLives> watcher)
      throws InterruptedException {
    SimulatedLives all = new SimulatedLives();
    AtomicLong next = new AtomicLong(from);
    List<Thread> running = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Thread thread =
          new Thread(
              () -> {
                for (long seed = next.getAndIncrement();
                    goesOn.test(seed);
                    seed = next.getAndIncrement()) {
                  all.add(SimulatedCluster.run(seed, bug, null), watcher);
                }
              },
              "simulation-" + i);
      running.add(thread);
      thread.start();
    }
    for (Thread thread : running) {
      thread.join();
    }
    return all;
  }

  private synchronized void add(Outcome outcome, Consumer<SimulatedLives> watcher) {
    lives++;
    steps += outcome.steps();
    starts += outcome.starts();
    simulatedMillis += outcome.simulatedMillis();
    coverage.add(outcome.coverage());
    Invariant which = outcome.broken();
    if (which != null) {
      failures.add(outcome);
      broken.merge(which, 1, Integer::sum);
    }
    watcher.accept(this);
  }

  /** Returns the number of lives. */
  public synchronized long lives() {
    return lives;
  }

  /** Returns the number of task processes started in all of them. */
  public synchronized long starts() {
    return starts;
  }

  /** Returns the lives in which an invariant was broken. */
  public synchronized List<Outcome> failures() {
    return List.copyOf(failures);
  }

  /** Returns, by invariant, the number of lives in which it was the first to break. */
  public synchronized Map<Invariant, Integer> broken() {
    return new EnumMap<>(broken);
  }

  /** Returns what has happened in all lives; call it only when none is running. */
  public Coverage coverage() {
    return coverage;
  }

  /** Returns a summary in one line. */
  public synchronized String summary() {
    double seconds = (System.nanoTime() - began) / 1e9;
    return String.format(
        Locale.ROOT,
        "%,d seeds, %,d failed; %,d steps, %,d task starts, %,d hours simulated;"
            + " %.1f s, %.1f ms each",
        lives,
        failures.size(),
        steps,
        starts,
        simulatedMillis / 3_600_000,
        seconds,
        seconds * 1000 / Math.max(1, lives));
  }

  /** Describes a failure: the seed, the broken invariant, and its last events. */
  public static String told(Outcome failure, @Nullable ProtocolBug bug) {
    ArrayDeque<String> last = new ArrayDeque<>();
    Outcome again =
        SimulatedCluster.run(
            failure.seed(),
            bug,
            line -> {
              if (last.size() == LAST_LINES) {
                last.remove();
              }
              last.add(line);
            });
    StringBuilder text = new StringBuilder();
    text.append("seed ").append(failure.seed()).append(" breaks ").append(failure.broken());
    text.append(": ").append(failure.violation()).append('\n');
    last.forEach(line -> text.append("  ").append(line).append('\n'));
    boolean same =
        again.steps() == failure.steps()
            && String.valueOf(again.violation()).equals(failure.violation());
    text.append(same ? "replayed exactly" : "NOT REPLAYED: " + again.violation());
    return text.append("; all of it: SimulationMain --trace ").append(failure.seed()).toString();
  }
}
