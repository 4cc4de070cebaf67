package io.espalier.core.scheduling.util;

import io.espalier.core.topology.Topology;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Finds the cheapest path from a node to the instance; among equal paths, the first in edge order.
 * Costs add up along a path, so each edge is evaluated once, regardless of the number of paths.
 */
public final class BestPath {
  private final Topology topology;
  private final Cost cost;
  private final Map<Integer, Long> costs = new HashMap<>();
  private final Map<Integer, Integer> best = new HashMap<>();

  /** The cost of an edge on a path. */
  public interface Cost {
    long of(int slot);
  }

  private BestPath(Topology topology, Cost cost) {
    this.topology = topology;
    this.cost = cost;
  }

  /** Returns the edges of the path, from the node's own up to the instance. */
  public static int[] find(Topology topology, int node, Cost cost) {
    BestPath search = new BestPath(topology, cost);
    search.costOf(node);
    int[] slots = new int[topology.levels().count()];
    int length = 0;
    int at = node;
    while (true) {
      int slot = search.best.getOrDefault(at, -1);
      slots[length++] = slot;
      if (slot == 0) {
        return Arrays.copyOf(slots, length);
      }
      at = topology.parent(slot);
    }
  }

  private long costOf(int node) {
    Long known = costs.get(node);
    if (known != null) {
      return known;
    }
    long least = Long.MAX_VALUE;
    int slotCount = topology.slotCount(node);
    for (int i = 0; i < slotCount; i++) {
      int slot = topology.slot(node, i);
      long total = cost.of(slot) + (slot == 0 ? 0 : costOf(topology.parent(slot)));
      if (total < least) {
        least = total;
        best.put(node, slot);
      }
    }
    costs.put(node, least);
    return least;
  }
}
