package io.espalier.core.api.view;

import io.espalier.core.api.view.Explanation.Reason;
import io.espalier.core.api.view.Explanation.Reserved;
import io.espalier.core.topology.Topology;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A part of the node tree, breadth first, starting with the root.
 *
 * @param atMillis time of the counts
 * @param topology topology to which the node numbers belong
 * @param isTruncated whether nodes were omitted because of the limit; omitting levels below the
 *     requested depth does not count
 */
public record TreeView(long atMillis, Topology topology, List<Node> nodes, boolean isTruncated) {
  public TreeView {
    nodes = List.copyOf(nodes);
  }

  /**
   * One node under one of its parents.
   *
   * @param slot its edge, as in {@link Topology}
   * @param parent index of its parent in the list; -1: the root
   * @param leaves number of nodes of the lowest level in its subtree
   * @param resources resources of its level, in the order of the configuration
   * @param states counts of the tasks in its subtree; a node with several parents counts under each
   *     of them
   * @param closed the gates that close the node itself, for all jobs and for the job asked about
   * @param reserved reservation of the node; absent: none
   */
  public record Node(
      int slot,
      int parent,
      long leaves,
      List<Slots> resources,
      TaskCounts states,
      List<Reason> closed,
      @Nullable Reserved reserved) {
    public Node {
      resources = List.copyOf(resources);
      closed = List.copyOf(closed);
    }
  }

  /**
   * Slots of a resource on a node.
   *
   * @param limit limit in force
   * @param base limit by an operator's override or, without one, as configured
   * @param configured limit without an operator's override
   * @param lowered why the limit is below its base, such as {@code probe lag is 7.2 (bad above 5):
   *     2 of 4 slots}; empty: it is not
   */
  public record Slots(
      String resource, int used, int limit, int base, int configured, String lowered) {}
}
