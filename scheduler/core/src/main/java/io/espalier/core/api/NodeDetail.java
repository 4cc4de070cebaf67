package io.espalier.core.api;

import io.espalier.core.api.Explanation.Reserved;
import io.espalier.core.topology.Topology;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One node.
 *
 * @param atMillis when this was so
 * @param topology whose number the node has
 * @param leaves nodes of the lowest level in its subtree
 * @param holders running tasks that hold its slots, those that are expected to end first, at most
 *     {@link Explanation.Reason#MOST_HOLDERS}; one for each resource
 * @param holdersTotal how many there are
 * @param jobs the tasks in its subtree by job; jobs without any are left out
 * @param reserved whom it is kept free for; absent: nobody
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
    @Nullable Reserved reserved) {
  public NodeDetail {
    resources = List.copyOf(resources);
    holders = List.copyOf(holders);
  }
}
