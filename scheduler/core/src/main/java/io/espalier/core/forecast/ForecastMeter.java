package io.espalier.core.forecast;

import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.forecast.Forecast.HotNode;
import io.espalier.core.forecast.Forecast.JobEnd;
import io.espalier.core.forecast.Forecast.Sample;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/**
 * Measures how a simulated scheduler uses its nodes. A task counts on the first path from its node
 * to the root.
 */
final class ForecastMeter {
  private static final int HOT_NODES = 5;

  private final SchedulingCore core;
  private final Topology nodes;
  private final List<Resource> resources;
  private final long from;

  /** By resource: its slots on all nodes. */
  private final double[] slots;

  /** By resource and node of its level: milliseconds of use times slots. */
  private final double[][] busy;

  private final int[] running;
  private final List<Sample> samples = new ArrayList<>();
  private long every = 1;
  private long due;

  ForecastMeter(SchedulingCore core, long nowMillis) {
    this.core = core;
    nodes = core.topology();
    resources = core.config().settings().resources().all();
    from = nowMillis;
    due = nowMillis;
    running = new int[core.jobCount()];
    slots = new double[resources.size()];
    busy = new double[resources.size()][];
    int below = nodes.levels().worker();
    for (Resource resource : resources) {
      int level = resource.level();
      boolean isOfNodes = level < below;
      busy[resource.index()] =
          new double[isOfNodes ? nodes.levelEnd(level) - nodes.levelStart(level) : 0];
      for (int node = isOfNodes ? nodes.levelStart(level) : 0;
          isOfNodes && node < nodes.levelEnd(level);
          node++) {
        slots[resource.index()] += core.capacity().limit(node, resource.index());
      }
    }
  }

  void started(int job) {
    running[job]++;
  }

  void ended(int job) {
    running[job]--;
  }

  /** Notes that a task takes slots from now on. */
  void occupied(int job, int leaf, long millis) {
    Job config = core.job(job);
    int node = leaf;
    while (node >= 0 && config != null) {
      int level = nodes.level(node);
      for (Resource resource : resources) {
        if (resource.level() == level) {
          int need = config.needs().get(resource.index());
          busy[resource.index()][node - nodes.levelStart(level)] += (double) need * millis;
        }
      }
      node = nodes.parent(nodes.slot(node, 0));
    }
  }

  /**
   * Takes a sample when one is due; the more time passes, the fewer are taken.
   *
   * @param left tasks that are not over, by job
   */
  void sample(long now, long[] left) {
    if (now >= due) {
      take(now, left);
    }
  }

  /** Takes the sample of the end. */
  void finish(long now, long[] left) {
    if (samples.isEmpty() || samples.get(samples.size() - 1).millis() < now - from) {
      take(now, left);
    }
  }

  private void take(long now, long[] left) {
    List<Double> parts = new ArrayList<>();
    for (Resource resource : resources) {
      double used = 0;
      for (int job = 0; job < running.length; job++) {
        Job config = core.job(job);
        if (config != null && resource.level() <= config.level()) {
          used += (double) running[job] * config.needs().get(resource.index());
        }
      }
      double all = slots[resource.index()];
      parts.add(all == 0 ? 0 : used / all);
    }
    long runs = Arrays.stream(running).asLongStream().sum();
    samples.add(new Sample(now - from, runs, Arrays.stream(left).sum(), parts));
    if (samples.size() == Forecast.SAMPLES) {
      every *= 2;
      for (int i = samples.size() - 1; i > 0; i -= 2) {
        samples.remove(i);
      }
    }
    // Twice as many as are kept fit the time that has passed.
    every = Math.max(every, (now - from) * 2 / Forecast.SAMPLES);
    due = now + every;
  }

  List<Sample> use() {
    return samples;
  }

  Map<String, JobEnd> jobs(
      long[] left, long[] starts, long[] lastEnd, ToLongFunction<String> windowsMissed) {
    Map<String, JobEnd> all = new TreeMap<>();
    for (int job = 0; job < left.length; job++) {
      String name = core.jobName(job);
      all.put(
          name, new JobEnd(lastEnd[job], left[job], starts[job], windowsMissed.applyAsLong(name)));
    }
    return all;
  }

  List<HotNode> hot(long now) {
    List<HotNode> hottest = new ArrayList<>();
    for (Resource resource : resources) {
      double[] used = busy[resource.index()];
      int first = used.length == 0 ? 0 : nodes.levelStart(resource.level());
      for (int i = 0; i < used.length; i++) {
        double all =
            (double) core.capacity().limit(first + i, resource.index()) * Math.max(1, now - from);
        double part = all <= 0 ? 0 : used[i] / all;
        if (part > 0 && (hottest.size() < HOT_NODES || part > last(hottest).part())) {
          hottest.add(
              new HotNode(
                  nodes.levels().name(resource.level()),
                  nodes.name(first + i),
                  resource.name(),
                  Math.min(1, part)));
          hottest.sort(Comparator.comparingDouble(HotNode::part).reversed());
          if (hottest.size() > HOT_NODES) {
            hottest.remove(HOT_NODES);
          }
        }
      }
    }
    return hottest;
  }

  private static HotNode last(List<HotNode> nodes) {
    return nodes.get(nodes.size() - 1);
  }
}
