package io.espalier.benchmark;

import com.sun.management.ThreadMXBean;
import io.espalier.core.config.Config;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.core.scheduling.spi.SplitMix64;
import io.espalier.core.scheduling.update.UpdatePlan;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.TaskTransitions;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import io.espalier.core.topology.TopologyBuilder;
import io.espalier.server.app.Plugins;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.BooleanSupplier;

/**
 * How long the scheduler thread is blocked while a changed tree is brought into force
 * (docs/benchmarks.md#p8-new-nodes): every fiftieth host with its databases is replaced by a new
 * one, while tasks run, some tasks have failed and wait, and between any two slices others end and
 * start. Then that no status was lost.
 */
final class Refresh {
  /** As the loop does it. */
  private static final int UNITS_PER_SLICE = 20_000;

  private static final int ENDS_BETWEEN_SLICES = 20;
  private static final int CHANGED_OF = 50;

  private static final TaskStatus DONE = TaskStatus.of(Main.DONE, 0, 1);
  private static final TaskStatus FAILED = TaskStatus.waiting(0, 3_600, 1);

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final SchedulingPolicy policy =
      Objects.requireNonNull(Plugins.load().policies().get("roundrobin"));
  private final SchedulingCore core = new SchedulingCore(1);
  private final SplitMix64 random = new SplitMix64(1);
  private final long[] running;
  private int count;

  private Refresh(int mostRunning) {
    running = new long[2 * mostRunning]; // those on old hosts go on
  }

  static void run(int leaves, int jobs) {
    int hosts = leaves / Scraping.SHARDS_PER_HOST;
    Scraping scraping = Scraping.of(hosts, jobs);
    System.out.println(jobs + " jobs, hosts of 25 databases, two tasks at a time on a host\n");
    System.out.println(
        "| leaves | change | running | prepared in | slices | together | longest | by the clock |"
            + " swap | orphans | lost |");
    System.out.println("|---|---|---|---|---|---|---|---|---|---|---|");
    new Refresh(hosts * Scraping.HOST_LIMIT)
        .measure(scraping.config(), Scraping.config(jobs, 1), scraping.topology());
  }

  private void measure(Config config, Config withoutOne, Topology before) {
    core.apply(config, before, 0);
    fill();
    for (int i = 0; i < running.length / 8; i++) {
      core.finish(take(), FAILED);
    }
    fill();
    for (int i = 0; i < 20; i++) {
      events(200);
    }
    change("2 % of the hosts are new", config, changed(config, before));
    change("back again", config, before);
    change("one job is disabled", withoutOne, before);
  }

  /** Starts what can be started. */
  private void fill() {
    core.round(policy, Integer.MAX_VALUE, this::placed);
  }

  private void placed(long run) {
    running[count++] = run;
    core.setRunStatus(run, TaskTransitions.firstStart(0));
  }

  private long take() {
    int at = random.below(count);
    long run = running[at];
    running[at] = running[--count];
    return run;
  }

  private void events(int ends) {
    for (int i = 0; i < ends && count > 0; i++) {
      core.finish(take(), DONE);
    }
    core.round(policy, 256, this::placed);
  }

  private static Topology changed(Config config, Topology before) {
    TopologyBuilder builder = new TopologyBuilder(config.settings().levels(), "instance");
    for (int node = 1; node < before.size(); node++) {
      int parent = before.parent(node);
      builder.add(
          NodeSpec.child(
              before.level(node), name(before, node), parent == 0 ? null : name(before, parent)));
    }
    return Objects.requireNonNull(builder.build(config.settings().nodeOrder()).value());
  }

  private static String name(Topology topology, int node) {
    int host = topology.level(node) == 1 ? node : topology.parent(node);
    return topology.name(node) + (host % CHANGED_OF == 0 ? ".new" : "");
  }

  /** What slices took. */
  private static final class Slices {
    private int count;
    private long total;
    private long longest;
    private long longestByClock;
    private long last;

    boolean isDone(BooleanSupplier slice) {
      long clock = System.nanoTime();
      long cpu = THREADS.getCurrentThreadCpuTime();
      boolean done = slice.getAsBoolean();
      last = THREADS.getCurrentThreadCpuTime() - cpu;
      longestByClock = Math.max(longestByClock, System.nanoTime() - clock);
      longest = Math.max(longest, last);
      total += last;
      count++;
      return done;
    }
  }

  private void change(String what, Config config, Topology next) {
    Topology before = core.topology();
    List<long[]> statuses = statuses();
    long from = System.nanoTime();
    UpdatePlan change = core.prepare(config, next);
    long prepared = System.nanoTime() - from;
    Slices slices = new Slices();
    int runningBefore = core.running().count();
    core.begin(change);
    while (!slices.isDone(() -> core.step(UNITS_PER_SLICE) != null)) {
      events(ENDS_BETWEEN_SLICES);
    }
    long swap = slices.last;
    while (!slices.isDone(() -> core.stepOrphans(UNITS_PER_SLICE))) {
      events(ENDS_BETWEEN_SLICES);
    }
    System.out.printf(
        Locale.ROOT,
        "| %,d | %s | %,d | %,d ms | %,d | %,d ms | %.2f ms | %.2f ms | %.2f ms | %,d | %d |%n",
        before.levelEnd(2) - before.levelStart(2),
        what,
        runningBefore,
        prepared / 1_000_000,
        slices.count,
        slices.total / 1_000_000,
        slices.longest / 1e6,
        slices.longestByClock / 1e6,
        swap / 1e6,
        core.running().orphans().length,
        lost(before, statuses));
  }

  /** By job: a bit per node, whether its task has failed and waits. */
  private List<long[]> statuses() {
    List<long[]> all = new ArrayList<>();
    for (int job = 0; job < core.jobCount(); job++) {
      BitSet failed = new BitSet();
      for (int node = core.topology().levelStart(2); node < core.topology().levelEnd(2); node++) {
        if ((core.tasks().bits(job, node) & Main.ERROR.bit()) != 0) {
          failed.set(node);
        }
      }
      all.add(failed.toLongArray());
    }
    return all;
  }

  /**
   * How many of the failed tasks of nodes that are still there are not failed, or run with none.
   */
  private int lost(Topology before, List<long[]> statuses) {
    int lost = 0;
    for (int job = 0; job < statuses.size(); job++) {
      BitSet failed = BitSet.valueOf(statuses.get(job));
      for (int node = failed.nextSetBit(0); node >= 0; node = failed.nextSetBit(node + 1)) {
        int now = core.topology().find(2, before.name(node));
        lost += now >= 0 && !FAILED.equals(core.tasks().status(job, now)) ? 1 : 0;
      }
    }
    for (long run : core.running().all()) {
      lost += core.running().status(run) == null ? 1 : 0;
    }
    return lost + Math.abs(core.running().count() - count);
  }
}
