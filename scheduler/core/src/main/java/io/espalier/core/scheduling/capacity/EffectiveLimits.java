package io.espalier.core.scheduling.capacity;

import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.topology.Topology;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The limits in effect on the nodes: the override of the node, else its configured limit, else the
 * limit of its level. The limit of a level is changed node by node, in order, because a level may
 * have millions of nodes.
 */
final class EffectiveLimits {
  /** By resource: the limit of all nodes without another one. */
  private final int[] limits;

  /** By resource: the sum of the limits of all nodes. */
  private final long[] totals;

  private int totalsVersion;

  /**
   * By resource: the configured limits of single nodes by their number in the level, {@link
   * ConfiguredLimits#OF_LEVEL} for a node without one; null when no node has one, or when an
   * override applies to the whole level.
   */
  private final int[] @Nullable [] ofNodes;

  /** By resource: the number of the first node of its level. */
  private final int[] first;

  /** The few overrides of single nodes, by place in the {@link NodeCapacity}. */
  private final Map<Integer, Integer> ownLimits = new HashMap<>();

  /** The resource whose limit is being changed node by node; -1: none. */
  private int shifting = -1;

  private int shiftedTo;
  private int shiftLimit;
  private int @Nullable [] shiftOfNodes;

  EffectiveLimits(Topology topology, ResourceCatalog catalog, ConfiguredLimits configured) {
    int count = catalog.count();
    limits = new int[count];
    totals = new long[count];
    ofNodes = new int[count][];
    first = new int[count];
    for (int r = 0; r < count; r++) {
      limits[r] = configured.ofLevel(r);
      ofNodes[r] = configured.ofNodes(r);
      first[r] = topology.levelStart(catalog.get(r).level());
    }
  }

  /** Returns the number of resources. */
  int resources() {
    return limits.length;
  }

  /**
   * Returns the limit of a node.
   *
   * @param place the place of node and resource in the {@link NodeCapacity}
   */
  int at(int place, int node, int resource) {
    Integer own = ownLimits.isEmpty() ? null : ownLimits.get(place);
    return own != null ? own : shared(node, resource);
  }

  /** Returns the limit of a node without the override of the node itself. */
  int shared(int node, int resource) {
    boolean shifted = resource == shifting && node < shiftedTo;
    int[] own = shifted ? shiftOfNodes : ofNodes[resource];
    int limit = own == null ? ConfiguredLimits.OF_LEVEL : own[node - first[resource]];
    if (limit != ConfiguredLimits.OF_LEVEL) {
      return limit;
    }
    return shifted ? shiftLimit : limits[resource];
  }

  /**
   * Returns whether these limits are already in effect on all nodes without an override of their
   * own.
   */
  boolean hasLimits(int resource, int limit, int @Nullable [] limitsOfNodes) {
    return limits[resource] == limit && ofNodes[resource] == limitsOfNodes;
  }

  /** Returns the sum of the limits in effect on all nodes; 0 for a worker resource. */
  long total(int resource) {
    return totals[resource];
  }

  /** Returns a version that grows whenever a total may have changed. */
  int totalsVersion() {
    return totalsVersion;
  }

  /** Adjusts the total after the limit of a node has changed. */
  void moved(int resource, int by) {
    totals[resource] += by;
    totalsVersion++;
  }

  /**
   * @param limit null: no override of its own
   */
  void setOwn(int place, @Nullable Integer limit) {
    if (limit == null) {
      ownLimits.remove(place);
    } else {
      ownLimits.put(place, limit);
    }
  }

  boolean hasOwn(int place) {
    return !ownLimits.isEmpty() && ownLimits.containsKey(place);
  }

  // ---- the limit of a level

  /** See {@link NodeCapacity#beginShift}. */
  void beginShift(int resource, int limit, int @Nullable [] limitsOfNodes, int firstNode) {
    shifting = resource;
    shiftLimit = limit;
    shiftOfNodes = limitsOfNodes;
    shiftedTo = firstNode;
  }

  /** Returns the resource whose level limit is being changed. */
  int shifting() {
    return shifting;
  }

  /** Puts the new limit into effect for all nodes up to this one. */
  void shiftTo(int node) {
    shiftedTo = node + 1;
  }

  void endShift() {
    limits[shifting] = shiftLimit;
    ofNodes[shifting] = shiftOfNodes;
    shiftOfNodes = null;
    shifting = -1;
  }
}
