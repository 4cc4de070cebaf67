package io.espalier.worker.resources;

import io.espalier.core.running.Invocation;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.TaskListener;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Periodically samples what live tasks use, and notifies the listener
 * (docs/design/bistro.md#measuring).
 *
 * <p>The period is the target interval for each task. A round over all tasks is spread over it in
 * small slices. If there are so many tasks that this would take more than {@link #MAX_LOAD} of one
 * core, rounds take longer: thousands of tasks are sampled less often, never at more cost.
 *
 * <p>Threading: sampling has a thread of its own; nobody waits for it.
 */
public final class UsageSampler implements AutoCloseable {
  /** The default interval between samples of each task. */
  public static final Duration PERIOD = Duration.ofSeconds(2);

  /** The fraction of one core that sampling may use. */
  static final double MAX_LOAD = 0.005;

  private static final Logger log = LoggerFactory.getLogger(UsageSampler.class);

  private static final int SLICE = 16;
  private static final Duration GPU_PERIOD = Duration.ofSeconds(60);

  private final Supplier<? extends Collection<? extends SampledTask>> tasks;
  private final NvidiaSmi cards;
  private final TaskListener listener;
  private final long periodNanos;
  private final LongSupplier nanos;

  private final Map<Invocation, ResourceUsage> newest = new HashMap<>();
  private volatile boolean closed;
  private @Nullable Thread thread;
  private GpuTable gpus = GpuTable.EMPTY;
  private long gpusAt;
  private boolean gpusKnown;

  /**
   * Creates a sampler, not yet started.
   *
   * @param tasks supplies the tasks that are alive at that moment
   * @param listener receives {@link TaskListener#usage}, on the sampler's thread
   * @param period zero or less: nothing is sampled
   */
  public UsageSampler(
      Supplier<? extends Collection<? extends SampledTask>> tasks,
      NvidiaSmi cards,
      TaskListener listener,
      Duration period) {
    this(tasks, cards, listener, period, System::nanoTime);
  }

  UsageSampler(
      Supplier<? extends Collection<? extends SampledTask>> tasks,
      NvidiaSmi cards,
      TaskListener listener,
      Duration period,
      LongSupplier nanos) {
    this.tasks = tasks;
    this.cards = cards;
    this.listener = listener;
    this.periodNanos = period.toNanos();
    this.nanos = nanos;
  }

  /** Starts the sampler's thread; call it at most once. */
  public synchronized UsageSampler start() {
    if (thread == null && periodNanos > 0) {
      Thread fresh = new Thread(this::run, "task-usage");
      fresh.setDaemon(true);
      thread = fresh;
      fresh.start();
    }
    return this;
  }

  private void run() {
    try {
      while (!closed) {
        TimeUnit.NANOSECONDS.sleep(guardedRound());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private long guardedRound() throws InterruptedException {
    try {
      return round(tasks.get());
    } catch (RuntimeException | Error e) {
      // Neither a mistake nor a machine without threads must end the sampling.
      log.warn("cannot measure tasks", e);
      return periodNanos;
    }
  }

  /**
   * Samples each task once, with pauses between slices.
   *
   * @return how long to wait before the next round
   */
  private long round(Collection<? extends SampledTask> live) throws InterruptedException {
    long begin = nanos.getAsLong();
    List<SampledTask> all = new ArrayList<>(live);
    forgetAllBut(all);
    if (all.isEmpty()) {
      return periodNanos;
    }
    refreshGpus(begin);
    for (int from = 0; from < all.size() && !closed; from += SLICE) {
      long sliceBegin = nanos.getAsLong();
      List<SampledTask> slice = all.subList(from, Math.min(all.size(), from + SLICE));
      slice.forEach(this::sample);
      long rest = rest(nanos.getAsLong() - sliceBegin, slice.size(), all.size(), periodNanos);
      TimeUnit.NANOSECONDS.sleep(rest);
    }
    return Math.max(0, periodNanos - (nanos.getAsLong() - begin));
  }

  /** Returns the pause after a slice: its share of the period, or longer when it cost too much. */
  static long rest(long cost, int slice, int all, long period) {
    long share = (long) ((double) period * slice / all);
    return Math.max(0, Math.max(share - cost, (long) (cost * (1 / MAX_LOAD - 1))));
  }

  void sample(SampledTask task) {
    ResourceUsage usage;
    try {
      usage = withGpus(task);
    } catch (RuntimeException e) {
      log.warn("cannot measure {} on {}", task.job(), task.node(), e);
      return;
    }
    if (usage.cpuMillis() < 0 && usage.memoryBytes() < 0) {
      return;
    }
    ResourceUsage known = newest.merge(task.invocation(), usage, UsageSampler::later);
    listener.usage(task.job(), task.node(), task.invocation(), known);
  }

  void forgetAllBut(List<? extends SampledTask> live) {
    Set<Invocation> known = new HashSet<>();
    live.forEach(task -> known.add(task.invocation()));
    newest.keySet().retainAll(known);
  }

  private ResourceUsage withGpus(SampledTask task) {
    ResourceUsage usage = task.usage();
    if (gpus.busIds().isEmpty()) {
      return usage;
    }
    return new ResourceUsage(
        usage.cpuMillis(),
        usage.peakMemoryBytes(),
        usage.readBytes(),
        usage.writtenBytes(),
        usage.memoryBytes(),
        gpus.usedBy(task.pids()).stream().map(gpu -> gpu.name() + " " + gpu.busId()).toList());
  }

  /**
   * Combines two samples. Ended processes take their counters with them, but no reported amount may
   * decrease.
   */
  private static ResourceUsage later(ResourceUsage before, ResourceUsage now) {
    return new ResourceUsage(
        Math.max(before.cpuMillis(), now.cpuMillis()),
        Math.max(before.peakMemoryBytes(), now.peakMemoryBytes()),
        Math.max(before.readBytes(), now.readBytes()),
        Math.max(before.writtenBytes(), now.writtenBytes()),
        now.memoryBytes(),
        now.gpus());
  }

  void refreshGpus(long now) {
    if (!cards.isOn() || (gpusKnown && now - gpusAt < GPU_PERIOD.toNanos())) {
      return;
    }
    gpusAt = now;
    gpusKnown = true;
    try {
      gpus = cards.read();
    } catch (IOException e) {
      gpus = GpuTable.EMPTY;
      log.warn("who uses which graphics card is not known: {}", e.getMessage());
    }
  }

  /** Stops sampling. */
  @Override
  public synchronized void close() {
    closed = true;
    if (thread != null) {
      thread.interrupt();
    }
  }
}
