package io.espalier.benchmark;

import com.sun.management.ThreadMXBean;
import io.espalier.core.scheduling.PlacementListener;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.core.scheduling.spi.SplitMix64;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.topology.PackedTopology;
import io.espalier.server.app.Plugins;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * P1, P2 and P10 in docs/benchmarks.md: the scheduling core alone, one thread, on Bistro's
 * benchmark shape. Beside the wall clock it counts the processor time of the thread, which other
 * load disturbs less. Prints Markdown; every figure is the median of the rounds, with the lowest
 * and the highest.
 */
public final class CoreBenchmark {
  private static final int ROUNDS = 5;
  private static final int STARTS = 2_000_000;
  private static final TaskStatus DONE = TaskStatus.of(TaskStatus.Main.DONE, 0, 1);
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private CoreBenchmark() {}

  /** What one round measured, per second of processor time and of the clock. */
  private record Figures(double perCpuSecond, double perSecond, double bytesPerStart) {}

  public static void main(String[] args) {
    SchedulingPolicy policy = Objects.requireNonNull(Plugins.load().policies().get("roundrobin"));
    System.out.println("P1: starts with their ends, steady state, tasks end in random order\n");
    header();
    for (int[] shape : new int[][] {{400, 10}, {12_000, 1}, {12_000, 10}, {120_000, 10}}) {
      Scraping scraping = Scraping.of(shape[0], shape[1]);
      row(scraping, round -> steady(scraping, policy, round));
    }
    System.out.println(
        "\nP2: Bistro's benchmark, tasks of no length, until half of them are done\n");
    header();
    for (int jobs : new int[] {1, 5}) {
      Scraping scraping = Scraping.of(12_000, jobs);
      row(scraping, round -> half(scraping, policy, round));
    }
    bruteForce();
    memory();
  }

  private interface Round {
    Figures measure(int round);
  }

  private static void header() {
    System.out.println("| leaves | jobs | per CPU second | per second | bytes per start |");
    System.out.println("|---|---|---|---|---|");
  }

  private static void row(Scraping scraping, Round round) {
    round.measure(0); // warms up
    List<Figures> all = new ArrayList<>();
    for (int i = 1; i <= ROUNDS; i++) {
      all.add(round.measure(i));
    }
    System.out.printf(
        Locale.ROOT,
        "| %,d | %d | %s | %s | %.2f |%n",
        scraping.leaves(),
        scraping.jobs(),
        spread(all.stream().map(Figures::perCpuSecond).toList()),
        spread(all.stream().map(Figures::perSecond).toList()),
        all.get(all.size() - 1).bytesPerStart());
  }

  private static String spread(List<Double> figures) {
    List<Double> sorted = new ArrayList<>(figures);
    Collections.sort(sorted);
    return String.format(
        Locale.ROOT,
        "%,.0f (%,.0f to %,.0f)",
        sorted.get(sorted.size() / 2),
        sorted.get(0),
        sorted.get(sorted.size() - 1));
  }

  private static Figures steady(Scraping scraping, SchedulingPolicy policy, int seed) {
    SchedulingCore core = new SchedulingCore(seed);
    core.apply(scraping.config(), scraping.topology(), 0);
    Running running = new Running(scraping);
    core.round(policy, Integer.MAX_VALUE, running);
    SplitMix64 random = new SplitMix64(seed);
    // Small batches, as a busy loop sees them; large ones would hide the cost of a round.
    int batch = Math.min(100, running.count);
    return timed(
        () -> {
          int started = 0;
          while (started < STARTS) {
            for (int i = 0; i < batch; i++) {
              core.finish(running.removeAt(random.below(running.count)), null);
            }
            int before = running.count;
            core.round(policy, Integer.MAX_VALUE, running);
            started += running.count - before;
          }
          return started;
        });
  }

  private static Figures half(Scraping scraping, SchedulingPolicy policy, int seed) {
    SchedulingCore core = new SchedulingCore(seed);
    core.apply(scraping.config(), scraping.topology(), 0);
    Running running = new Running(scraping);
    int wanted = scraping.leaves() * scraping.jobs() / 2;
    return timed(
        () -> {
          int done = 0;
          while (done < wanted) {
            core.round(policy, Integer.MAX_VALUE, running);
            while (running.count > 0) {
              core.finish(running.removeAt(running.count - 1), DONE);
              done++;
            }
          }
          return done;
        });
  }

  /** What Bistro's loop costs each time it looks, however little has happened since. */
  private static void bruteForce() {
    System.out.println("\nBistro's pass over everything, in Java: one pass that starts nothing\n");
    System.out.println("| leaves | jobs | CPU time of a pass | starts of ours in that time |");
    System.out.println("|---|---|---|---|");
    SchedulingPolicy policy = Objects.requireNonNull(Plugins.load().policies().get("roundrobin"));
    for (int jobs : new int[] {1, 5, 10}) {
      Scraping scraping = Scraping.of(12_000, jobs);
      BruteForce scheduler = new BruteForce(scraping.hosts(), jobs);
      scheduler.iterate();
      List<Double> millis = new ArrayList<>();
      for (int i = 0; i <= ROUNDS; i++) {
        long cpu = THREADS.getCurrentThreadCpuTime();
        if (scheduler.iterate() != 0) {
          throw new IllegalStateException("a full pass left something to start");
        }
        millis.add((THREADS.getCurrentThreadCpuTime() - cpu) / 1e6);
      }
      Collections.sort(millis);
      double median = millis.get(millis.size() / 2);
      double ours = steady(scraping, policy, jobs).perCpuSecond() * median / 1000;
      System.out.printf(
          Locale.ROOT, "| %,d | %d | %.0f ms | %,.0f |%n", scraping.leaves(), jobs, median, ours);
    }
  }

  private interface Work {
    int starts();
  }

  private static Figures timed(Work work) {
    long bytes = THREADS.getCurrentThreadAllocatedBytes();
    long cpu = THREADS.getCurrentThreadCpuTime();
    long wall = System.nanoTime();
    int starts = work.starts();
    long wallNanos = System.nanoTime() - wall;
    long cpuNanos = THREADS.getCurrentThreadCpuTime() - cpu;
    return new Figures(
        starts * 1e9 / cpuNanos,
        starts * 1e9 / wallNanos,
        (THREADS.getCurrentThreadAllocatedBytes() - bytes) / (double) starts);
  }

  private static void memory() {
    System.out.println("\nP10: memory by the sizes of the arrays\n");
    System.out.println(
        "| leaves | jobs | bytes per node beside its name | index and tasks in MB |");
    System.out.println("|---|---|---|---|");
    for (int[] shape :
        new int[][] {{400, 1}, {4_000, 1}, {40_000, 1}, {400_000, 1}, {40_000, 100}}) {
      Scraping scraping = Scraping.of(shape[0], shape[1]);
      SchedulingCore core = new SchedulingCore(1);
      core.apply(scraping.config(), scraping.topology(), 0);
      PackedTopology topology = (PackedTopology) scraping.topology();
      double perNode =
          (double) (topology.byteSize() - topology.nameBytes() + core.byteSize()) / topology.size();
      System.out.printf(
          Locale.ROOT,
          "| %,d | %d | %.1f | %.1f |%n",
          scraping.leaves(),
          scraping.jobs(),
          perNode,
          core.byteSize() / 1e6);
    }
  }

  /** The tasks that run, in no order. */
  private static final class Running implements PlacementListener {
    private final long[] runs;
    private int count;

    Running(Scraping scraping) {
      runs = new long[scraping.hosts() * Scraping.HOST_LIMIT];
    }

    @Override
    public void placed(long run) {
      runs[count++] = run;
    }

    long removeAt(int index) {
      long run = runs[index];
      runs[index] = runs[--count];
      return run;
    }
  }
}
