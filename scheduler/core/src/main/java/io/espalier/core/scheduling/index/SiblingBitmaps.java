package io.espalier.core.scheduling.index;

import io.espalier.core.scheduling.spi.SplitMix64;
import io.espalier.core.scheduling.util.JobBitMatrix;
import io.espalier.core.topology.Topology;
import org.jspecify.annotations.Nullable;

/**
 * The open bits of all edges, grouped in rows of siblings. It finds the jobs that are open in any
 * child of a node, and a child that is open for a job.
 *
 * <p>A long row has levels of summaries above it, each the OR of blocks of the level below. Blocks
 * are short, so finding a child and clearing a bit read a few words per level, and setting a bit a
 * single one, whatever the number of children.
 */
final class SiblingBitmaps {
  private static final int MAX_SUMMARIES = 12;

  private final Topology topology;
  private final SplitMix64 random;
  private final boolean shuffled;

  /** The number of entries per block, as a power of two; a block fills whole words. */
  private final int blockShift;

  /** The maximum length of a row without summaries. */
  private final int shortRow;

  /** By edge. */
  private final JobBitMatrix open;

  /** By node, for a range of the first nodes that contains all with children. */
  private final JobBitMatrix below;

  private final int innerEnd;

  /** By node: the first entry of its summaries, -1 for short rows; null when all rows are short. */
  private final int @Nullable [] summaryStart;

  private final JobBitMatrix summaries;

  private final int[] starts = new int[MAX_SUMMARIES];
  private final int[] counts = new int[MAX_SUMMARIES];

  /**
   * @param shuffled whether to pick random children instead of the first
   */
  SiblingBitmaps(Topology topology, int jobs, boolean shuffled, SplitMix64 random) {
    this.topology = topology;
    this.random = random;
    this.shuffled = shuffled;
    blockShift = Math.max(3, Integer.numberOfTrailingZeros(JobBitMatrix.placesPerWord(jobs)));
    shortRow = 4 << blockShift;
    open = new JobBitMatrix(topology.slots(), jobs);
    int inner = topology.size();
    while (inner > 0 && topology.childStart(inner - 1) == topology.childEnd(inner - 1)) {
      inner--;
    }
    innerEnd = inner;
    below = new JobBitMatrix(inner, jobs);
    int size = 0;
    int[] first = new int[inner];
    for (int node = 0; node < inner; node++) {
      int start = topology.childStart(node);
      int count = topology.childEnd(node) - start;
      first[node] = count > shortRow ? size : -1;
      while (count > shortRow) {
        count = blocks(start, count);
        start = size;
        size = Math.addExact(size, aligned(count));
      }
    }
    summaryStart = size == 0 ? null : first;
    summaries = new JobBitMatrix(size, jobs);
  }

  /**
   * Returns the number of blocks of a row. Blocks begin at multiples of their length, so the first
   * one may be shorter.
   */
  private int blocks(int start, int count) {
    return ((start + count - 1) >>> blockShift) - (start >>> blockShift) + 1;
  }

  private int aligned(int count) {
    return (count + (1 << blockShift) - 1) >>> blockShift << blockShift;
  }

  // ---- reading

  long open(int slot, int word) {
    return open.get(slot, word);
  }

  boolean isOpen(int slot, int job) {
    return open.has(slot, job);
  }

  /** Returns the jobs that are open in any child. */
  long below(int node, int word) {
    return node < innerEnd ? below.get(node, word) : 0;
  }

  /** Reads the bits of a node whose number is also that of its edge. */
  long readAhead(int node) {
    long bits = open.near(node);
    return node < innerEnd ? bits + below.near(node) + topology.childStart(node) : bits;
  }

  /** Returns the number of words read so far. */
  long work() {
    return open.work() + summaries.work();
  }

  long byteSize() {
    return open.byteSize()
        + below.byteSize()
        + summaries.byteSize()
        + 4L * (summaryStart == null ? 0 : summaryStart.length);
  }

  // ---- finding

  /**
   * Picks a child that is open for a job: the first one, or the first one from a random position
   * on.
   *
   * @return its edge
   */
  int pick(int node, int job) {
    int start = topology.childStart(node);
    int count = topology.childEnd(node) - start;
    if (count <= shortRow) {
      return pick(open, start, start + count, job);
    }
    int depth = summaries(node, start, count);
    int top = depth - 1;
    int entry = pick(summaries, starts[top], starts[top] + counts[top], job);
    for (int k = top - 1; k >= 0; k--) {
      entry = pickInBlock(summaries, starts[k], counts[k], entry - starts[k + 1], job);
    }
    return pickInBlock(open, start, count, entry - starts[0], job);
  }

  private int pickInBlock(JobBitMatrix bits, int start, int count, int block, int job) {
    return pick(bits, blockStart(start, block), blockEnd(start, count, block), job);
  }

  private int blockStart(int start, int block) {
    return Math.max(start, ((start >>> blockShift) + block) << blockShift);
  }

  private int blockEnd(int start, int count, int block) {
    return Math.min(start + count, ((start >>> blockShift) + block + 1) << blockShift);
  }

  private int pick(JobBitMatrix bits, int from, int to, int job) {
    int first = shuffled ? from + random.below(to - from) : from;
    int place = bits.next(first, to, job);
    if (place < 0) {
      place = bits.next(from, first, job);
    }
    if (place < 0) {
      throw new IllegalStateException("a row is marked open for a job and has no open child");
    }
    return place;
  }

  /** Fills {@code starts} and {@code counts} from the lowest summary to the highest. */
  private int summaries(int node, int children, int childCount) {
    int depth = 0;
    int next = childCount > shortRow && summaryStart != null ? summaryStart[node] : 0;
    int start = children;
    int count = childCount;
    while (count > shortRow) {
      count = blocks(start, count);
      start = next;
      starts[depth] = next;
      counts[depth++] = count;
      next += aligned(count);
    }
    return depth;
  }

  // ---- updates

  /**
   * Writes the jobs that are open at an edge.
   *
   * @return whether the set of jobs open below the parent has changed; false for edge 0
   */
  boolean write(int parent, int slot, int word, long was, long now) {
    open.put(slot, word, now);
    if (slot == 0) {
      return false;
    }
    int start = topology.childStart(parent);
    int count = topology.childEnd(parent) - start;
    int entry = slot;
    long set = now & ~was;
    long lost = was & ~now;
    JobBitMatrix lower = open;
    int next = count > shortRow && summaryStart != null ? summaryStart[parent] : 0;
    while (count > shortRow) {
      int block = (entry >>> blockShift) - (start >>> blockShift);
      long before = summaries.get(next + block, word);
      long after = before | set;
      if (lost != 0) {
        int from = blockStart(start, block);
        after &= ~lost | lower.anyOf(from, blockEnd(start, count, block), word, lost);
      }
      if (after == before) {
        return false;
      }
      summaries.put(next + block, word, after);
      set = after & ~before;
      lost = before & ~after;
      lower = summaries;
      count = blocks(start, count);
      start = next;
      entry = next + block;
      next += aligned(count);
    }
    long before = below.get(parent, word);
    long after = before | set;
    if (lost != 0) {
      after &= ~lost | lower.anyOf(start, start + count, word, lost);
    }
    if (after == before) {
      return false;
    }
    below.put(parent, word, after);
    return true;
  }

  /** Returns whether the summaries of a row match the bits below them. */
  boolean isTight(int node, int word) {
    int start = topology.childStart(node);
    int count = topology.childEnd(node) - start;
    long any = 0;
    for (int slot = start; slot < start + count; slot++) {
      any |= open.get(slot, word);
    }
    boolean tight = any == below(node, word);
    JobBitMatrix lower = open;
    int depth = summaries(node, start, count);
    for (int k = 0; k < depth; k++) {
      for (int block = 0; block < counts[k]; block++) {
        int from = blockStart(start, block);
        long expected = lower.anyOf(from, blockEnd(start, count, block), word, -1L);
        tight &= summaries.get(starts[k] + block, word) == expected;
      }
      lower = summaries;
      start = starts[k];
      count = counts[k];
    }
    return tight;
  }
}
