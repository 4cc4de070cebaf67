package io.espalier.core.scheduling.capacity;

import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.topology.Topology;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How many slots the nodes have in all: of single nodes by what operators say, else by
 * configuration, else of the level. The limit of a level changes node by node, in order, since
 * there may be millions of them.
 */
final class EffectiveLimits {
  /** By resource: on all nodes for which nothing else is said. */
  private final int[] limits;

  /** By resource: the sum of the limits of all nodes. */
  private final long[] totals;

  private int totalsVersion;

  /**
   * By resource: the configured limits of single nodes by their number in the level, {@link
   * ConfiguredLimits#OF_LEVEL} where there is none; null where no node has one, or an operator has
   * given the level another limit.
   */
  private final int[] @Nullable [] ofNodes;

  /** By resource: the number of the first node of its level. */
  private final int[] first;

  /** What operators have given single nodes, by place in the {@link NodeCapacity}: few. */
  private final Map<Integer, Integer> ownLimits = new HashMap<>();

  /** The resource of which the limit is being changed node by node; -1: none. */
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

  /** How many resources there are. */
  int resources() {
    return limits.length;
  }

  /**
   * Slots on a node in all.
   *
   * @param place of node and resource in the {@link NodeCapacity}
   */
  int at(int place, int node, int resource) {
    Integer own = ownLimits.isEmpty() ? null : ownLimits.get(place);
    return own != null ? own : shared(node, resource);
  }

  /** The same without what operators have given the node alone. */
  int shared(int node, int resource) {
    boolean shifted = resource == shifting && node < shiftedTo;
    int[] own = shifted ? shiftOfNodes : ofNodes[resource];
    int limit = own == null ? ConfiguredLimits.OF_LEVEL : own[node - first[resource]];
    if (limit != ConfiguredLimits.OF_LEVEL) {
      return limit;
    }
    return shifted ? shiftLimit : limits[resource];
  }

  /** Whether that is what all nodes have that operators have given no limit of their own. */
  boolean hasLimits(int resource, int limit, int @Nullable [] limitsOfNodes) {
    return limits[resource] == limit && ofNodes[resource] == limitsOfNodes;
  }

  /** The sum of the limits in effect on all nodes; 0 for a resource of workers. */
  long total(int resource) {
    return totals[resource];
  }

  /** Grows whenever a total may have changed. */
  int totalsVersion() {
    return totalsVersion;
  }

  /** The limit of some node is another one. */
  void moved(int resource, int by) {
    totals[resource] += by;
    totalsVersion++;
  }

  /**
   * @param limit null: none of its own
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

  /** The resource of which the limit of a level is being changed. */
  int shifting() {
    return shifting;
  }

  /** The new limit holds for all nodes up to that one. */
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
