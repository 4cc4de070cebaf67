package io.espalier.core.scheduling;

import io.espalier.core.config.Resource;
import io.espalier.core.topology.Topology;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * By resource: the largest configured limits there are on nodes, and how many nodes have each. So
 * the largest limit can be told without looking at all nodes, though operators have given some of
 * them others.
 */
final class LimitTops {
  /** Distinct limits that are kept. */
  private static final int KEPT = 64;

  /** By resource: limit to nodes. */
  private final List<NavigableMap<Integer, Integer>> tops;

  private LimitTops(List<NavigableMap<Integer, Integer>> tops) {
    this.tops = tops;
  }

  static LimitTops of(Topology topology, List<Resource> resources, int[] @Nullable [] ofNodes) {
    return new LimitTops(
        resources.stream().map(r -> tops(topology, r, ofNodes[r.index()])).toList());
  }

  private static NavigableMap<Integer, Integer> tops(
      Topology topology, Resource resource, int @Nullable [] own) {
    TreeMap<Integer, Integer> top = new TreeMap<>();
    int nodes = topology.levelEnd(resource.level()) - topology.levelStart(resource.level());
    if (own == null) {
      if (nodes > 0) {
        top.put(resource.limit(), nodes);
      }
      return top;
    }
    for (int limit : own) {
      int value = limit == NodeLimits.OF_LEVEL ? resource.limit() : limit;
      if (top.size() < KEPT || value >= top.firstKey()) {
        top.merge(value, 1, Integer::sum);
        if (top.size() > KEPT) {
          top.pollFirstEntry();
        }
      }
    }
    return top;
  }

  /**
   * The largest limit among nodes, some left out; -1: there are no others. Where more than {@value
   * #KEPT} distinct ones would have to be left out: a little more than it is.
   *
   * @param without how many nodes with each configured limit do not count
   */
  int largest(int resource, Map<Integer, Integer> without) {
    NavigableMap<Integer, Integer> top = tops.get(resource);
    for (Map.Entry<Integer, Integer> entry : top.descendingMap().entrySet()) {
      if (entry.getValue() > without.getOrDefault(entry.getKey(), 0)) {
        return entry.getKey();
      }
    }
    return top.size() < KEPT ? -1 : top.firstKey();
  }
}
