package io.espalier.core.scheduling.capacity;

import java.util.Arrays;

/**
 * Which jobs fit into how many free slots of one resource: looked up, not compared one by one. What
 * the jobs need makes steps; between two of them a free slot more or less changes nothing. A need
 * of 0 always fits, also where more is in use than the limit (docs/design/bistro.md#resources).
 */
final class FitTable {
  /** Up to this need the step is looked up, above it is searched for. */
  private static final int LARGEST_DIRECT = 1024;

  private final int words;

  /** The distinct needs, ascending, without 0. */
  private final int[] needs;

  /** By free slots: the step. Empty where needs are too large. */
  private final char[] direct;

  /** By step: the bits of the jobs that fit. */
  private final long[] fits;

  /**
   * @param ofJobs what each job needs
   * @param words of bits of jobs
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

  /** How many of the distinct needs so many free slots meet: other jobs fit where it differs. */
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

  /** The bits of the jobs that fit into so many free slots. */
  long fits(int room, int word) {
    return fits[step(room) * words + word];
  }
}
