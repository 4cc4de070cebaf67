package io.espalier.core.loop.query;

import io.espalier.core.api.Query;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.view.TaskCounts;
import io.espalier.core.api.view.TreeView;
import io.espalier.core.api.view.TreeView.Slots;
import io.espalier.core.config.Resource;
import io.espalier.core.loop.state.NodeResolver;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.query.SubtreeCountScan;
import io.espalier.core.scheduling.reservation.Reservation;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A query for a part of the tree: first collects its nodes, breadth first, then counts the tasks of
 * the nodes whose subtree is not fully shown; the counts of the other nodes are sums over their
 * children.
 */
final class TreePageQuery extends IncrementalQuery<TreeView> {
  private static final int UNITS_PER_NODE = 10;

  private final SchedulingCore core;
  private final Query.Tree query;

  private @Nullable SubtreeCountScan scan;
  private int[] slots = {};
  private int[] parents = {};
  private int[] depths = {};
  private boolean[] isWhole = {};
  private int size;
  private boolean isTruncated;
  private final List<TaskCounts> counts = new ArrayList<>();
  private long[] leaves = {};
  private int job;

  TreePageQuery(SchedulingCore core, Query.Tree query) {
    this.core = core;
    this.query = query;
  }

  @Override
  long step(long nowMillis, int units) {
    long used = 0;
    try {
      SubtreeCountScan current = scan;
      if (current == null || current.isStale()) {
        current = begin();
        used += (long) size * UNITS_PER_NODE;
      }
      while (counts.size() < size && used < units) {
        if (isWhole[counts.size()]) {
          // The counts of its children are not known yet.
          counts.add(TaskCounts.NONE);
          used++;
          continue;
        }
        if (current.isDone()) {
          current.begin(slots[counts.size()]);
        }
        used += current.step((int) (units - used));
        if (current.isDone()) {
          leaves[counts.size()] = current.leaves();
          counts.add(current.counts());
        }
      }
      // Assembling a large answer takes a slice of its own.
      boolean fits = used == 0 || used + (long) size * UNITS_PER_NODE <= units;
      if (counts.size() == size && fits) {
        used += (long) size * UNITS_PER_NODE;
        answer.complete(view(nowMillis));
      }
    } catch (RefusedException e) {
      answer.completeExceptionally(e);
    }
    return used;
  }

  private SubtreeCountScan begin() {
    Topology topology = core.topology();
    job = query.job().isEmpty() ? -1 : core.findJob(query.job());
    if (!query.job().isEmpty() && core.job(job) == null) {
      throw new RefusedException(RefusedException.Reason.UNKNOWN, "no such job: " + query.job());
    }
    int root = NodeResolver.find(topology, query.level(), query.root());
    slots = new int[query.limit()];
    parents = new int[query.limit()];
    depths = new int[query.limit()];
    isWhole = new boolean[query.limit()];
    leaves = new long[query.limit()];
    slots[0] = topology.slot(root, 0);
    parents[0] = -1;
    size = 1;
    isTruncated = false;
    for (int i = 0; i < size; i++) {
      expand(topology, i);
    }
    counts.clear();
    SubtreeCountScan fresh = core.tasks().counts(job, false);
    scan = fresh;
    return fresh;
  }

  private void expand(Topology topology, int at) {
    int node = topology.node(slots[at]);
    int start = topology.childStart(node);
    int end = topology.childEnd(node);
    if (depths[at] >= query.depth()) {
      return;
    }
    int room = Math.min(end - start, query.limit() - size);
    isTruncated |= room < end - start;
    isWhole[at] = room > 0 && room == end - start;
    for (int i = 0; i < room; i++) {
      slots[size] = start + i;
      parents[size] = at;
      depths[size++] = depths[at] + 1;
    }
  }

  private TreeView view(long nowMillis) {
    Topology topology = core.topology();
    List<TreeView.Node> nodes = new ArrayList<>(size);
    for (int at = size - 1; at >= 0; at--) {
      if (isWhole[at]) {
        int node = topology.node(slots[at]);
        // The counts of its children were added before; add those of the jobs on its own level.
        counts.set(at, plus(counts.get(at), own(node)));
        leaves[at] += topology.level(node) == topology.levels().bottom() ? 1 : 0;
      }
      if (parents[at] >= 0 && isWhole[parents[at]]) {
        counts.set(parents[at], plus(counts.get(parents[at]), counts.get(at)));
        leaves[parents[at]] += leaves[at];
      }
    }
    for (int at = 0; at < size; at++) {
      int node = topology.node(slots[at]);
      nodes.add(
          new TreeView.Node(
              slots[at],
              parents[at],
              leaves[at],
              slots(core, node),
              counts.get(at),
              core.capacity().closed(job, node),
              Reservation.shown(core.capacity().reservation(node))));
    }
    return new TreeView(nowMillis, topology, nodes, isTruncated);
  }

  private TaskCounts own(int node) {
    return core.tasks().countsOf(job, node);
  }

  private static TaskCounts plus(TaskCounts a, TaskCounts b) {
    return new TaskCounts(
        a.done() + b.done(),
        a.failed() + b.failed(),
        a.cancelled() + b.cancelled(),
        a.running() + b.running(),
        a.waiting() + b.waiting(),
        a.ready() + b.ready(),
        a.blocked() + b.blocked());
  }

  /** The usage of a node's resources. */
  static List<Slots> slots(SchedulingCore core, int node) {
    List<Slots> slots = new ArrayList<>();
    int level = core.topology().level(node);
    for (Resource resource : core.config().settings().resources().ofLevel(level)) {
      int limit = core.capacity().limit(node, resource.index());
      slots.add(
          new Slots(
              resource.name(),
              limit - core.capacity().free(node, resource.index()),
              limit,
              core.capacity().baseLimit(node, resource.index()),
              core.capacity().configuredLimit(node, resource.index()),
              core.capacity().lowered(node, resource)));
    }
    return slots;
  }
}
