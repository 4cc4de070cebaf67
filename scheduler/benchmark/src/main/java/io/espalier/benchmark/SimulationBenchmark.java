package io.espalier.benchmark;

import io.espalier.core.forecast.Forecast;
import io.espalier.core.forecast.SchedulerSnapshot;
import io.espalier.core.forecast.Simulation;
import io.espalier.core.forecast.WhatIf;
import io.espalier.core.loop.LoopInput;
import io.espalier.server.app.Plugins;
import io.espalier.server.replay.SnapshotFile;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * What a simulation costs the scheduler beside which it runs, under full load: one takes the
 * snapshot, writes, reads and simulates it on another thread of the same process, while the loop
 * ends and starts tasks as fast as it can. Then as many tasks end and start in a new loop without
 * it. Processor time of the scheduler thread, which other load disturbs less. Arguments: the number
 * of hosts with 25 leaves each (4000), ten jobs. Prints Markdown.
 */
public final class SimulationBenchmark {
  private static final int JOBS = 10;
  private static final int PAIRS = 5;
  private static final long WEEK = 7 * 86_400_000L;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private SimulationBenchmark() {}

  /** Ended tasks, and the processor time that they took. */
  private record Load(long ends, long cpuNanos, long nanos) {
    double microsPerEnd() {
      return cpuNanos / 1e3 / ends;
    }
  }

  public static void main(String[] args) {
    int hosts = args.length == 0 ? 4_000 : Integer.parseInt(args[0]);
    Scraping warm = Scraping.of(400, JOBS);
    Scraping scraping = Scraping.of(hosts, JOBS);
    for (int i = 0; i < 3; i++) {
      beside(warm);
    }
    System.out.println("| tasks ended | simulation | with it | without | costs |");
    System.out.println("|---|---|---|---|---|");
    double[] costs = new double[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
      Load with = beside(scraping);
      Load without = alone(scraping, with.ends());
      costs[i] = 100 * (with.microsPerEnd() / without.microsPerEnd() - 1);
      System.out.printf(
          Locale.ROOT,
          "| %,d | %.1f s | %.2f µs | %.2f µs | %.1f %% |%n",
          with.ends(),
          with.nanos() / 1e9,
          with.microsPerEnd(),
          without.microsPerEnd(),
          costs[i]);
    }
    Arrays.sort(costs);
    System.out.printf(Locale.ROOT, "median: %.1f %%%n", costs[PAIRS / 2]);
  }

  private static LoopUnderLoad world(Scraping scraping) {
    LoopUnderLoad world = new LoopUnderLoad(scraping);
    world.change(scraping.leaves() * JOBS / 20);
    System.gc();
    return world;
  }

  private static Load beside(Scraping scraping) {
    LoopUnderLoad world = world(scraping);
    CompletableFuture<SchedulerSnapshot> snapshot = new CompletableFuture<>();
    CompletableFuture<Forecast> forecast = snapshot.thenApplyAsync(SimulationBenchmark::simulated);
    long begin = THREADS.getCurrentThreadCpuTime();
    long clock = System.nanoTime();
    world.add(new LoopInput.TakeSnapshot(Long.MAX_VALUE, snapshot));
    long ends = 0;
    while (!forecast.isDone()) {
      world.change(100);
      ends += 100;
    }
    Load load =
        new Load(ends, THREADS.getCurrentThreadCpuTime() - begin, System.nanoTime() - clock);
    if (!forecast.join().isComplete()) {
      throw new IllegalStateException("the simulation has not come to an end");
    }
    return load;
  }

  private static Forecast simulated(SchedulerSnapshot taken) {
    Plugins plugins = Plugins.load();
    SchedulerSnapshot read = SnapshotFile.read(SnapshotFile.write(taken), plugins.configParser());
    return new Simulation(read, read.paces(), WhatIf.NOTHING, plugins.policies(), Map.of(), 1)
        .run(WEEK);
  }

  private static Load alone(Scraping scraping, long ends) {
    LoopUnderLoad world = world(scraping);
    long begin = THREADS.getCurrentThreadCpuTime();
    long clock = System.nanoTime();
    for (long i = 0; i < ends; i += 100) {
      world.change(100);
    }
    return new Load(ends, THREADS.getCurrentThreadCpuTime() - begin, System.nanoTime() - clock);
  }
}
