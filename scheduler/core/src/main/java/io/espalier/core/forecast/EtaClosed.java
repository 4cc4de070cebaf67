package io.espalier.core.forecast;

import io.espalier.core.api.view.JobEta.Kind;
import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.group.GroupMembers;
import io.espalier.core.topology.Topology;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds the nodes on which and below which no task of a job can run as things are, in slices: a
 * limit is lower than what a task needs, a brake or an operator's quarantine stops them until
 * somebody lifts it, or a redundancy group is closed.
 */
final class EtaClosed {
  private final WorkLeft left;
  private final Topology nodes;
  private final Job job;
  private final EtaScan scan;
  private final Map<Integer, GateKind> gates;
  private final @Nullable GroupMembers groups;

  /** By node: whether no task can run on it or below it. */
  private final boolean[] closed;

  /** By node: the tasks of the job below closed nodes; empty: none is closed. */
  private double[] tasksBelow = new double[0];

  /** The closed node that keeps most tasks of the job, with what closes it. */
  private @Nullable EtaPlace closing;

  private double closingTasks;
  private int at;

  /**
   * @param scan a complete one of the job
   */
  EtaClosed(WorkLeft left, Job job, EtaScan scan) {
    this.left = left;
    this.job = job;
    this.scan = scan;
    nodes = left.topology();
    gates = left.closedNodes(job);
    groups = left.groups();
    closed = new boolean[scan.size()];
  }

  boolean isDone() {
    return at == closed.length;
  }

  /** Visits the next node. */
  void visit() {
    int node = at++;
    int parent = node == 0 ? -1 : nodes.parent(nodes.slot(node, 0));
    if (parent >= 0 && closed[parent]) {
      closed[node] = true;
      return;
    }
    EtaPlace place = closing(node, nodes.level(node));
    if (place == null) {
      return;
    }
    closed[node] = true;
    double tasks = scan.own(node);
    if (tasks > closingTasks) {
      closingTasks = tasks;
      closing = place;
    }
    if (tasks > 0) {
      tasksBelow = tasksBelow.length == 0 ? new double[closed.length] : tasksBelow;
      for (int above = node; above > 0; above = nodes.parent(nodes.slot(above, 0))) {
        tasksBelow[above] += tasks;
      }
      tasksBelow[0] += tasks;
    }
  }

  /** Returns what closes a node itself, or null. */
  private @Nullable EtaPlace closing(int node, int level) {
    String ofLevel = nodes.levels().name(level);
    for (Resource resource : left.config().settings().resources().ofLevel(level)) {
      int limit = left.limit(node, resource.index());
      if (limit < job.needs().get(resource.index())) {
        return new EtaPlace(Kind.RESOURCE, node, ofLevel, "", resource, limit, 1, 0);
      }
    }
    GateKind gate = gates.isEmpty() ? null : gates.get(node);
    if (gate != null) {
      String name = gate == GateKind.NODE_BRAKE ? "" : "quarantine";
      return new EtaPlace(Kind.BRAKE, node, ofLevel, name, null, 0, 1, 0);
    }
    if (groups != null && groups.has(level) && level <= job.level()) {
      for (int group : groups.groupsOf(groups.member(node, level))) {
        if (left.groupLimit(group) == 0) {
          return EtaGroups.place(groups, group, ofLevel, 0, 0);
        }
      }
    }
    return null;
  }

  boolean isClosed(int node) {
    return closed[node];
  }

  /** Returns the tasks of the job on closed nodes, below one node or on it. */
  double tasksBelow(int node) {
    return tasksBelow.length == 0 ? 0 : tasksBelow[node];
  }

  /** Returns what keeps most tasks of the job; null: nothing. */
  @Nullable EtaPlace closing() {
    return closing;
  }
}
