package io.espalier.benchmark;

import com.sun.management.ThreadMXBean;
import io.espalier.core.config.Config;
import io.espalier.core.scheduling.PlacementListener;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.core.scheduling.spi.SplitMix64;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.topology.Topology;
import io.espalier.json.JsonReader;
import io.espalier.server.app.Plugins;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * How cost and memory grow with the tree (P1 and P10 in docs/benchmarks.md). One thread; processor
 * time, which other load disturbs less than the clock, and the words of the index that are touched,
 * which nothing disturbs. Prints Markdown.
 *
 * <pre>
 * ScaleBenchmark curve [LEAVES]    cost per event from 10,000 leaves up to that many (10,000,000)
 * ScaleBenchmark flat              the same for a million and fewer children under one node
 * ScaleBenchmark heap LEAVES JOBS  used heap for a tree with generated names, and that it schedules
 * ScaleBenchmark refresh LEAVES    how long a change of the nodes blocks the scheduler thread (P8)
 * </pre>
 */
public final class ScaleBenchmark {
  private static final int ROUNDS = 5;
  private static final int PER_HOST = 25;
  private static final TaskStatus DONE = TaskStatus.of(TaskStatus.Main.DONE, 0, 1);
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final int WARM_UP_EVENTS = 200_000;
  private static final int EVENTS = 500_000;

  private ScaleBenchmark() {}

  /** Runs one of the benchmarks. */
  public static void main(String[] args) {
    String which = args.length == 0 ? "" : args[0];
    switch (which) {
      case "curve" -> curve(args.length > 1 ? Integer.parseInt(args[1]) : 10_000_000);
      case "flat" -> flat();
      case "heap" -> {
        if (args.length != 3) {
          usage();
        }
        heap(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
      }
      case "refresh" -> Refresh.run(args.length > 1 ? Integer.parseInt(args[1]) : 3_000_000, 10);
      default -> usage();
    }
  }

  private static void usage() {
    System.err.println(
        "usage: ScaleBenchmark curve [LEAVES] | flat | heap LEAVES JOBS | refresh [LEAVES]");
    System.exit(2);
  }

  /** What an event, a start with the end before it, costs. */
  private record Cost(double nanos, double words, double bytes) {}

  private static void curve(int most) {
    System.out.println("Cost per start with its end, 10 jobs, hosts of 25 databases\n");
    System.out.println(
        "| leaves | CPU time per event | median | words per event | bytes allocated |");
    System.out.println("|---|---|---|---|---|");
    for (long leaves = 10_000; leaves <= most; leaves *= 10) {
      int hosts = (int) (leaves / PER_HOST);
      for (int part : leaves == most ? new int[] {1} : new int[] {1, 3}) {
        Scraping scraping = Scraping.of(hosts * part, 10);
        row(
            scraping.leaves(),
            measure(scraping.config(), scraping.topology(), hosts * part * Scraping.HOST_LIMIT));
      }
    }
  }

  private static void flat() {
    System.out.println("Cost per start with its end, 10 jobs, all leaves under one node\n");
    System.out.println(
        "| children | CPU time per event | median | words per event | bytes allocated |");
    System.out.println("|---|---|---|---|---|");
    for (int children : new int[] {64, 1_000, 10_000, 100_000, 1_000_000}) {
      int atOnce = Math.max(8, children / 100);
      Config config =
          config(
              10,
              "\"host\": {\"slots\": {\"default\": 1, \"limit\": "
                  + atOnce
                  + "}}, \"db\": {\"lock\": {\"default\": 1, \"limit\": 1}}");
      row(
          children,
          measure(config, new GeneratedTree(config.settings().levels(), 1, children), atOnce));
    }
  }

  private static void row(int leaves, List<Cost> costs) {
    List<Double> nanos = new ArrayList<>(costs.stream().map(Cost::nanos).toList());
    Collections.sort(nanos);
    Cost last = costs.get(costs.size() - 1);
    System.out.printf(
        Locale.ROOT,
        "| %,d | %.0f to %.0f ns | %.0f ns | %.1f | %.2f |%n",
        leaves,
        nanos.get(0),
        nanos.get(nanos.size() - 1),
        nanos.get(nanos.size() / 2),
        last.words(),
        last.bytes());
  }

  private static List<Cost> measure(Config config, Topology topology, int mostRunning) {
    SchedulingPolicy policy = Objects.requireNonNull(Plugins.load().policies().get("roundrobin"));
    SchedulingCore core = new SchedulingCore(1);
    core.apply(config, topology, 0);
    Running running = new Running(mostRunning);
    SplitMix64 random = new SplitMix64(1);
    core.round(policy, Integer.MAX_VALUE, running);
    events(core, policy, running, random, WARM_UP_EVENTS);
    List<Cost> costs = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      costs.add(events(core, policy, running, random, EVENTS));
    }
    return costs;
  }

  /** Tasks end one by one, in random order; what fits is started again. They may run again. */
  private static Cost events(
      SchedulingCore core,
      SchedulingPolicy policy,
      Running running,
      SplitMix64 random,
      int events) {
    long bytes = THREADS.getCurrentThreadAllocatedBytes();
    long words = core.work();
    long cpu = THREADS.getCurrentThreadCpuTime();
    for (int i = 0; i < events; i++) {
      core.finish(running.removeAt(random.below(running.count)), null);
      core.round(policy, Integer.MAX_VALUE, running);
    }
    return new Cost(
        (double) (THREADS.getCurrentThreadCpuTime() - cpu) / events,
        (double) (core.work() - words) / events,
        (double) (THREADS.getCurrentThreadAllocatedBytes() - bytes) / events);
  }

  private static void heap(int leaves, int jobs) {
    SchedulingPolicy policy = Objects.requireNonNull(Plugins.load().policies().get("roundrobin"));
    Config config =
        config(
            jobs,
            "\"host\": {\"slots\": {\"default\": 1, \"limit\": 2}},"
                + " \"db\": {\"lock\": {\"default\": 1, \"limit\": 1}}");
    long before = usedHeap();
    GeneratedTree tree = new GeneratedTree(config.settings().levels(), leaves / PER_HOST, PER_HOST);
    long from = System.nanoTime();
    SchedulingCore core = new SchedulingCore(1);
    core.apply(config, tree, 0);
    double buildSeconds = (System.nanoTime() - from) / 1e9;
    long used = usedHeap() - before;
    Running running = new Running(WARM_UP_EVENTS);
    core.round(policy, WARM_UP_EVENTS, running);
    int started = running.count;
    while (running.count > 0) {
      core.finish(running.removeAt(running.count - 1), DONE);
    }
    System.out.printf(
        Locale.ROOT,
        "| %,d | %d | %,d MB | %.1f | %.2f | %,.1f s | %,d | %,d MB |%n",
        tree.size(),
        jobs,
        used >> 20,
        (double) used / tree.size(),
        (double) used / ((double) tree.size() * jobs),
        buildSeconds,
        started,
        Runtime.getRuntime().maxMemory() >> 20);
    System.err.println(
        "columns: nodes, jobs, heap used by the core, bytes per node, bytes per task, time to"
            + " build, tasks started and ended then, heap allowed");
    if (core.running().count() != 0) {
      throw new IllegalStateException("tasks are left");
    }
  }

  private static long usedHeap() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private static Config config(int jobs, String resources) {
    StringBuilder text =
        new StringBuilder("{\"bistro_settings\": {\"nodes\": {\"levels\": [\"host\", \"db\"]},")
            .append("\"resources\": {")
            .append(resources)
            .append("}}");
    for (int job = 0; job < jobs; job++) {
      text.append(", \"bistro_job->job").append(1_000 + job).append("\": {\"owner\": \"b\"}");
    }
    return Objects.requireNonNull(
        Plugins.load()
            .configParser()
            .parse(
                Objects.requireNonNull(
                    JsonReader.config().read(text.append('}').toString()).value()))
            .value());
  }

  /** The tasks that run, in no order. */
  private static final class Running implements PlacementListener {
    private final long[] runs;
    private int count;

    Running(int most) {
      runs = new long[most];
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
