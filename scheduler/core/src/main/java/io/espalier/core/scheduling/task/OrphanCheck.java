package io.espalier.core.scheduling.task;

import io.espalier.core.config.Job;
import io.espalier.core.config.RoleFilter;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.topology.Topology;
import org.jspecify.annotations.Nullable;

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
    int job = places.job(run);
    return isOrphan(topology, job < 0 ? null : jobs.job(job), places.node(run), name);
  }

  /**
   * Returns whether a task that runs now would be an orphan among these nodes.
   *
   * @param job null: there is none
   * @param node on the level of the job; -1: it has no such node
   */
  public static boolean isOrphan(Topology topology, @Nullable Job job, int node, String name) {
    if (job == null || !job.canRun()) {
      return true;
    }
    if (node >= 0) {
      return !isEnabled(topology, node);
    }
    // The node has no task of the job any more, but may still exist on another level.
    for (int level = 0; level <= topology.levels().bottom(); level++) {
      int other = topology.find(level, name);
      if (other >= 0 && isEnabled(topology, other)) {
        return false;
      }
    }
    return true;
  }

  /** Returns whether the node has a path on which all edges are enabled. */
  private static boolean isEnabled(Topology topology, int node) {
    if (topology.allEnabled()) {
      return true;
    }
    int slotCount = topology.slotCount(node);
    for (int i = 0; i < slotCount; i++) {
      int slot = topology.slot(node, i);
      if (topology.enabled(slot) && (slot == 0 || isEnabled(topology, topology.parent(slot)))) {
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
