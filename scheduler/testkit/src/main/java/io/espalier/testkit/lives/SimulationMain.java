package io.espalier.testkit.lives;

import io.espalier.testkit.cluster.ProtocolBug;
import io.espalier.testkit.cluster.SimulatedCluster;
import io.espalier.testkit.cluster.SimulatedCluster.Outcome;
import io.espalier.testkit.cluster.SimulationEvent;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Runs many simulated lives from the command line. {@code [--seeds N | --minutes N] [--from N]
 * [--threads N] [--bug NAME]} prints each failing seed with its last events, and at the end the
 * counts and how often each event happened; {@code --trace SEED [--bug NAME]} prints one life line
 * by line. With {@code --results FILE} a run begins where the last one with the same code ended,
 * and appends itself to the file. The exit code is 1 when a seed failed, or when some event never
 * happened.
 */
public final class SimulationMain {
  private static final long EVERY = 5_000;

  /** The number of lives among which every event must have happened. */
  private static final long ENOUGH = 2_000;

  private static final int MOST_TOLD = 5;

  private long seeds = ENOUGH;
  private long minutes;
  private long from = 1;
  private int threads = 1;
  private @Nullable Long traced;
  private @Nullable ProtocolBug bug;
  private @Nullable Path results;
  private int told;

  private SimulationMain() {}

  /** Runs the lives. */
  public static void main(String[] args) throws InterruptedException, IOException {
    SimulationMain main = new SimulationMain();
    for (int i = 0; i < args.length; i += 2) {
      if (i + 1 == args.length) {
        throw new IllegalArgumentException("no value for " + args[i]);
      }
      main.set(args[i], args[i + 1]);
    }
    System.exit(main.run(System.out) ? 0 : 1);
  }

  private void set(String flag, String value) {
    switch (flag) {
      case "--seeds" -> seeds = Long.parseLong(value);
      case "--minutes" -> minutes = Long.parseLong(value);
      case "--from" -> from = Long.parseLong(value);
      case "--threads" -> threads = Integer.parseInt(value);
      case "--results" -> results = Path.of(value);
      case "--trace" -> traced = Long.parseLong(value);
      case "--bug" -> bug = ProtocolBug.valueOf(value.toUpperCase(Locale.ROOT));
      default -> throw new IllegalArgumentException("unknown flag " + flag);
    }
  }

  private boolean run(PrintStream out) throws InterruptedException, IOException {
    if (traced != null) {
      Outcome outcome = SimulatedCluster.run(traced, bug, out::println);
      return outcome.violation() == null;
    }
    LivesFile lives = results == null ? null : LivesFile.of(results);
    if (lives != null) {
      from = lives.next();
    }
    long end = System.nanoTime() + minutes * 60_000_000_000L;
    LongPredicate goesOn =
        minutes > 0 ? seed -> System.nanoTime() < end : seed -> seed < from + seeds;
    SimulatedLives all = SimulatedLives.run(from, goesOn, threads, bug, so -> watch(so, out));
    out.println(all.summary());
    if (lives != null) {
      lives.add(from, all.lives(), all.failures().size());
      out.println(lives.total());
    }
    all.broken().forEach((which, times) -> out.println(times + " x " + which));
    all.coverage().lines().forEach(out::println);
    List<SimulationEvent> never =
        all.lives() < ENOUGH || bug != null ? List.of() : all.coverage().never();
    never.forEach(what -> out.println("NEVER HAPPENED: " + what));
    return all.failures().isEmpty() && never.isEmpty();
  }

  private void watch(SimulatedLives all, PrintStream out) {
    List<Outcome> failures = all.failures();
    for (; told < failures.size() && told < MOST_TOLD; told++) {
      out.println(SimulatedLives.told(failures.get(told), bug));
    }
    if (all.lives() % EVERY == 0) {
      out.println(all.summary());
    }
  }
}
