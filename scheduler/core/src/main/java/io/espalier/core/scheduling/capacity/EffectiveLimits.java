package io.espalier.core.scheduling.capacity;

import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The limits of the nodes of one tree (docs/adr/0054-effective-limits.md), each in two forms: what
 * it is to be, and what the counters of free slots have been moved to. The <i>base</i> is the
 * override of the node, else that of its level, else the configured limit. {@link LimitFactors} and
 * the health of the node lower it to the <i>effective</i> limit.
 *
 * <p>A change takes effect at once in what the limits are to be, and node by node in the counters,
 * with {@link #settle}. Settling may be repeated and done in any order, so changes may overlap.
 */
final class EffectiveLimits {
  /** By resource: the number of the first node of its level. */
  private final int[] first;

  // What the limits are to be, by resource.

  /** The base of all nodes without another one. */
  private final int[] ofLevel;

  /**
   * The configured limits of single nodes; null when no node has one, or when an override applies
   * to the whole level.
   */
  private final int[] @Nullable [] ofNodes;

  /** The few overrides of single nodes, by node. */
  private final List<Map<Integer, Integer>> ofNode = new ArrayList<>();

  private final LimitFactors factors;

  /** What health leaves of the limits of nodes without an entry of their own. */
  private final int[] healthOfLevel;

  /** By node: what health leaves, plus one; -1: everything; 0: see {@link #healthOfLevel}. */
  private final @Nullable SparseInts[] healthOfNode;

  // What the counters have been moved to, by resource.

  /** The limits of the level and of nodes that the counters follow, except where moved. */
  private final int[] settledOfLevel;

  private final int[] @Nullable [] settledOfNodes;

  /** By node: the difference to the settled limits; null: there is none. */
  private final @Nullable SparseInts[] moved;

  /** By node: how many slots of the base factors and health have taken away; null: none. */
  private final @Nullable SparseInts[] withheld;

  /** The sum of the limits of all nodes. */
  private final long[] totals;

  private int totalsVersion;

  EffectiveLimits(Topology topology, ResourceCatalog catalog, ConfiguredLimits configured) {
    int count = catalog.count();
    first = new int[count];
    ofLevel = new int[count];
    ofNodes = new int[count][];
    settledOfLevel = new int[count];
    settledOfNodes = new int[count][];
    moved = new SparseInts[count];
    withheld = new SparseInts[count];
    totals = new long[count];
    healthOfLevel = new int[count];
    Arrays.fill(healthOfLevel, HealthLimit.WHOLE);
    healthOfNode = new SparseInts[count];
    factors = new LimitFactors(topology, catalog);
    for (int r = 0; r < count; r++) {
      first[r] = topology.levelStart(catalog.get(r).level());
      ofNode.add(new LinkedHashMap<>());
      setLevel(r, configured.ofLevel(r), configured.ofNodes(r));
      follow(r);
    }
  }

  /** Returns the number of resources. */
  int resources() {
    return ofLevel.length;
  }

  LimitFactors factors() {
    return factors;
  }

  // ---- what the limits are to be

  /**
   * Sets the base of all nodes of a level that have no override of their own.
   *
   * @param limitsOfNodes see {@link ConfiguredLimits#ofNodes}
   * @return whether it was another one
   */
  boolean setLevel(int resource, int limit, int @Nullable [] limitsOfNodes) {
    boolean changes = ofLevel[resource] != limit || ofNodes[resource] != limitsOfNodes;
    ofLevel[resource] = limit;
    ofNodes[resource] = limitsOfNodes;
    return changes;
  }

  /**
   * Sets the override of a node.
   *
   * @param limit null: none
   */
  void setNode(int resource, int node, @Nullable Integer limit) {
    if (limit == null) {
      ofNode.get(resource).remove(node);
    } else {
      ofNode.get(resource).put(node, limit);
    }
  }

  /** Returns the base of a node. */
  int base(int node, int resource) {
    Map<Integer, Integer> own = ofNode.get(resource);
    Integer limit = own.isEmpty() ? null : own.get(node);
    return limit != null ? limit : shared(node, resource, ofNodes, ofLevel);
  }

  private int shared(int node, int resource, int[] @Nullable [] byNode, int[] byLevel) {
    int[] own = byNode[resource];
    int limit = own == null ? ConfiguredLimits.OF_LEVEL : own[node - first[resource]];
    return limit == ConfiguredLimits.OF_LEVEL ? byLevel[resource] : limit;
  }

  /** Returns the limit that a node is to have. */
  int effective(int node, int resource) {
    return Math.min(withoutHealth(node, resource), health(node, resource));
  }

  /** Returns the limit that a node would have if health took nothing away. */
  int withoutHealth(int node, int resource) {
    return factors.limit(base(node, resource), node, resource);
  }

  /**
   * Sets what health leaves of a limit.
   *
   * @param node -1: all nodes of the level without one of their own
   * @param limit null: removes it, with -1 for all nodes of the level
   */
  void setHealth(int resource, int node, @Nullable Integer limit) {
    if (node >= 0) {
      int stored = limit == null ? 0 : limit == HealthLimit.WHOLE ? -1 : limit + 1;
      healthOfNode[resource] =
          SparseInts.put(healthOfNode[resource], node - first[resource], stored);
      return;
    }
    healthOfLevel[resource] = limit == null ? HealthLimit.WHOLE : limit;
    if (limit == null) {
      healthOfNode[resource] = null;
    }
  }

  private int health(int node, int resource) {
    SparseInts own = healthOfNode[resource];
    int stored = own == null ? 0 : own.get(node - first[resource]);
    return stored == 0 ? healthOfLevel[resource] : stored < 0 ? HealthLimit.WHOLE : stored - 1;
  }

  // ---- what the counters have been moved to

  /** Returns the limit that the counters of a node follow. */
  int now(int node, int resource) {
    int settled = shared(node, resource, settledOfNodes, settledOfLevel);
    SparseInts by = moved[resource];
    return by == null ? settled : settled + by.get(node - first[resource]);
  }

  /**
   * Returns how many slots factors and health have taken away from a node: its base is as much
   * larger.
   */
  int withheld(int node, int resource) {
    SparseInts by = withheld[resource];
    return by == null ? 0 : by.get(node - first[resource]);
  }

  /**
   * Moves a node to the limit that it is to have; its counters must follow.
   *
   * @return the difference to the limit before
   */
  int settle(int node, int resource) {
    int base = base(node, resource);
    int after = Math.min(factors.limit(base, node, resource), health(node, resource));
    int by = after - now(node, resource);
    int at = node - first[resource];
    if (by != 0) {
      int settled = shared(node, resource, settledOfNodes, settledOfLevel);
      moved[resource] = SparseInts.put(moved[resource], at, after - settled);
      addToTotal(resource, by);
    }
    if (base - after != withheld(node, resource)) {
      withheld[resource] = SparseInts.put(withheld[resource], at, base - after);
    }
    return by;
  }

  /**
   * Forgets by which steps the nodes have come to their limits; must be called only when each node
   * has the limit that it is to have. Costs a pass over the overrides of nodes when the limit of
   * the level has changed, or a factor or what follows health has gone.
   */
  void follow(int resource) {
    if (factors.concerns(resource)
        || healthOfNode[resource] != null
        || healthOfLevel[resource] != HealthLimit.WHOLE) {
      return;
    }
    boolean isFollowed =
        settledOfLevel[resource] == ofLevel[resource]
            && settledOfNodes[resource] == ofNodes[resource]
            && withheld[resource] == null;
    if (isFollowed && !ofNode.get(resource).isEmpty()) {
      return; // What has moved is what the overrides of nodes have moved.
    }
    settledOfLevel[resource] = ofLevel[resource];
    settledOfNodes[resource] = ofNodes[resource];
    moved[resource] = null;
    withheld[resource] = null;
    for (Map.Entry<Integer, Integer> own : ofNode.get(resource).entrySet()) {
      int by = own.getValue() - shared(own.getKey(), resource, ofNodes, ofLevel);
      moved[resource] = SparseInts.put(moved[resource], own.getKey() - first[resource], by);
    }
  }

  // ---- totals

  /** Returns the sum of the limits that the counters follow; 0 for a worker resource. */
  long total(int resource) {
    return totals[resource];
  }

  /** Returns a version that grows whenever a total may have changed. */
  int totalsVersion() {
    return totalsVersion;
  }

  /** Adjusts the total after the limit of a node has changed. */
  void addToTotal(int resource, int by) {
    totals[resource] += by;
    totalsVersion++;
  }
}
