package io.espalier.core.scheduling.reservation;

import io.espalier.core.scheduling.util.LongMap;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The nodes at which heavy jobs wait for slots, each with the waits of these jobs. */
final class WaitingNodes {
  private static final int MOST_SPARE = 1_000;

  private final Topology topology;
  private final StarvableJobs heavy;
  private final int words;
  private final LongMap<NodeWaiters> nodes = new LongMap<>();
  private final List<NodeWaiters> spare = new ArrayList<>();
  private long work;

  /**
   * @param words how many words the bits of all jobs take
   */
  WaitingNodes(Topology topology, StarvableJobs heavy, int words) {
    this.topology = topology;
    this.heavy = heavy;
    this.words = words;
  }

  /** Returns the jobs that wait at a node; null: none. */
  @Nullable NodeWaiters get(int node) {
    return nodes.get(node);
  }

  /** Returns the jobs that wait where a wait is. */
  NodeWaiters of(Wait wait) {
    NodeWaiters at = nodes.get(wait.site);
    if (at == null) {
      throw new IllegalStateException("no job waits at node " + wait.site);
    }
    return at;
  }

  /** Returns the wait of a job at a node, or null. */
  @Nullable Wait find(int job, int node) {
    NodeWaiters at = nodes.get(node);
    return at == null ? null : at.find(job);
  }

  /** Adds the wait of a job that does not wait at the node yet. */
  Wait add(int node, int level, int job) {
    NodeWaiters at = nodes.get(node);
    if (at == null) {
      at = spare.isEmpty() ? new NodeWaiters(words) : spare.remove(spare.size() - 1);
      at.node = node;
      at.level = level;
      nodes.put(node, at);
    }
    return at.add(job);
  }

  void remove(NodeWaiters at, Wait wait) {
    at.remove(wait);
    if (at.waits.isEmpty()) {
      nodes.remove(at.node);
      if (spare.size() < MOST_SPARE) {
        spare.add(at);
      }
    }
  }

  /**
   * Visits a node and those below it, some perhaps twice. Looks at about as many nodes as there are
   * below it, or as there are with waiting jobs, whichever are fewer.
   */
  void atAndBelow(int node, Consumer<NodeWaiters> visitor) {
    if (visitBelow(node, nodes.parts() + nodes.size(), visitor) >= 0) {
      return;
    }
    // Jobs wait at fewer nodes than there are below this one.
    for (int part = 0; part < nodes.parts(); part++) {
      work++;
      visit(
          part,
          at -> {
            work++;
            if (isBelow(at.node, node)) {
              visitor.accept(at);
            }
          });
    }
  }

  /**
   * @param most how many nodes it may look at
   * @return how many of them are left; negative: it has not looked at all nodes
   */
  private long visitBelow(int node, long most, Consumer<NodeWaiters> visitor) {
    work++;
    NodeWaiters at = nodes.get(node);
    if (at != null) {
      visitor.accept(at);
    }
    long left = most - 1;
    int end = topology.level(node) < heavy.deepestLevel() ? topology.childEnd(node) : 0;
    for (int slot = topology.childStart(node); slot < end && left >= 0; slot++) {
      left = visitBelow(topology.node(slot), left, visitor);
    }
    return left;
  }

  /** Returns whether a node is another one or below it. */
  private boolean isBelow(int node, int other) {
    boolean below = node == other;
    int slotCount = topology.slotCount(node);
    for (int i = 0; i < slotCount && !below; i++) {
      int parent = topology.parent(topology.slot(node, i));
      below = parent >= 0 && isBelow(parent, other);
    }
    return below;
  }

  void forEach(Consumer<NodeWaiters> visitor) {
    for (int part = 0; part < nodes.parts(); part++) {
      visit(part, visitor);
    }
  }

  /** Returns the number of parts for {@link #visit}. */
  int parts() {
    return nodes.parts();
  }

  /** Visits the nodes of a part; the visitor must not add or remove waits. */
  void visit(int part, Consumer<NodeWaiters> visitor) {
    nodes.visit(part, (node, at) -> visitor.accept(at));
  }

  /** Returns how many nodes {@link #atAndBelow} has looked at so far. */
  long work() {
    return work;
  }
}
