package io.espalier.core.scheduling.index;

import io.espalier.core.config.NodeOrder;
import io.espalier.core.scheduling.capacity.NodeCapacity;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.spi.SplitMix64;
import io.espalier.core.scheduling.util.JobBitMatrix;
import io.espalier.core.topology.Topology;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The index of startable tasks (docs/design/design.md#the-index). It has one bit per edge and job,
 * which is set if and only if {@code open(j, node)} is true along that edge. The code calls an edge
 * a slot, as in {@link Topology}.
 *
 * <pre>
 * open[slot] = (ready[node] | below[node]) and fit(node) and gates(node) and allowed[slot]
 * below[node] = OR of open over the child slots of the node
 * </pre>
 *
 * <p>{@code ready} contains only jobs with tasks on the node's own level, so jobs of other levels
 * need no masks. One operation evaluates a node for 64 jobs ({@link JobBitMatrix}). A flip is
 * propagated upwards as long as it causes further flips, along rows of children ({@link
 * SiblingBitmaps}).
 */
public final class StartableIndex {
  private final Topology topology;
  private final NodeCapacity ledger;

  /** Conditions other than free slots; usually none. */
  private NodeCondition[] gates;

  private final boolean plain;
  private final int words;
  private final int levelCount;
  private final int[] levelEnd;

  private final SiblingBitmaps rows;

  /** The ready bits of the nodes from {@code readyFrom} on. */
  private final JobBitMatrix ready;

  private final int readyFrom;
  private final int readyTo;

  /** The bits of the first edges; all other edges are allowed for all jobs. */
  private final long[] allowed;

  private final int allowedTo;

  /** The number of values computed so far. */
  private long evaluations;

  /** Receives every node that is evaluated; may be null. */
  private @Nullable NodeWatcher watch;

  /**
   * @param allowed bits per edge, for a range of the first edges; empty: everything is allowed
   * @param gates conditions on nodes; a condition must call {@link #refresh} where its mask changes
   */
  public StartableIndex(
      Topology topology,
      NodeCapacity ledger,
      JobTable jobs,
      NodeOrder order,
      long[] allowed,
      NodeCondition[] gates,
      SplitMix64 random) {
    this.topology = topology;
    this.ledger = ledger;
    this.gates = gates;
    this.allowed = allowed;
    plain = topology.slotsAreNodes();
    words = jobs.words;
    allowedTo = allowed.length / words;
    levelCount = topology.levels().count();
    levelEnd = new int[levelCount];
    for (int level = 0; level < levelCount; level++) {
      levelEnd[level] = topology.levelEnd(level);
    }
    int[] range = jobs.levelRange();
    readyFrom = topology.levelStart(range[0]);
    readyTo = range[1] < 0 ? readyFrom : topology.levelEnd(range[1]);
    ready = new JobBitMatrix(readyTo - readyFrom, jobs.count());
    rows = new SiblingBitmaps(topology, jobs.count(), order == NodeOrder.RANDOM, random);
  }

  /** Sets a watcher that receives each evaluation of a node. */
  public void watch(NodeWatcher watcher) {
    watch = watcher;
  }

  /** Adds a condition; {@link #refresh} must follow where it lets less pass than everything. */
  void add(NodeCondition gate) {
    gates = Arrays.copyOf(gates, gates.length + 1);
    gates[gates.length - 1] = gate;
  }

  /** Removes a condition; {@link #refresh} must follow where it let less pass. */
  void remove(NodeCondition gate) {
    gates = Arrays.stream(gates).filter(each -> each != gate).toArray(NodeCondition[]::new);
  }

  /** Returns whether each evaluation of a node asks a condition. */
  boolean asks(NodeCondition gate) {
    return Arrays.asList(gates).contains(gate);
  }

  // ---- building, before the first use

  /**
   * Computes the bits of a node from those of its children; must be called for all nodes, from the
   * last to the first.
   */
  public void build(int node) {
    int level = level(node);
    for (int w = 0; w < words; w++) {
      long value = looked(node, level, w);
      int slotCount = plain ? 1 : topology.slotCount(node);
      for (int i = 0; i < slotCount; i++) {
        int slot = plain ? node : topology.slot(node, i);
        long now = value & allowed(slot, w);
        if (now != 0) {
          rows.write(topology.parent(slot), slot, w, 0, now);
        }
      }
    }
  }

  /**
   * Recomputes all bits from the ready bits and compares.
   *
   * @throws IllegalStateException with the first difference
   */
  public void check() {
    for (int node = topology.size() - 1; node >= 0; node--) {
      for (int w = 0; w < words; w++) {
        boolean same = rows.isTight(node, w);
        long value = value(node, level(node), w);
        for (int i = 0; i < topology.slotCount(node); i++) {
          int slot = topology.slot(node, i);
          same &= rows.open(slot, w) == (value & allowed(slot, w));
        }
        if (!same) {
          throw new IllegalStateException("the index is inconsistent at node " + node);
        }
      }
    }
  }

  // ---- reading

  public int level(int node) {
    int level = 0;
    while (node >= levelEnd[level]) {
      level++;
    }
    return level;
  }

  /** Returns the bits of the jobs that have a startable task. */
  public long openAtRoot(int word) {
    return rows.open(0, word);
  }

  public boolean isOpen(int slot, int job) {
    return rows.isOpen(slot, job);
  }

  public boolean isReady(int node, int job) {
    return (ready(node, job >>> 6) & 1L << job) != 0;
  }

  /**
   * Returns whether a job could start a task on a node or below it, regardless of the node's own
   * slots.
   */
  public boolean wants(int node, int job) {
    int word = job >>> 6;
    return ((ready(node, word) | rows.below(node, word)) & 1L << job) != 0;
  }

  public boolean isAllowed(int slot, int job) {
    return (allowed(slot, job >>> 6) & 1L << job) != 0;
  }

  private long ready(int node, int word) {
    return node >= readyFrom && node < readyTo ? ready.get(node - readyFrom, word) : 0;
  }

  private long allowed(int slot, int word) {
    return slot < allowedTo ? allowed[slot * words + word] : -1L;
  }

  /** Reads the bits of a node, to have them in the cache; what it returns means nothing. */
  public long readAhead(int node) {
    return plain ? rows.readAhead(node) : 0;
  }

  /** Does the same for the ready bits of a node that has tasks. */
  public long readAheadReady(int node) {
    return ready.near(node - readyFrom);
  }

  /** Returns the bits of the jobs that fit on the node and meet all conditions on it. */
  private long fit(int node, int level, int word) {
    long fit = ledger.fit(node, level, word);
    for (NodeCondition gate : gates) {
      fit &= gate.mask(node, level, word);
    }
    return fit;
  }

  /** Returns the number of words scanned and values computed so far. */
  public long work() {
    return evaluations + rows.work();
  }

  public long byteSize() {
    return rows.byteSize() + ready.byteSize() + 8L * allowed.length;
  }

  // ---- finding a task

  /**
   * Descends from the root to a startable task of a job that is open there.
   *
   * @param path receives the node per level, -1 for a level that the path skips
   * @return the task's node
   */
  public int descend(int job, int taskLevel, int[] path) {
    path[0] = 0;
    return descend(job, taskLevel, path, 0);
  }

  /**
   * Descends to another startable task below a node of a path.
   *
   * @param path the path down to the node; receives the rest as in {@link #descend}
   * @param from the level of the node, which is on the path
   * @return the task's node; -1: the job can start no task below that node
   */
  public int descendAgain(int job, int taskLevel, int[] path, int from) {
    int above = -1;
    for (int level = 0; level <= from; level++) {
      if (path[level] >= 0) {
        if (!isOpenUnder(above, path[level], job)) {
          return -1;
        }
        above = path[level];
      }
    }
    return descend(job, taskLevel, path, from);
  }

  /** Returns whether a node is open for a job as a child of another. */
  private boolean isOpenUnder(int parent, int node, int job) {
    if (plain) {
      return isOpen(node, job);
    }
    for (int i = 0; i < topology.slotCount(node); i++) {
      int slot = topology.slot(node, i);
      if ((parent < 0 || topology.parent(slot) == parent) && isOpen(slot, job)) {
        return true;
      }
    }
    return false;
  }

  private int descend(int job, int taskLevel, int[] path, int from) {
    int node = path[from];
    int level = from;
    while (level < taskLevel) {
      int slot = rows.pick(node, job);
      node = plain ? slot : topology.node(slot);
      level++;
      while (node >= levelEnd[level]) {
        path[level++] = -1;
      }
      path[level] = node;
    }
    return node;
  }

  // ---- updates

  /**
   * Sets or clears a ready bit; {@link #refresh}, {@link #settle} or {@link #build} must follow.
   *
   * @return whether the bit changed
   */
  public boolean setReady(int node, int job, boolean on) {
    long before = ready.get(node - readyFrom, job >>> 6);
    long after = on ? before | 1L << job : before & ~(1L << job);
    ready.put(node - readyFrom, job >>> 6, after);
    return before != after;
  }

  /** Updates all words of a node after its free slots have changed. */
  public void refresh(int node, int level) {
    for (int w = 0; w < words; w++) {
      refresh(node, level, w);
    }
  }

  /** Updates one word of a node and propagates flips upwards. */
  public void refresh(int node, int level, int word) {
    int at = node;
    int atLevel = level;
    while (true) {
      long value = looked(at, atLevel, word);
      if (!plain && topology.slotCount(at) > 1) {
        refreshSlots(at, value, word);
        return;
      }
      int slot = plain ? at : topology.slot(at, 0);
      long now = value & allowed(slot, word);
      long was = rows.open(slot, word);
      if (now == was) {
        return;
      }
      int parent = topology.parent(slot);
      if (!rows.write(parent, slot, word, was, now)) {
        return;
      }
      at = parent;
      do {
        atLevel--;
      } while (atLevel > 0 && at < levelEnd[atLevel - 1]);
    }
  }

  /** Propagates the flips of a node with several parents to all of them. */
  private void refreshSlots(int node, long value, int word) {
    int slotCount = topology.slotCount(node);
    for (int i = 0; i < slotCount; i++) {
      int slot = topology.slot(node, i);
      long now = value & allowed(slot, word);
      long was = rows.open(slot, word);
      if (now != was) {
        int parent = topology.parent(slot);
        if (rows.write(parent, slot, word, was, now)) {
          refresh(parent, level(parent), word);
        }
      }
    }
  }

  /**
   * Updates a path from the bottom up after a task on it has started or ended.
   *
   * @param path the task's node per level, -1 for none
   * @param lowest the level of the last node
   * @param isOfTree whether each node is the parent of the next; then each is evaluated only once
   * @param refit by level: whether the set of jobs that fit on the node has changed
   * @param word the word in which ready bits of the last node have changed, or -1
   */
  public void settle(int[] path, int lowest, boolean isOfTree, boolean[] refit, int word) {
    if (plain && isOfTree) {
      for (int w = 0; w < words; w++) {
        settle(path, lowest, refit, w, w == word);
      }
      return;
    }
    if (word >= 0 && !refit[lowest]) {
      refresh(path[lowest], lowest, word);
    }
    for (int level = lowest; level >= 0; level--) {
      if (refit[level]) {
        refresh(path[level], level);
      }
    }
  }

  private void settle(int[] path, int lowest, boolean[] refit, int word, boolean changed) {
    boolean dirty = changed;
    int level = lowest;
    while (level >= 0) {
      int above = level - 1;
      while (above >= 0 && path[above] < 0) {
        above--;
      }
      if (dirty || refit[level]) {
        long now = looked(path[level], level, word) & allowed(path[level], word);
        long was = rows.open(path[level], word);
        dirty = now != was && rows.write(above < 0 ? -1 : path[above], path[level], word, was, now);
      }
      level = above;
    }
  }

  private long looked(int node, int level, int word) {
    if (watch != null) {
      watch.evaluated(node, level, word, ready(node, word) | rows.below(node, word));
    }
    return value(node, level, word);
  }

  /**
   * Computes the bits of a node from its own and those of its children, without the allowed bits of
   * its edges.
   */
  private long value(int node, int level, int word) {
    evaluations++;
    return (ready(node, word) | rows.below(node, word)) & fit(node, level, word);
  }
}
