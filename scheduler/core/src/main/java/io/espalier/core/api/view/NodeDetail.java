package io.espalier.core.api.view;

import io.espalier.core.api.view.Explanation.Reason;
import io.espalier.core.api.view.Explanation.Reserved;
import io.espalier.core.topology.Topology;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The details of one node.
 *
 * @param atMillis time of these details
 * @param topology topology to which the node number belongs
 * @param leaves number of nodes of the lowest level in its subtree
 * @param holders running tasks that use its slots, those expected to end first, one entry per
 *     resource; at most {@link Explanation.Reason#MOST_HOLDERS}
 * @param holdersTotal total number of such entries
 * @param jobs the tasks in its subtree by job; jobs without any are omitted
 * @param closed the gates that close the node for all jobs: its own and, as far up as only one way
 *     leads to it, those of the nodes above
 * @param reserved reservation of the node; absent: none
 */
public record NodeDetail(
    long atMillis,
    Topology topology,
    int node,
    long leaves,
    List<TreeView.Slots> resources,
    List<ResourceHolder> holders,
    long holdersTotal,
    Map<String, TaskCounts> jobs,
    List<Reason> closed,
    @Nullable Reserved reserved) {
  public NodeDetail {
    resources = List.copyOf(resources);
    holders = List.copyOf(holders);
    closed = List.copyOf(closed);
  }
}
