package io.espalier.core.scheduling;

import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.topology.Topology;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The free slots of every node, and which jobs fit into them. The jobs that fit are looked up, not
 * compared one by one: per resource there is a table from free slots to the bits of the jobs that
 * need no more. A need of 0 always fits, also where more is in use than the limit (L18).
 */
final class Ledger {
  /** Up to this need the place in the table is looked up, above it is searched for. */
  private static final int LARGEST_DIRECT = 1024;

  private static final int[] NONE = {};

  private final int words;
  private final int[][] ofLevel;
  private final int[] levelStart;
  private final int[] base;
  private final int[] free;

  /** By resource: on all nodes for which nothing else is said. */
  private final int[] limits;

  /** By resource: the sum of the limits of all nodes. */
  private final long[] totals;

  private int totalsVersion;

  /**
   * By resource: the configured limits of single nodes by their number in the level, {@link
   * NodeLimits#OF_LEVEL} where there is none; null where no node has one, or an operator has given
   * the level another limit.
   */
  private final int[] @Nullable [] ofNodes;

  /** By resource: the number of the first node of its level. */
  private final int[] first;

  /** What operators have given single nodes, by place in {@link #free}: few. */
  private final Map<Integer, Integer> ownLimits = new HashMap<>();

  /** The resource of which the limit is being changed node by node; -1: none. */
  private int shifting = -1;

  private int shiftedTo;
  private int shiftLimit;
  private int @Nullable [] shiftOfNodes;

  private final OverLimits over;

  /** By resource: the distinct needs, ascending, without 0. */
  private final int[][] thresholds;

  /** By resource and free slots: how many thresholds are met. Empty where needs are too large. */
  private final char[][] direct;

  /** By resource: for each number of thresholds met the bits of the jobs that fit. */
  private final long[][] fits;

  /** By resource: the highest use so far, its node and the limit then. */
  private final int[] peakUsed;

  private final int[] peakNode;
  private final int[] peakLimit;

  Ledger(
      Topology topology,
      ResourceCatalog catalog,
      NodeLimits configured,
      JobTable jobs,
      OverLimits over) {
    this.over = over;
    Levels levels = topology.levels();
    words = jobs.words;
    ofLevel = new int[levels.count()][];
    levelStart = new int[levels.count()];
    base = new int[levels.count()];
    int size = 0;
    for (int level = 0; level < levels.count(); level++) {
      ofLevel[level] = catalog.ofLevel(level).stream().mapToInt(Resource::index).toArray();
      levelStart[level] = topology.levelStart(level);
      base[level] = size;
      int nodes = topology.levelEnd(level) - levelStart[level];
      size = Math.addExact(size, Math.multiplyExact(nodes, ofLevel[level].length));
    }
    free = new int[size];
    int count = catalog.count();
    limits = new int[count];
    totals = new long[count];
    ofNodes = new int[count][];
    first = new int[count];
    for (int r = 0; r < count; r++) {
      limits[r] = configured.ofLevel(r);
      ofNodes[r] = configured.ofNodes(r);
      first[r] = levelStart[catalog.get(r).level()];
    }
    for (int level = 0; level < levels.count(); level++) {
      int end = level + 1 < base.length ? base[level + 1] : size;
      int width = ofLevel[level].length;
      for (int i = base[level]; i < end; i++) {
        int node = levelStart[level] + (i - base[level]) / width;
        int resource = ofLevel[level][(i - base[level]) % width];
        free[i] = sharedLimit(node, resource);
        totals[resource] += free[i];
      }
    }
    thresholds = new int[count][];
    direct = new char[count][];
    fits = new long[count][];
    for (int r = 0; r < count; r++) {
      prepare(r, catalog.get(r).level(), jobs);
    }
    peakUsed = new int[count];
    peakNode = new int[count];
    peakLimit = new int[count];
    Arrays.fill(peakNode, -1);
  }

  private void prepare(int resource, int level, JobTable jobs) {
    int[] needs = new int[jobs.count()];
    for (int j = 0; j < needs.length; j++) {
      // Nodes of this level are on no path of a job with tasks above it.
      needs[j] = jobs.levels[j] >= level ? jobs.needs[j][resource] : 0;
    }
    int[] steps = Arrays.stream(needs).filter(n -> n > 0).sorted().distinct().toArray();
    thresholds[resource] = steps;
    fits[resource] = new long[(steps.length + 1) * words];
    for (int met = 0; met <= steps.length; met++) {
      int room = met == 0 ? 0 : steps[met - 1];
      for (int j = 0; j < needs.length; j++) {
        if (needs[j] <= room) {
          fits[resource][met * words + (j >>> 6)] |= 1L << j;
        }
      }
    }
    int largest = steps.length == 0 ? 0 : steps[steps.length - 1];
    direct[resource] = new char[largest <= LARGEST_DIRECT ? largest + 1 : 0];
    int met = 0;
    for (int room = 0; room < direct[resource].length; room++) {
      met += met < steps.length && steps[met] == room ? 1 : 0;
      direct[resource][room] = (char) met;
    }
  }

  /** How many thresholds of a resource are met by that many free slots. */
  private int met(int resource, int room) {
    if (room <= 0) {
      return 0;
    }
    char[] table = direct[resource];
    if (table.length > 0) {
      return table[Math.min(room, table.length - 1)];
    }
    int at = Arrays.binarySearch(thresholds[resource], room);
    return at >= 0 ? at + 1 : -at - 1;
  }

  private int at(int level, int node) {
    return base[level] + (node - levelStart[level]) * ofLevel[level].length;
  }

  /** The bits of the jobs for whose needs the node has enough left of everything. */
  long fit(int node, int level, int word) {
    int[] resources = ofLevel[level];
    long fit = -1L;
    if (resources.length > 0) {
      int at = at(level, node);
      for (int k = 0; k < resources.length; k++) {
        int r = resources[k];
        fit &= fits[r][met(r, free[at + k]) * words + word];
      }
    }
    return fit;
  }

  /**
   * As {@link #fit}, when so much is kept for another job.
   *
   * @param kept by resource
   */
  long fitBeside(int node, int level, int word, int[] kept) {
    int[] resources = ofLevel[level];
    long fit = -1L;
    for (int k = 0; k < resources.length; k++) {
      int r = resources[k];
      int room = free[at(level, node) + k] - kept[r];
      fit &= fits[r][met(r, room) * words + word];
    }
    return fit;
  }

  /** Whether the node has enough left of that resource for a job that needs so much. */
  static boolean fits(int need, int room) {
    return need <= 0 || need <= room;
  }

  int resourceCount() {
    return limits.length;
  }

  boolean hasResources(int level) {
    return ofLevel[level].length > 0;
  }

  int[] resources(int level) {
    return ofLevel[level];
  }

  /**
   * Takes slots on one node.
   *
   * @param amounts by resource
   * @return whether other jobs fit now than before
   */
  boolean charge(int node, int level, int[] amounts) {
    int[] resources = ofLevel[level];
    boolean changed = false;
    int at = at(level, node);
    for (int k = 0; k < resources.length; k++) {
      int r = resources[k];
      int amount = amounts[r];
      if (amount != 0) {
        int before = free[at + k];
        int after = before - amount;
        free[at + k] = after;
        over.changed(r, at + k, before, after);
        changed |= met(r, before) != met(r, after);
        int limit = limitAt(at + k, node, r);
        if (limit - after > peakUsed[r]) {
          peakUsed[r] = limit - after;
          peakLimit[r] = limit;
          peakNode[r] = node;
        }
      }
    }
    return changed;
  }

  /**
   * What can be counted of what a task holds that was not started here: where numbers would run
   * over, less.
   *
   * @param path node per level, -1 for none
   * @return {@code amounts} where nothing does
   */
  int[] countable(int[] path, int[] amounts) {
    int[] countable = amounts;
    for (int level = 0; level < path.length; level++) {
      for (int r : path[level] < 0 ? NONE : ofLevel[level]) {
        long used = (long) limit(path[level], level, r) - free(path[level], level, r);
        if (used + amounts[r] > Integer.MAX_VALUE) {
          countable = countable == amounts ? amounts.clone() : countable;
          countable[r] = (int) (Integer.MAX_VALUE - used);
        }
      }
    }
    return countable;
  }

  /** Gives slots back; as {@link #charge}. */
  boolean release(int node, int level, int[] amounts) {
    int[] resources = ofLevel[level];
    boolean changed = false;
    int at = at(level, node);
    for (int k = 0; k < resources.length; k++) {
      int r = resources[k];
      int amount = amounts[r];
      if (amount != 0) {
        int before = free[at + k];
        free[at + k] = before + amount;
        over.changed(r, at + k, before, before + amount);
        changed |= met(r, before) != met(r, before + amount);
      }
    }
    return changed;
  }

  /** Reads the free slots of a node; see {@link Occupancy#glance}. */
  long glance(int node, int level) {
    return ofLevel[level].length == 0 ? 0 : free[at(level, node)];
  }

  int free(int node, int level, int resource) {
    return free[place(node, level, resource)];
  }

  // ---- limits

  /** Slots on a node in all. */
  int limit(int node, int level, int resource) {
    return limitAt(place(node, level, resource), node, resource);
  }

  private int limitAt(int place, int node, int resource) {
    Integer own = ownLimits.isEmpty() ? null : ownLimits.get(place);
    return own != null ? own : sharedLimit(node, resource);
  }

  private int sharedLimit(int node, int resource) {
    boolean shifted = resource == shifting && node < shiftedTo;
    int[] own = shifted ? shiftOfNodes : ofNodes[resource];
    int limit = own == null ? NodeLimits.OF_LEVEL : own[node - first[resource]];
    if (limit != NodeLimits.OF_LEVEL) {
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

  /**
   * Gives a node a limit of its own, below what is in use or not; as {@link #charge}.
   *
   * @param limit null: that of its level again
   */
  boolean setOwnLimit(int node, int level, int resource, @Nullable Integer limit) {
    int place = place(node, level, resource);
    int before = limitAt(place, node, resource);
    if (limit == null) {
      ownLimits.remove(place);
    } else {
      ownLimits.put(place, limit);
    }
    return move(place, resource, limitAt(place, node, resource) - before);
  }

  private boolean move(int place, int resource, int by) {
    totals[resource] += by;
    totalsVersion++;
    int before = free[place];
    free[place] = before + by;
    over.changed(resource, place, before, before + by);
    return met(resource, before) != met(resource, before + by);
  }

  /**
   * Begins to change the limit of a level: {@link #shift} must follow for all its nodes, in order,
   * then {@link #endShift}.
   *
   * @param limitsOfNodes see {@link NodeLimits#ofNodes}
   */
  void beginShift(int resource, int limit, int @Nullable [] limitsOfNodes, int firstNode) {
    shifting = resource;
    shiftLimit = limit;
    shiftOfNodes = limitsOfNodes;
    shiftedTo = firstNode;
  }

  /** Changes the limit of the next node; as {@link #charge}. */
  boolean shift(int node, int level) {
    int place = place(node, level, shifting);
    int before = sharedLimit(node, shifting);
    shiftedTo = node + 1;
    return (ownLimits.isEmpty() || !ownLimits.containsKey(place))
        && move(place, shifting, sharedLimit(node, shifting) - before);
  }

  void endShift() {
    limits[shifting] = shiftLimit;
    ofNodes[shifting] = shiftOfNodes;
    shiftOfNodes = null;
    shifting = -1;
  }

  /** The number of a place of a resource of a level, by which {@link OverLimits} names it. */
  int place(int node, int level, int resource) {
    return at(level, node) + Arrays.binarySearch(ofLevel[level], resource);
  }

  /** The node of a place. */
  int nodeOf(int place, int level) {
    return levelStart[level] + (place - base[level]) / ofLevel[level].length;
  }

  int peakUsed(int resource) {
    return peakUsed[resource];
  }

  int peakLimit(int resource) {
    return peakLimit[resource];
  }

  /** -1: never used. */
  int peakNode(int resource) {
    return peakNode[resource];
  }

  long byteSize() {
    return 4L * free.length;
  }
}
