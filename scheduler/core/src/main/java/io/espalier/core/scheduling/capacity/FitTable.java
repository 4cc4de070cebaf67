package io.espalier.core.scheduling.capacity;

import java.util.Arrays;

/**
 * A lookup table from free slots of one resource to the jobs that fit. The distinct needs of the
 * jobs form steps; between two steps, the number of free slots makes no difference. A need of 0
 * always fits, even when usage exceeds the limit (docs/design/bistro.md#resources).
 */
final class FitTable {
  /**
   * The largest need for which steps are looked up directly; above it they are found by binary
   * search.
   */
  private static final int LARGEST_DIRECT = 1024;

  private final int words;

  /** The distinct needs, ascending, without 0. */
  private final int[] needs;

  /** The step by free slots; empty when needs are too large. */
  private final char[] direct;

  /** By step: the bits of the jobs that fit. */
  private final long[] fits;

  /**
   * @param ofJobs the need of each job
   * @param words the number of words for the bits of all jobs
   */
  FitTable(int[] ofJobs, int words) {
    this.words = words;
    needs = Arrays.stream(ofJobs).filter(n -> n > 0).sorted().distinct().toArray();
    fits = new long[(needs.length + 1) * words];
    for (int step = 0; step <= needs.length; step++) {
      int room = step == 0 ? 0 : needs[step - 1];
      for (int j = 0; j < ofJobs.length; j++) {
        if (ofJobs[j] <= room) {
          fits[step * words + (j >>> 6)] |= 1L << j;
        }
      }
    }
    int largest = needs.length == 0 ? 0 : needs[needs.length - 1];
    direct = new char[largest <= LARGEST_DIRECT ? largest + 1 : 0];
    int step = 0;
    for (int room = 0; room < direct.length; room++) {
      step += step < needs.length && needs[step] == room ? 1 : 0;
      direct[room] = (char) step;
    }
  }

  /**
   * Returns how many of the distinct needs the free slots meet. The set of jobs that fit changes
   * only with this number.
   */
  int step(int room) {
    if (room <= 0) {
      return 0;
    }
    if (direct.length > 0) {
      return direct[Math.min(room, direct.length - 1)];
    }
    int at = Arrays.binarySearch(needs, room);
    return at >= 0 ? at + 1 : -at - 1;
  }

  /** Returns the bits of the jobs that fit into the free slots. */
  long fits(int room, int word) {
    return fits[step(room) * words + word];
  }
}
