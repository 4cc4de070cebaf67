package io.espalier.core.api;

import io.espalier.core.api.Explanation.Reserved;
import io.espalier.core.topology.Topology;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A part of the node tree, breadth first, the root at its head.
 *
 * @param atMillis when the counts were made
 * @param topology whose numbers the nodes have
 * @param isTruncated whether nodes were left out because there are too many; leaving out what lies
 *     deeper than asked for does not count
 */
public record TreeView(long atMillis, Topology topology, List<Node> nodes, boolean isTruncated) {
  public TreeView {
    nodes = List.copyOf(nodes);
  }

  /**
   * One of them, in one of its places.
   *
   * @param slot its place, as in {@link Topology}
   * @param parent index of its parent in the list; -1: the root
   * @param leaves nodes of the lowest level in its subtree
   * @param resources those of its level, in the order of the configuration
   * @param states of the tasks in its subtree; a node with several parents counts in each of its
   *     places
   * @param reserved whom it is kept free for; absent: nobody
   */
  public record Node(
      int slot,
      int parent,
      long leaves,
      List<Slots> resources,
      TaskCounts states,
      @Nullable Reserved reserved) {
    public Node {
      resources = List.copyOf(resources);
    }
  }

  /**
   * Slots of a resource on a node.
   *
   * @param limit in force
   * @param configured what it would be without an operator's override
   */
  public record Slots(String resource, int used, int limit, int configured) {}
}
