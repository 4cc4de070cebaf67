package io.espalier.core.scheduling;

import java.util.BitSet;

/** How many of some tasks of a job are done: kept with every write of a status. */
final class TagCounts {
  private final BitSet nodes;
  private long done;
  private long considered;

  /**
   * @param nodes counted from the first of the job's level
   * @param codes of all tasks of the job
   */
  TagCounts(BitSet nodes, byte[] codes) {
    this.nodes = nodes;
    nodes.stream().forEach(at -> count(codes[at] & 0xff, 1));
  }

  /** Whether a task counts at all: one that the filters exclude does not. */
  static boolean isConsidered(int code) {
    return StatusCodes.effect(code) != StatusCodes.AVOIDED;
  }

  static boolean isDone(int code) {
    return isConsidered(code) && StatusCodes.isDone(code);
  }

  void changed(int at, int before, int after) {
    if (nodes.get(at)) {
      count(before, -1);
      count(after, 1);
    }
  }

  private void count(int code, int by) {
    done += isDone(code) ? by : 0;
    considered += isConsidered(code) ? by : 0;
  }

  long done() {
    return done;
  }

  long considered() {
    return considered;
  }
}
