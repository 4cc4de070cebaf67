package io.espalier.core.loop.watch;

import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.topology.Topology;

/**
 * Looks for tasks on and below a node that run or may start again. Looks at a bounded number of
 * nodes. For one search.
 */
final class TasksLeft {
  private static final int MOST_NODES = 100_000;

  private final SchedulingCore core;
  private int budget = MOST_NODES;

  TasksLeft(SchedulingCore core) {
    this.core = core;
  }

  /**
   * Returns whether certainly no such task is left.
   *
   * @param job name of the job; empty: all jobs
   */
  boolean isNone(String job, int node) {
    if (!job.isEmpty()) {
      int number = core.findJob(job);
      return number >= 0 && isNone(number, node);
    }
    for (int number = 0; number < core.jobCount(); number++) {
      if (!isNone(number, node)) {
        return false;
      }
    }
    return true;
  }

  private boolean isNone(int job, int node) {
    Topology nodes = core.topology();
    if (--budget < 0) {
      return false;
    }
    if (node >= core.tasks().firstNode(job)) {
      return node >= core.tasks().endNode(job) || !core.tasks().isLeft(job, node);
    }
    for (int at = nodes.childStart(node); at < nodes.childEnd(node); at++) {
      if (!isNone(job, nodes.node(at))) {
        return false;
      }
    }
    return true;
  }
}
