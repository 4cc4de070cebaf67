package io.espalier.core.scheduling.capacity;

import io.espalier.core.config.Resource;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.topology.Topology;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The free slots of every node, and the jobs that fit into them.
 *
 * <p>A place is a node combined with a resource of its level. All places of a level are contiguous
 * and those of a node adjacent, so the places that a start or an end reads on a node are in one
 * cache line.
 */
public final class NodeCapacity {
  private static final int[] NONE = {};

  private final int[][] ofLevel;
  private final int[] levelStart;

  /** By level: the number of its first place. */
  private final int[] base;

  /** By level. */
  private final FreeSlots[] free;

  /** By resource. */
  private final int[] levelOf;

  /** By level and resource of the level. */
  private final FitTable[][] tables;

  private final EffectiveLimits limits;
  private final OverLimitTracker over;

  /** By resource: the peak usage, followed by its node and the limit at that time. */
  private final int[] peakUsed;

  private final int[] peakNode;
  private final int[] peakLimit;

  /** By resource: a limit that no node exceeds or ever exceeded. */
  private final int[] largest;

  /** By resource: with this many free slots or more, the usage of a node is no new peak. */
  private final int[] peakFree;

  public NodeCapacity(
      Topology topology,
      ResourceCatalog catalog,
      ConfiguredLimits configured,
      JobTable jobs,
      OverLimitTracker over) {
    this.over = over;
    limits = new EffectiveLimits(topology, catalog, configured);
    int count = catalog.count();
    largest = new int[count];
    int levels = topology.levels().count();
    ofLevel = new int[levels][];
    levelStart = new int[levels];
    base = new int[levels];
    free = new FreeSlots[levels];
    tables = new FitTable[levels][];
    int places = 0;
    for (int level = 0; level < levels; level++) {
      int[] resources = catalog.ofLevel(level).stream().mapToInt(Resource::index).toArray();
      int nodes = topology.levelEnd(level) - topology.levelStart(level);
      ofLevel[level] = resources;
      levelStart[level] = topology.levelStart(level);
      base[level] = places;
      tables[level] = new FitTable[resources.length];
      int largestOfLevel = 0;
      for (int k = 0; k < resources.length; k++) {
        tables[level][k] = roomTable(resources[k], level, jobs);
        largestOfLevel = Math.max(largestOfLevel, configured.largest(resources[k]));
      }
      int size = Math.multiplyExact(nodes, resources.length);
      places = Math.addExact(places, size);
      free[level] = new FreeSlots(size, largestOfLevel);
      for (int i = 0; i < size; i++) {
        int resource = resources[i % resources.length];
        int limit = limits.now(levelStart[level] + i / resources.length, resource);
        free[level].put(i, limit);
        limits.addToTotal(resource, limit);
        largest[resource] = Math.max(largest[resource], limit);
      }
    }
    levelOf = catalog.all().stream().mapToInt(Resource::level).toArray();
    peakUsed = new int[count];
    peakNode = new int[count];
    peakLimit = new int[count];
    Arrays.fill(peakNode, -1);
    peakFree = largest.clone();
  }

  private static FitTable roomTable(int resource, int level, JobTable jobs) {
    int[] needs = new int[jobs.count()];
    for (int j = 0; j < needs.length; j++) {
      // A job with tasks above this level has none of its nodes on its paths.
      needs[j] = jobs.levels[j] >= level ? jobs.needs[j][resource] : 0;
    }
    return new FitTable(needs, jobs.words);
  }

  /** Returns the first place of a node among those of its level. */
  private int at(int level, int node) {
    return (node - levelStart[level]) * ofLevel[level].length;
  }

  /** Returns the bits of the jobs whose needs the node can meet for all resources. */
  public long fit(int node, int level, int word) {
    FitTable[] resources = tables[level];
    if (resources.length == 0) {
      return -1L;
    }
    FreeSlots slots = free[level];
    int at = at(level, node);
    long fit = resources[0].fits(slots.get(at), word);
    for (int k = 1; k < resources.length; k++) {
      fit &= resources[k].fits(slots.get(at + k), word);
    }
    return fit;
  }

  /**
   * Like {@link #fit}, after subtracting slots reserved for another job.
   *
   * @param kept the reserved slots by resource
   */
  public long fitBeside(int node, int level, int word, int[] kept) {
    int[] resources = ofLevel[level];
    int at = at(level, node);
    long fit = -1L;
    for (int k = 0; k < resources.length; k++) {
      int room = free[level].get(at + k) - kept[resources[k]];
      fit &= tables[level][k].fits(room, word);
    }
    return fit;
  }

  /** Returns whether the free slots meet a need. */
  public static boolean fits(int need, int room) {
    return need <= 0 || need <= room;
  }

  public int resourceCount() {
    return limits.resources();
  }

  public int[] resources(int level) {
    return ofLevel[level];
  }

  /**
   * Charges slots on one node.
   *
   * @param amounts slots by resource
   * @return whether the set of jobs that fit has changed
   */
  public boolean charge(int node, int level, int[] amounts) {
    int[] resources = ofLevel[level];
    boolean changed = false;
    int at = at(level, node);
    for (int k = 0; k < resources.length; k++) {
      int r = resources[k];
      if (amounts[r] != 0) {
        changed |= add(level, at + k, k, -amounts[r]);
        int left = free[level].get(at + k);
        if (left < peakFree[r]) {
          comparePeak(node, r, left);
        }
      }
    }
    return changed;
  }

  private void comparePeak(int node, int resource, int left) {
    int limit = limits.now(node, resource);
    int used = limit - left;
    if (used > peakUsed[resource]) {
      peakUsed[resource] = used;
      peakLimit[resource] = limit;
      peakNode[resource] = node;
      peakFree[resource] = largest[resource] - used;
    }
  }

  /** Reads the free slots of a node, to have them in the cache; what it returns means nothing. */
  public int readAhead(int node, int level) {
    return ofLevel[level].length == 0 ? 0 : free[level].get(at(level, node));
  }

  /** Releases slots; returns as {@link #charge}. */
  public boolean release(int node, int level, int[] amounts) {
    int[] resources = ofLevel[level];
    boolean changed = false;
    int at = at(level, node);
    for (int k = 0; k < resources.length; k++) {
      int amount = amounts[resources[k]];
      if (amount != 0) {
        changed |= add(level, at + k, k, amount);
      }
    }
    return changed;
  }

  /**
   * @param place the place of the k-th resource, among those of the level
   */
  private boolean add(int level, int place, int k, int by) {
    FreeSlots slots = free[level];
    int before = slots.get(place);
    int after = before + by;
    slots.put(place, after);
    if ((before | after) < 0) {
      int withheld = limits.withheld(nodeOf(base[level] + place, level), ofLevel[level][k]);
      tell(level, place, k, plus(before, withheld), plus(after, withheld));
    }
    return tables[level][k].step(before) != tables[level][k].step(after);
  }

  /** Reports a change of what is free of the base: factors and health put nothing over a limit. */
  private void tell(int level, int place, int k, int before, int after) {
    over.changed(ofLevel[level][k], base[level] + place, before, after);
  }

  /** Returns the free slots of the base. */
  private static int plus(int free, int withheld) {
    return (int) Math.min(Integer.MAX_VALUE, (long) free + withheld);
  }

  /**
   * Limits the charges of an adopted or migrated task so that the counts cannot overflow.
   *
   * @param path the node per level, -1 for none
   * @return {@code amounts} itself when no count would overflow
   */
  public int[] countable(int[] path, int[] amounts) {
    int[] countable = amounts;
    for (int level = 0; level < path.length; level++) {
      for (int r : path[level] < 0 ? NONE : ofLevel[level]) {
        long used = (long) limit(path[level], r) - free(path[level], level, r);
        if (used + amounts[r] > Integer.MAX_VALUE) {
          countable = countable == amounts ? amounts.clone() : countable;
          countable[r] = (int) (Integer.MAX_VALUE - used);
        }
      }
    }
    return countable;
  }

  public int free(int node, int level, int resource) {
    return free[level].get(at(level, node) + indexOf(level, resource));
  }

  /** Returns the slots in use; they may exceed the limit. */
  public int used(int node, int level, int resource) {
    return limits.now(node, resource) - free(node, level, resource);
  }

  /** Returns the position of a resource among those of its level. */
  private int indexOf(int level, int resource) {
    return Arrays.binarySearch(ofLevel[level], resource);
  }

  // ---- limits

  /** Returns the limit of a resource on a node that its free slots follow. */
  public int limit(int node, int resource) {
    return limits.now(node, resource);
  }

  /**
   * Returns the limit of a resource on a node before factors and health; usage beyond it is over
   * the limit.
   */
  public int base(int node, int resource) {
    return limits.now(node, resource) + limits.withheld(node, resource);
  }

  /** See {@link EffectiveLimits#total(int)}. */
  public long total(int resource) {
    return limits.total(resource);
  }

  /** See {@link EffectiveLimits#totalsVersion}. */
  public int totalsVersion() {
    return limits.totalsVersion();
  }

  /**
   * Changes the base of a level.
   *
   * @param limitsOfNodes see {@link ConfiguredLimits#ofNodes}
   * @return whether it was another one, so that {@link #settle} must follow for all its nodes
   */
  public boolean setLimitOfLevel(int resource, int limit, int @Nullable [] limitsOfNodes) {
    free[levelOf[resource]].widen(limit);
    return limits.setLevel(resource, limit, limitsOfNodes);
  }

  /**
   * Changes the override of a node's limit, which may be below the usage; {@link #settle} must
   * follow.
   *
   * @param limit null: removes the override
   */
  public void setLimitOfNode(int resource, int node, @Nullable Integer limit) {
    limits.setNode(resource, node, limit);
  }

  /** Changes the factors; {@link #settle} must follow for the nodes that they concern. */
  public LimitFactors factors() {
    return limits.factors();
  }

  /** See {@link EffectiveLimits#setHealth}; {@link #settle} must follow for these nodes. */
  public void setHealth(int resource, int node, @Nullable Integer limit) {
    limits.setHealth(resource, node, limit);
  }

  /** See {@link EffectiveLimits#withoutHealth}. */
  public int limitWithoutHealth(int node, int resource) {
    return limits.withoutHealth(node, resource);
  }

  /** Moves a node to the limit that it is to have; returns as {@link #charge}. */
  public boolean settle(int node, int level, int resource) {
    int k = indexOf(level, resource);
    int place = at(level, node) + k;
    int before = free[level].get(place);
    int withheld = limits.withheld(node, resource);
    int after = before + limits.settle(node, resource);
    free[level].put(place, after);
    int limit = limits.now(node, resource);
    if (limit > largest[resource]) {
      largest[resource] = limit;
      peakFree[resource] = limit - peakUsed[resource];
    }
    tell(level, place, k, plus(before, withheld), plus(after, limits.withheld(node, resource)));
    return tables[level][k].step(before) != tables[level][k].step(after);
  }

  /** Must be called when {@link #settle} has been called for all nodes since the last change. */
  public void settled(int resource) {
    limits.follow(resource);
  }

  /**
   * Compares the limit of a node with what it is to be.
   *
   * @param expectedBase its base, looked up by name
   */
  public boolean isRight(int node, int resource, int expectedBase) {
    return limits.base(node, resource) == expectedBase
        && limits.effective(node, resource) == limits.now(node, resource)
        && base(node, resource) == expectedBase;
  }

  /** Returns the number of a place, which {@link OverLimitTracker} uses. */
  public int place(int node, int level, int resource) {
    return base[level] + at(level, node) + indexOf(level, resource);
  }

  /** Returns the node of a place. */
  public int nodeOf(int place, int level) {
    return levelStart[level] + (place - base[level]) / ofLevel[level].length;
  }

  public int peakUsed(int resource) {
    return peakUsed[resource];
  }

  public int peakLimit(int resource) {
    return peakLimit[resource];
  }

  /** Returns the node with the peak usage; -1: never used. */
  public int peakNode(int resource) {
    return peakNode[resource];
  }

  public long byteSize() {
    long size = 0;
    for (FreeSlots slots : free) {
      size += slots.byteSize();
    }
    return size;
  }
}
