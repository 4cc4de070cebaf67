package io.espalier.core.loop.rollout;

import io.espalier.core.config.rollout.RolloutSpec;
import io.espalier.core.config.rollout.RolloutStage;
import io.espalier.core.rollout.RolloutOrder;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.List;

/** Determines the stages of a job, for the tasks that have not ended; in slices. */
final class RolloutDraw {
  private static final int TASKS_PER_SLICE = 10_000;

  private final SchedulingCore core;
  private final String job;
  private final RolloutSpec spec;
  private final long stateNumber;
  private final RolloutOrder order = new RolloutOrder();
  private int next;

  RolloutDraw(SchedulingCore core, String job, RolloutSpec spec) {
    this.core = core;
    this.job = job;
    this.spec = spec;
    stateNumber = core.stateNumber();
    next = core.tasks().firstNode(core.findJob(job));
  }

  String job() {
    return job;
  }

  RolloutSpec spec() {
    return spec;
  }

  /** Returns whether this draw is of a job as it is now. */
  boolean isOf(String name, RolloutSpec stages, SchedulingCore now) {
    return job.equals(name) && spec.equals(stages) && stateNumber == now.stateNumber();
  }

  /** Runs a slice; returns whether all tasks were seen. */
  boolean step() {
    Topology nodes = core.topology();
    int number = core.findJob(job);
    int end = Math.min(core.tasks().endNode(number), next + TASKS_PER_SLICE);
    int level = core.config().jobs().containsKey(job) ? nodes.level(next < end ? next : 0) : 0;
    int above = spec.spread().orElse(level - 1);
    for (; next < end; next++) {
      if (core.tasks().isLeft(number, next)) {
        order.add(RolloutOrder.hash(job, nodes.name(next)), parent(nodes, next, above));
      }
    }
    return next == core.tasks().endNode(number);
  }

  /** Returns the number of the node above on a level, counted from the first one of the level. */
  private static int parent(Topology nodes, int node, int level) {
    int at = node;
    while (at >= 0 && nodes.level(at) > level) {
      at = nodes.parent(nodes.slot(at, 0));
    }
    return at < 0 || nodes.level(at) != level ? -1 : at - nodes.levelStart(level);
  }

  /** Returns the number of tasks that have not ended. */
  int total() {
    return order.size();
  }

  /** Returns how many tasks each stage and those before it have. */
  List<Long> sizes() {
    List<Long> sizes = new ArrayList<>();
    long before = 0;
    for (RolloutStage stage : spec.stages()) {
      before = Math.max(before, stage.of(order.size()));
      sizes.add(before);
    }
    return sizes;
  }

  /** Returns the hashes of the tasks of all stages but the last, in their order. */
  long[] members() {
    List<Long> sizes = sizes();
    return sizes.size() == 1 ? new long[0] : order.first(sizes.get(sizes.size() - 2).intValue());
  }
}
