package io.espalier.core.scheduling.task;

import io.espalier.core.config.Job;
import io.espalier.core.config.RoleFilter;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.topology.Topology;

/**
 * Checks running tasks against the tree: whether a task is an orphan, and which role its path has.
 */
public final class OrphanCheck {
  private final Topology topology;
  private final JobTable jobs;
  private final RunPlacements places;

  public OrphanCheck(Topology topology, JobTable jobs, RunPlacements places) {
    this.topology = topology;
    this.jobs = jobs;
    this.places = places;
  }

  /**
   * Returns whether a running task is an orphan (docs/design/bistro.md#orphans).
   *
   * @param name the name of its node; used only when the node is gone
   */
  public boolean isOrphan(int run, String name) {
    Job job = places.job(run) < 0 ? null : jobs.job(places.job(run));
    if (job == null || !job.canRun()) {
      return true;
    }
    int node = places.node(run);
    if (node >= 0) {
      return !isEnabled(node);
    }
    // The node has no task of the job any more, but may still exist on another level.
    for (int level = 0; level <= topology.levels().bottom(); level++) {
      int other = topology.find(level, name);
      if (other >= 0 && isEnabled(other)) {
        return false;
      }
    }
    return true;
  }

  /** Returns whether the node has a path on which all edges are enabled. */
  private boolean isEnabled(int node) {
    if (topology.allEnabled()) {
      return true;
    }
    int slotCount = topology.slotCount(node);
    for (int i = 0; i < slotCount; i++) {
      int slot = topology.slot(node, i);
      if (topology.enabled(slot) && (slot == 0 || isEnabled(topology.parent(slot)))) {
        return true;
      }
    }
    return false;
  }

  /** Returns the role of the lowest edge with a role on the path of a running task; empty: none. */
  public String roleOf(int run) {
    if (!topology.hasRoles()) {
      return RoleFilter.NONE;
    }
    int node = -1;
    for (int l = topology.levels().count() - 1; l >= 0; l--) {
      int parent = places.node(run, l);
      if (parent >= 0 && node >= 0) {
        String role = roleUnder(node, parent);
        if (!role.isEmpty()) {
          return role;
        }
      }
      node = parent >= 0 ? parent : node;
    }
    return RoleFilter.NONE;
  }

  private String roleUnder(int node, int parent) {
    for (int i = 0; i < topology.slotCount(node); i++) {
      int slot = topology.slot(node, i);
      if (topology.parent(slot) == parent) {
        return topology.role(slot);
      }
    }
    return RoleFilter.NONE;
  }
}
