package io.espalier.core.scheduling;

import io.espalier.core.config.NodeOrder;
import io.espalier.core.topology.Topology;
import org.jspecify.annotations.Nullable;

/**
 * The index of design section 4: per slot a word of bits over jobs (several words beyond 64 jobs),
 * bit j set if and only if {@code open(j, node)} holds along that slot:
 *
 * <pre>
 * open[slot] = (ready[node] | below[node]) and fit(node) and host(node) and allowed[slot]
 * below[node] = OR of open over the child slots of the node
 * </pre>
 *
 * <p>{@code ready} holds only jobs with tasks on the node's own level, so jobs of other levels need
 * no masks. A flip is carried upwards for as long as it flips: setting bits is an OR; clearing some
 * scans the row until it has met all of them. Rows of more than 64 children have levels of
 * summaries above them, each the OR of 64 entries below, so that neither finding a child nor
 * clearing a bit depends on the number of children.
 */
final class OpenIndex {
  private static final int FAN_OUT = 64;
  private static final int MAX_SUMMARIES = 6;

  private final Topology topology;
  private final Ledger ledger;

  /** Conditions beside free slots; mostly none. */
  private final NodeGate[] gates;

  private final Randomness random;
  private final boolean shuffled;
  private final boolean plain;
  private final int words;
  private final int levelCount;
  private final int[] levelEnd;

  private final long[] open;

  /** Of the nodes from {@code readyFrom} on. */
  private final long[] ready;

  private final int readyFrom;
  private final int readyTo;

  /** Of the nodes that have children: a range of the first nodes. */
  private final long[] below;

  private final int innerEnd;

  /** Of the first slots; all others are allowed to all jobs. */
  private final long[] allowed;

  private final int allowedTo;

  /** First entry of a node's summaries, -1 for rows of up to 64; null when all rows are small. */
  private final int @Nullable [] summaryStart;

  private final long[] summaries;

  private final int[] starts = new int[MAX_SUMMARIES];
  private final int[] counts = new int[MAX_SUMMARIES];

  private long work;

  /** Told of every node that is looked at; null: nobody asks. */
  private @Nullable Reservations watch;

  /**
   * @param allowed bits per slot, for a range of the first slots; empty: everything is allowed
   * @param gates conditions on nodes; whoever is one must {@link #refresh} where its mask changes
   */
  OpenIndex(
      Topology topology,
      Ledger ledger,
      JobTable jobs,
      NodeOrder order,
      long[] allowed,
      NodeGate[] gates,
      Randomness random) {
    this.topology = topology;
    this.ledger = ledger;
    this.gates = gates;
    this.random = random;
    this.allowed = allowed;
    shuffled = order == NodeOrder.RANDOM;
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
    ready = new long[Math.multiplyExact(readyTo - readyFrom, words)];
    open = new long[Math.multiplyExact(topology.slots(), words)];
    int inner = topology.size();
    while (inner > 0 && topology.childStart(inner - 1) == topology.childEnd(inner - 1)) {
      inner--;
    }
    innerEnd = inner;
    below = new long[Math.multiplyExact(inner, words)];
    int size = 0;
    int[] first = new int[inner];
    for (int node = 0; node < inner; node++) {
      int count = topology.childEnd(node) - topology.childStart(node);
      first[node] = count > FAN_OUT ? size : -1;
      while (count > FAN_OUT) {
        count = blocks(count);
        size += count;
      }
    }
    summaryStart = size == 0 ? null : first;
    summaries = new long[Math.multiplyExact(size, words)];
  }

  void watch(Reservations reservations) {
    watch = reservations;
  }

  private static int blocks(int count) {
    return (count + FAN_OUT - 1) >>> 6;
  }

  // ---- building, before the first use

  int readyFrom() {
    return readyFrom;
  }

  /** Sets a ready bit without telling anybody; only before {@link #build}. */
  void presetReady(int node, int job) {
    ready[(node - readyFrom) * words + (job >>> 6)] |= 1L << job;
  }

  /**
   * Computes the bits of some nodes from those of their children; call for all nodes, from the last
   * to the first.
   */
  void build(int node) {
    int level = level(node);
    if (node < innerEnd) {
      buildRow(node);
    }
    for (int w = 0; w < words; w++) {
      if (watch != null) {
        watch.looked(node, level, w, ready(node, w) | below(node, w));
      }
      long value = (ready(node, w) | below(node, w)) & fit(node, level, w);
      int slotCount = plain ? 1 : topology.slotCount(node);
      for (int i = 0; i < slotCount; i++) {
        int slot = plain ? node : topology.slot(node, i);
        open[slot * words + w] = value & allowed(slot, w);
      }
    }
  }

  private void buildRow(int node) {
    long[] lower = open;
    int start = topology.childStart(node);
    int count = topology.childEnd(node) - start;
    int next = summaryStart == null ? -1 : summaryStart[node];
    while (count > FAN_OUT) {
      int blocks = blocks(count);
      for (int e = 0; e < count; e++) {
        for (int w = 0; w < words; w++) {
          summaries[(next + (e >>> 6)) * words + w] |= lower[(start + e) * words + w];
        }
      }
      lower = summaries;
      start = next;
      count = blocks;
      next += blocks;
    }
    for (int e = 0; e < count; e++) {
      for (int w = 0; w < words; w++) {
        below[node * words + w] |= lower[(start + e) * words + w];
      }
    }
  }

  /**
   * Computes all bits from the ready bits and compares.
   *
   * @throws IllegalStateException names the first difference
   */
  void check() {
    for (int node = topology.size() - 1; node >= 0; node--) {
      int start = topology.childStart(node);
      int count = topology.childEnd(node) - start;
      for (int w = 0; w < words; w++) {
        long any = 0;
        for (int i = 0; i < count; i++) {
          any |= open[(start + i) * words + w];
        }
        long value = (ready(node, w) | any) & fit(node, level(node), w);
        boolean same = any == below(node, w);
        for (int i = 0; i < topology.slotCount(node); i++) {
          int slot = topology.slot(node, i);
          same &= open[slot * words + w] == (value & allowed(slot, w));
        }
        if (count > FAN_OUT) {
          int depth = summaryLevels(node, count);
          long top = 0;
          for (int i = 0; i < counts[depth - 1]; i++) {
            top |= summaries[(starts[depth - 1] + i) * words + w];
          }
          same &= top == any && summariesAreTight(start, count, depth, w);
        }
        if (!same) {
          throw new IllegalStateException("the index is inconsistent at node " + node);
        }
      }
    }
  }

  private boolean summariesAreTight(int start, int count, int depth, int word) {
    long[] lower = open;
    int lowerStart = start;
    int lowerCount = count;
    for (int k = 0; k < depth; k++) {
      for (int block = 0; block < counts[k]; block++) {
        long any = 0;
        for (int i = block << 6; i < Math.min(lowerCount, (block + 1) << 6); i++) {
          any |= lower[(lowerStart + i) * words + word];
        }
        if (any != summaries[(starts[k] + block) * words + word]) {
          return false;
        }
      }
      lower = summaries;
      lowerStart = starts[k];
      lowerCount = counts[k];
    }
    return true;
  }

  // ---- reading

  int level(int node) {
    int level = 0;
    while (node >= levelEnd[level]) {
      level++;
    }
    return level;
  }

  /** Bits of the jobs that have a startable task. */
  long openAtRoot(int word) {
    return open[word];
  }

  boolean isOpen(int slot, int job) {
    return (open[slot * words + (job >>> 6)] & 1L << job) != 0;
  }

  boolean isReady(int node, int job) {
    return (ready(node, job >>> 6) & 1L << job) != 0;
  }

  /** Whether a job would start something on a node or below it, slots of the node aside. */
  boolean wants(int node, int job) {
    int word = job >>> 6;
    return ((ready(node, word) | below(node, word)) & 1L << job) != 0;
  }

  boolean isAllowed(int slot, int job) {
    return (allowed(slot, job >>> 6) & 1L << job) != 0;
  }

  private long ready(int node, int word) {
    return node >= readyFrom && node < readyTo ? ready[(node - readyFrom) * words + word] : 0;
  }

  private long below(int node, int word) {
    return node < innerEnd ? below[node * words + word] : 0;
  }

  private long allowed(int slot, int word) {
    return slot < allowedTo ? allowed[slot * words + word] : -1L;
  }

  /** Bits of the jobs for which the node has room, and a worker where it has to be its host. */
  private long fit(int node, int level, int word) {
    long fit = ledger.fit(node, level, word);
    for (NodeGate gate : gates) {
      fit &= gate.mask(node, level, word);
    }
    return fit;
  }

  long work() {
    return work;
  }

  long byteSize() {
    return 8L * (open.length + ready.length + below.length + summaries.length + allowed.length)
        + 4L * (summaryStart == null ? 0 : summaryStart.length);
  }

  // ---- finding a task

  /**
   * Walks from the root to a startable task of a job that is open there.
   *
   * @param path receives the node per level, -1 for a level that the path skips
   * @return the task's node
   */
  int descend(int job, int taskLevel, int[] path) {
    int word = job >>> 6;
    long bit = 1L << job;
    int node = 0;
    int level = 0;
    path[0] = 0;
    while (level < taskLevel) {
      int slot = pick(node, word, bit);
      node = plain ? slot : topology.node(slot);
      level++;
      while (node >= levelEnd[level]) {
        path[level++] = -1;
      }
      path[level] = node;
    }
    return node;
  }

  private int pick(int node, int word, long bit) {
    int start = topology.childStart(node);
    int count = topology.childEnd(node) - start;
    if (count <= FAN_OUT) {
      return start + scan(open, start, count, word, bit);
    }
    int depth = summaryLevels(node, count);
    int entry = scan(summaries, starts[depth - 1], counts[depth - 1], word, bit);
    for (int k = depth - 2; k >= 0; k--) {
      entry = pickBelow(summaries, starts[k], counts[k], entry, word, bit);
    }
    return start + pickBelow(open, start, count, entry, word, bit);
  }

  private int pickBelow(long[] bits, int start, int count, int block, int word, long bit) {
    int first = block << 6;
    int length = Math.min(FAN_OUT, count - first);
    return first + scan(bits, start + first, length, word, bit);
  }

  /** Fills {@code starts} and {@code counts} from the lowest summary to the highest. */
  private int summaryLevels(int node, int children) {
    int depth = 0;
    int next = summaryStart == null ? 0 : summaryStart[node];
    int count = children;
    while (count > FAN_OUT) {
      count = blocks(count);
      starts[depth] = next;
      counts[depth++] = count;
      next += count;
    }
    return depth;
  }

  private int scan(long[] bits, int start, int count, int word, long bit) {
    int from = shuffled ? random.below(count) : 0;
    for (int i = from; i < count; i++) {
      if ((bits[(start + i) * words + word] & bit) != 0) {
        work += i - from + 1;
        return i;
      }
    }
    for (int i = 0; i < from; i++) {
      if ((bits[(start + i) * words + word] & bit) != 0) {
        work += count - from + i + 1;
        return i;
      }
    }
    throw new IllegalStateException("a row is marked open for a job and has no open child");
  }

  // ---- changing

  /**
   * Sets or clears a ready bit; {@link #refresh} must follow.
   *
   * @return whether it changed
   */
  boolean setReady(int node, int job, boolean on) {
    int at = (node - readyFrom) * words + (job >>> 6);
    long before = ready[at];
    long after = on ? before | 1L << job : before & ~(1L << job);
    ready[at] = after;
    return before != after;
  }

  /** Brings all words of a node up to date, after its free slots have changed. */
  void refresh(int node, int level) {
    for (int w = 0; w < words; w++) {
      refresh(node, level, w);
    }
  }

  /** Brings one word of a node up to date and carries flips upwards. */
  void refresh(int node, int level, int word) {
    int at = node;
    int atLevel = level;
    while (true) {
      work++;
      if (watch != null) {
        watch.looked(at, atLevel, word, ready(at, word) | below(at, word));
      }
      long value = (ready(at, word) | below(at, word)) & fit(at, atLevel, word);
      if (!plain && topology.slotCount(at) > 1) {
        refreshSlots(at, value, word);
        return;
      }
      int slot = plain ? at : topology.slot(at, 0);
      long now = value & allowed(slot, word);
      long was = open[slot * words + word];
      if (now == was) {
        return;
      }
      open[slot * words + word] = now;
      if (slot == 0) {
        return;
      }
      int parent = topology.parent(slot);
      if (!rowChanged(parent, slot, word, was, now)) {
        return;
      }
      at = parent;
      do {
        atLevel--;
      } while (atLevel > 0 && at < levelEnd[atLevel - 1]);
    }
  }

  /** A node with several parents: its flips go to all of them. */
  private void refreshSlots(int node, long value, int word) {
    int slotCount = topology.slotCount(node);
    for (int i = 0; i < slotCount; i++) {
      int slot = topology.slot(node, i);
      long now = value & allowed(slot, word);
      long was = open[slot * words + word];
      if (now != was) {
        open[slot * words + word] = now;
        int parent = topology.parent(slot);
        if (rowChanged(parent, slot, word, was, now)) {
          refresh(parent, level(parent), word);
        }
      }
    }
  }

  /**
   * Brings the summaries of a row and its parent's {@code below} up to date.
   *
   * @return whether {@code below} changed
   */
  private boolean rowChanged(int parent, int slot, int word, long was, long now) {
    int start = topology.childStart(parent);
    int count = topology.childEnd(parent) - start;
    int entry = slot - start;
    long set = now & ~was;
    long lost = was & ~now;
    long[] lower = open;
    int next = count > FAN_OUT && summaryStart != null ? summaryStart[parent] : 0;
    while (count > FAN_OUT) {
      int block = entry >>> 6;
      int first = block << 6;
      int at = (next + block) * words + word;
      long before = summaries[at];
      long after = before | set;
      if (lost != 0) {
        int length = Math.min(FAN_OUT, count - first);
        after &= ~goneFrom(lower, start + first, length, word, lost);
      }
      if (after == before) {
        return false;
      }
      summaries[at] = after;
      set = after & ~before;
      lost = before & ~after;
      lower = summaries;
      start = next;
      count = blocks(count);
      next += count;
      entry = block;
    }
    int at = parent * words + word;
    long before = below[at];
    long after = before | set;
    if (lost != 0) {
      after &= ~goneFrom(lower, start, count, word, lost);
    }
    below[at] = after;
    return after != before;
  }

  /** Those of some bits that no entry of a row has. */
  private long goneFrom(long[] bits, int start, int count, int word, long lost) {
    long gone = lost;
    int i = 0;
    while (i < count && gone != 0) {
      gone &= ~bits[(start + i++) * words + word];
    }
    work += i;
    return gone;
  }
}
