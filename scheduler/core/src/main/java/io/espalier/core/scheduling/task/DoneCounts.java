package io.espalier.core.scheduling.task;

import io.espalier.core.scheduling.job.StatusCodes;
import java.util.BitSet;

/** How many of some tasks of a job are done: kept with every write of a status. */
final class DoneCounts {
  private final BitSet nodes;
  private long done;
  private long considered;
  private long left;

  /**
   * @param nodes counted from the first of the job's level
   * @param codes of all tasks of the job
   */
  DoneCounts(BitSet nodes, byte[] codes) {
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

  /** Whether a task runs, or may be started again. */
  static boolean isLeft(int code) {
    return isConsidered(code) && StatusCodes.isRemaining(code);
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
    left += isLeft(code) ? by : 0;
  }

  long done() {
    return done;
  }

  long considered() {
    return considered;
  }

  /** Of the considered ones, those that are not done and may still run. */
  long left() {
    return left;
  }

  /** Whether it counts the node, counted from the first of the job's level. */
  boolean has(int at) {
    return nodes.get(at);
  }
}
