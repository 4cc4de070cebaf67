package io.espalier.core.scheduling.task;

import io.espalier.core.scheduling.util.LongMap;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * A hash index that finds the number of a running task by job and node. An entry is one word, the
 * number next to half of the hash, so that a start or an end costs one cache miss. The segments
 * grow one by one, as in {@link LongMap}.
 */
final class RunIndex {
  private static final int SEGMENTS = 256;
  private static final int SEGMENT_SHIFT = Integer.SIZE - 8;
  private static final long EMPTY = 0;

  private final long[] @Nullable [] segments = new long @Nullable [SEGMENTS][];
  private final int[] sizes = new int[SEGMENTS];

  private static int hash(int job, int node) {
    long z = TaskTable.key(job, node) * 0x9e3779b97f4a7c15L;
    z = (z ^ z >>> 29) * 0xbf58476d1ce4e5b9L;
    return (int) (z >>> 32);
  }

  /** Returns an entry; it is never {@link #EMPTY}. */
  private static long entry(int hash, int run) {
    return (long) hash << 32 | (run + 1);
  }

  private static int hashOf(long entry) {
    return (int) (entry >>> 32);
  }

  void add(int job, int node, int run) {
    int hash = hash(job, node);
    int number = hash >>> SEGMENT_SHIFT;
    long[] segment = segments[number];
    if (segment == null || 3 * sizes[number] >= 2 * segment.length) {
      segment = grown(segment);
      segments[number] = segment;
    }
    sizes[number]++;
    put(segment, entry(hash, run));
  }

  private static void put(long[] segment, long entry) {
    int mask = segment.length - 1;
    int at = hashOf(entry) & mask;
    while (segment[at] != EMPTY) {
      at = (at + 1) & mask;
    }
    segment[at] = entry;
  }

  private static long[] grown(long @Nullable [] old) {
    if (old == null) {
      return new long[8];
    }
    long[] segment = new long[old.length * 2];
    for (long entry : old) {
      if (entry != EMPTY) {
        put(segment, entry);
      }
    }
    return segment;
  }

  /** Removes an entry, which must exist. */
  void remove(int job, int node, int run) {
    int hash = hash(job, node);
    int number = hash >>> SEGMENT_SHIFT;
    long[] segment = segments[number];
    if (segment == null) {
      throw new IllegalStateException("not a known running task: " + run);
    }
    int mask = segment.length - 1;
    long gone = entry(hash, run);
    int hole = hash & mask;
    while (segment[hole] != gone) {
      if (segment[hole] == EMPTY) {
        throw new IllegalStateException("not a known running task: " + run);
      }
      hole = (hole + 1) & mask;
    }
    sizes[number]--;
    // Moves later entries of the chain back, so that removed entries need no tombstones.
    for (int i = (hole + 1) & mask; segment[i] != EMPTY; i = (i + 1) & mask) {
      int home = hashOf(segment[i]) & mask;
      if (((i - home) & mask) >= ((i - hole) & mask)) {
        segment[hole] = segment[i];
        hole = i;
      }
    }
    segment[hole] = EMPTY;
  }

  /**
   * @param isIt tests whether a number is that of the running task with this job and node
   * @return the number, or -1
   */
  int find(int job, int node, IntPredicate isIt) {
    int hash = hash(job, node);
    long[] segment = segments[hash >>> SEGMENT_SHIFT];
    if (segment == null) {
      return -1;
    }
    int mask = segment.length - 1;
    for (int at = hash & mask; segment[at] != EMPTY; at = (at + 1) & mask) {
      int run = (int) segment[at] - 1;
      if (hashOf(segment[at]) == hash && isIt.test(run)) {
        return run;
      }
    }
    return -1;
  }
}
