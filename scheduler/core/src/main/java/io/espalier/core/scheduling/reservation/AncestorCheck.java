package io.espalier.core.scheduling.reservation;

import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.topology.Topology;

/**
 * Checks the obstacles other than free slots between a node and the root: whether a task of a job
 * that fits on the node could start. It is used when a wait begins or a node is to be reserved, not
 * when tasks start. A check costs the edges above the node.
 */
final class AncestorCheck {
  private final ReservationContext context;
  private final Topology topology;
  private final JobTable jobs;

  AncestorCheck(ReservationContext context) {
    this.context = context;
    topology = context.topology();
    jobs = context.jobs();
  }

  /**
   * Returns whether filters and enabled flags allow a path, regardless of conditions that change
   * frequently.
   */
  boolean isAllowed(int node, int job) {
    return find(node, topology.level(node), job, false, false);
  }

  /**
   * Returns whether, in addition, no gate closes the path and all limits on it are at least as high
   * as the needs.
   */
  boolean isReachable(int node, int level, int job) {
    return find(node, level, job, true, false);
  }

  /** Returns whether, in addition, only free slots keep the job's tasks there from starting. */
  boolean mayStart(int node, int level, int job) {
    long bit = 1L << job;
    int word = job >>> 6;
    if ((jobs.active(word) & context.caps().open(word) & context.queues().open(word) & bit) == 0) {
      return false;
    }
    return find(node, level, job, true, true);
  }

  private boolean find(int node, int level, int job, boolean limits, boolean workers) {
    if (limits && (context.isClosed(node, job) || !isWithinLimits(node, level, job))) {
      return false;
    }
    int placing = context.workers().placementLevel(job);
    if (workers && placing == level && !context.workers().isThere(job, topology.name(node))) {
      return false;
    }
    int slotCount = topology.slotCount(node);
    for (int i = 0; i < slotCount; i++) {
      int slot = topology.slot(node, i);
      if (context.index().isAllowed(slot, job) && topology.enabled(slot)) {
        if (slot == 0) {
          return !workers
              || placing >= 0
              || context.workers().isThere(job, context.workers().pinnedTo(job));
        }
        int parent = topology.parent(slot);
        if (find(parent, context.index().level(parent), job, limits, workers)) {
          return true;
        }
      }
    }
    return false;
  }

  private boolean isWithinLimits(int node, int level, int job) {
    for (int r : context.ledger().resources(level)) {
      int need = jobs.needs[job][r];
      if (need > 0 && need > context.ledger().limit(node, r)) {
        return false;
      }
    }
    return true;
  }
}
