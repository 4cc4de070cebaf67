package io.espalier.benchmark;

import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Histogram;
import io.espalier.core.config.task.Backoff;
import io.espalier.core.scheduling.PlacementListener;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.spi.SplitMix64;
import io.espalier.core.status.ParsedStatus;
import io.espalier.core.status.TaskEvent;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskTransitions;
import io.espalier.server.app.Plugins;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The operations of the scheduling core that happen per task, one at a time, with all slots in use;
 * with {@code -prof gc} also what each allocates.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
    value = 1,
    jvmArgsAppend = {"-Xmx3g", "-XX:+UseSerialGC"})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class CoreOperations {
  private static final TaskEvent STARTED = new TaskEvent.Started();
  private static final TaskEvent DONE = new TaskEvent.Ended(ParsedStatus.DONE);

  /** Of all hosts together, 25 on each. */
  @Param({"10000", "300000", "3000000"})
  int leaves;

  @Param("10")
  int jobs;

  private @Nullable World world;

  /** What the operations work on. */
  private static final class World implements PlacementListener {
    final SchedulingPolicy policy =
        Objects.requireNonNull(Plugins.load().policies().get("roundrobin"));
    final SchedulingCore core = new SchedulingCore(1);
    final SplitMix64 random = new SplitMix64(1);
    final Backoff backoff = Backoff.DEFAULT;
    final long[] runs;
    int count;
    String lastNode = "";

    World(Scraping scraping) {
      runs = new long[scraping.hosts() * Scraping.HOST_LIMIT];
      core.apply(scraping.config(), scraping.topology(), 0);
      core.round(policy, Integer.MAX_VALUE, this);
      lastNode = core.topology().name(core.topology().size() - 1);
    }

    @Override
    public void placed(long run) {
      runs[count++] = run;
    }

    long take() {
      int at = random.below(count);
      long run = runs[at];
      runs[at] = runs[--count];
      return run;
    }
  }

  /** Builds the tree and takes every slot. */
  @Setup
  public void fill() {
    world = new World(Scraping.of(leaves / Scraping.SHARDS_PER_HOST, jobs));
  }

  private World world() {
    return Objects.requireNonNull(world);
  }

  /** A task ends; a round starts the one that fits instead. */
  @Benchmark
  public boolean endAndStart() {
    World w = world();
    w.core.finish(w.take(), null);
    return w.core.round(w.policy, 256, w);
  }

  /** The same with the statuses that the loop gives: running, then done; it may run again. */
  @Benchmark
  public boolean endAndStartWithStatuses() {
    World w = world();
    long run = w.take();
    int job = w.core.running().job(run);
    int node = w.core.running().node(run);
    TaskStatus running = TaskTransitions.firstStart(1_000);
    w.core.setStatus(job, node, running);
    w.core.finish(run, TaskTransitions.apply(running, DONE, w.backoff, 2_000).status());
    boolean complete = w.core.round(w.policy, 256, w);
    w.core.setStatus(job, node, null);
    return complete;
  }

  /** The table of transitions alone: a start and an end. */
  @Benchmark
  public @Nullable TaskStatus transitions() {
    TaskStatus running = TaskTransitions.apply(null, STARTED, Backoff.DEFAULT, 1_000).status();
    return TaskTransitions.apply(running, DONE, Backoff.DEFAULT, 2_000).status();
  }

  /** A round that finds nothing to start. */
  @Benchmark
  public boolean roundThatStartsNothing() {
    World w = world();
    return w.core.round(w.policy, 256, w);
  }

  /** A job is paused and resumed. */
  @Benchmark
  public void pauseAndResume() {
    SchedulingCore core = world().core;
    core.gates().close(Gate.of(GateKind.PAUSE, "job100", ""));
    core.gates().open(GateKind.PAUSE, "job100");
  }

  /** Why a task does not run. */
  @Benchmark
  public Explanation explain() {
    World w = world();
    return w.core.tasks().explain("job100", w.lastNode);
  }

  /** Counts per level of a job, after a task has ended and another has started. */
  @Benchmark
  public Histogram histogram() {
    endAndStart();
    return world().core.tasks().histogram(0, 5);
  }
}
