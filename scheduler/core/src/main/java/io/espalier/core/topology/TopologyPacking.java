package io.espalier.core.topology;

import io.espalier.core.config.NodeOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Packs a topology once: converts from arrival order to the numbering documented in {@link
 * Topology}.
 *
 * <p>The children of each parent are gathered by a counting sort over parents, sorted where the
 * node order requires it, and then numbered from the root down: the nodes of a level are numbered
 * in the order in which the children of the nodes above, taken by number, first mention them.
 */
final class TopologyPacking {
  private final TopologyBuilder from;
  private final NodeOrder order;
  private final int entries;
  private final int slots;

  /** By entry: the start of its children in {@link #rows}. */
  private final int[] rowStarts;

  /** Arrival slots, gathered by parent. */
  private final int[] rows;

  TopologyPacking(TopologyBuilder from, NodeOrder order) {
    this.from = from;
    this.order = order;
    this.entries = from.size();
    this.slots = from.slotCount();
    this.rowStarts = new int[entries + 1];
    this.rows = new int[slots - 1];
  }

  PackedTopology pack() {
    gatherRows();
    sortRows();
    int[] levelStarts = levelStarts();
    int[] entryOf = new int[entries];
    int[] numberOf = new int[entries];
    number(levelStarts, entryOf, numberOf);

    int[] childStarts = new int[entries + 1];
    int[] parents = new int[slots];
    int[] oldSlots = new int[slots];
    parents[0] = -1;
    int slot = 1;
    for (int node = 0; node < entries; node++) {
      childStarts[node] = slot;
      int entry = entryOf[node];
      for (int i = rowStarts[entry]; i < rowStarts[entry + 1]; i++) {
        parents[slot] = node;
        oldSlots[slot] = rows[i];
        slot++;
      }
    }
    childStarts[entries] = slot;

    long[] positions = new long[entries];
    for (int node = 0; node < entries; node++) {
      positions[node] = from.entryPosition(entryOf[node]);
    }
    return new PackedTopology(
        from.levels(),
        levelStarts,
        new NameTable(from.pool(), positions, levelStarts),
        childStarts,
        parents,
        slotMap(oldSlots, numberOf),
        disabled(oldSlots),
        from.tags().packed(oldSlots),
        from.attributes().packed(oldSlots),
        from.roles().packed(oldSlots),
        from.spreadGroups());
  }

  private void gatherRows() {
    for (int slot = 1; slot < slots; slot++) {
      rowStarts[from.slotParent(slot) + 1]++;
    }
    for (int entry = 0; entry < entries; entry++) {
      rowStarts[entry + 1] += rowStarts[entry];
    }
    int[] next = Arrays.copyOf(rowStarts, entries);
    for (int slot = 1; slot < slots; slot++) {
      rows[next[from.slotParent(slot)]++] = slot;
    }
  }

  private void sortRows() {
    boolean byName = order == NodeOrder.LEXICOGRAPHIC;
    if (!byName && !from.levelsSkipped()) {
      return;
    }
    int[] scratch = new int[rows.length];
    for (int entry = 0; entry < entries; entry++) {
      sort(rowStarts[entry], rowStarts[entry + 1], byName, scratch);
    }
  }

  /** Sorts stably by merging; takes linear time where the input is already in order. */
  private void sort(int start, int end, boolean byName, int[] scratch) {
    if (end - start < 2) {
      return;
    }
    int middle = (start + end) >>> 1;
    sort(start, middle, byName, scratch);
    sort(middle, end, byName, scratch);
    if (compare(rows[middle - 1], rows[middle], byName) <= 0) {
      return;
    }
    System.arraycopy(rows, start, scratch, start, middle - start);
    int left = start;
    int right = middle;
    for (int to = start; left < middle; to++) {
      boolean takeRight = right < end && compare(rows[right], scratch[left], byName) < 0;
      rows[to] = takeRight ? rows[right++] : scratch[left++];
    }
  }

  private int compare(int slotA, int slotB, boolean byName) {
    int a = from.slotEntry(slotA);
    int b = from.slotEntry(slotB);
    int byLevel = Integer.compare(from.entryLevel(a), from.entryLevel(b));
    return byLevel != 0 || !byName
        ? byLevel
        : from.pool().compare(from.entryPosition(a), from.entryPosition(b));
  }

  private int[] levelStarts() {
    int[] starts = new int[from.levels().count() + 1];
    for (int level = 0; level < from.levels().count(); level++) {
      starts[level + 1] = starts[level] + from.entriesOn(level);
    }
    return starts;
  }

  private void number(int[] levelStarts, int[] entryOf, int[] numberOf) {
    Arrays.fill(numberOf, -1);
    numberOf[0] = 0;
    int next = 1;
    for (int level = 1; level < from.levels().count(); level++) {
      int firstParent = from.levelsSkipped() ? 0 : levelStarts[level - 1];
      for (int parent = firstParent; parent < levelStarts[level]; parent++) {
        int row = entryOf[parent];
        for (int i = rowStarts[row]; i < rowStarts[row + 1]; i++) {
          int entry = from.slotEntry(rows[i]);
          if (from.entryLevel(entry) == level && numberOf[entry] < 0) {
            numberOf[entry] = next;
            entryOf[next] = entry;
            next++;
          }
        }
      }
    }
  }

  private PackedTopology.@Nullable SlotMap slotMap(int[] oldSlots, int[] numberOf) {
    int[] nodes = new int[slots];
    boolean identity = slots == entries;
    for (int slot = 0; slot < slots; slot++) {
      nodes[slot] = numberOf[from.slotEntry(oldSlots[slot])];
      identity &= nodes[slot] == slot;
    }
    if (identity) {
      return null;
    }
    int[] starts = new int[entries + 1];
    for (int node : nodes) {
      starts[node + 1]++;
    }
    for (int node = 0; node < entries; node++) {
      starts[node + 1] += starts[node];
    }
    int[] next = Arrays.copyOf(starts, entries);
    int[] nodeSlots = new int[slots];
    for (int slot = 0; slot < slots; slot++) {
      nodeSlots[next[nodes[slot]]++] = slot;
    }
    return new PackedTopology.SlotMap(nodes, starts, nodeSlots);
  }

  private long @Nullable [] disabled(int[] oldSlots) {
    IntList disabled = from.disabledSlots();
    if (disabled.size() == 0) {
      return null;
    }
    long[] old = new long[(slots + 63) >>> 6];
    for (int i = 0; i < disabled.size(); i++) {
      old[disabled.get(i) >>> 6] |= 1L << disabled.get(i);
    }
    long[] result = new long[old.length];
    for (int slot = 0; slot < slots; slot++) {
      if ((old[oldSlots[slot] >>> 6] & (1L << oldSlots[slot])) != 0) {
        result[slot >>> 6] |= 1L << slot;
      }
    }
    return result;
  }
}
