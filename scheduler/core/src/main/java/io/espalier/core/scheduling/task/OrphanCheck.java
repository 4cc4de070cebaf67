package io.espalier.core.scheduling.task;

import io.espalier.core.config.Job;
import io.espalier.core.config.RoleFilter;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.topology.Topology;

/** What the tree says of the place of a running task: whether it should run there, and for whom. */
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
   * Whether a running task should not run (docs/design/bistro.md#orphans).
   *
   * @param name of its node; only asked for where the node is gone
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
    // Not among the job's tasks any more, but the node may still be there, on another level.
    for (int level = 0; level <= topology.levels().bottom(); level++) {
      int other = topology.find(level, name);
      if (other >= 0 && isEnabled(other)) {
        return false;
      }
    }
    return true;
  }

  /** Whether some path of the node is enabled throughout. */
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

  /** The role of the lowest place with one on the path of a running task; empty: none. */
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
