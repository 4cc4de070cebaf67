package io.espalier.testkit.cluster;

import io.espalier.testkit.cluster.SimulatedCluster.Outcome;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Many simulated lives from the command line: {@code --seeds N --from N [--threads N] [--bug NAME]}
 * prints each seed that fails and the count at the end; {@code --trace SEED} tells one life line by
 * line. Ends with 1 when a seed failed.
 */
public final class SimulationMain {
  private static final long EVERY = 5_000;

  private long seeds = 2_000;
  private long from = 1;
  private int threads = 1;
  private @Nullable Long traced;
  private @Nullable ProtocolBug bug;

  private SimulationMain() {}

  /** Runs them. */
  public static void main(String[] args) throws InterruptedException {
    SimulationMain main = new SimulationMain();
    for (int i = 0; i + 1 < args.length; i += 2) {
      main.set(args[i], args[i + 1]);
    }
    System.exit(main.run(System.out) ? 0 : 1);
  }

  private void set(String flag, String value) {
    switch (flag) {
      case "--seeds" -> seeds = Long.parseLong(value);
      case "--from" -> from = Long.parseLong(value);
      case "--threads" -> threads = Integer.parseInt(value);
      case "--trace" -> traced = Long.parseLong(value);
      case "--bug" -> bug = ProtocolBug.valueOf(value.toUpperCase(Locale.ROOT));
      default -> throw new IllegalArgumentException("unknown flag " + flag);
    }
  }

  private boolean run(PrintStream out) throws InterruptedException {
    if (traced != null) {
      Outcome outcome = SimulatedCluster.run(traced, bug, out::println);
      out.println(outcome);
      return outcome.violation() == null;
    }
    long began = System.nanoTime();
    Count all = new Count();
    List<Thread> running = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      int offset = t;
      Thread thread = new Thread(() -> lives(offset, all, out, began), "simulation-" + t);
      running.add(thread);
      thread.start();
    }
    for (Thread thread : running) {
      thread.join();
    }
    out.println(all.text(began));
    return all.failed == 0;
  }

  private void lives(int offset, Count all, PrintStream out, long began) {
    for (long seed = from + offset; seed < from + seeds; seed += threads) {
      Outcome outcome = SimulatedCluster.run(seed, bug, null);
      synchronized (all) {
        all.add(outcome);
        if (outcome.violation() != null) {
          out.println("seed " + seed + ": " + outcome.violation());
        }
        if (all.lives % EVERY == 0) {
          out.println(all.text(began));
        }
      }
    }
  }

  private static final class Count {
    private long lives;
    private long failed;
    private long steps;
    private long starts;
    private long simulatedMillis;

    void add(Outcome outcome) {
      lives++;
      failed += outcome.violation() == null ? 0 : 1;
      steps += outcome.steps();
      starts += outcome.starts();
      simulatedMillis += outcome.simulatedMillis();
    }

    String text(long began) {
      double seconds = (System.nanoTime() - began) / 1e9;
      return String.format(
          Locale.ROOT,
          "%d seeds, %d failed; %d steps, %d task starts, %d hours simulated; %.1f s, %.1f ms each",
          lives,
          failed,
          steps,
          starts,
          simulatedMillis / 3_600_000,
          seconds,
          seconds * 1000 / Math.max(1, lives));
    }
  }
}
