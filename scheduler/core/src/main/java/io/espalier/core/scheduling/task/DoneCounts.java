package io.espalier.core.scheduling.task;

import io.espalier.core.scheduling.job.StatusCodes;
import java.util.BitSet;

/** Counts how many of a subset of a job's tasks are done; updated with every status. */
final class DoneCounts implements TaskTable.Watch {
  private final BitSet nodes;
  private long done;
  private long considered;
  private long left;

  /**
   * @param nodes the subset, counted from the first node of the job's level
   * @param codes the codes of all tasks of the job
   */
  DoneCounts(BitSet nodes, byte[] codes) {
    this.nodes = nodes;
    nodes.stream().forEach(at -> count(codes[at] & 0xff, 1));
  }

  /** Returns whether a task counts at all; a task that filters exclude does not. */
  static boolean isConsidered(int code) {
    return StatusCodes.effect(code) != StatusCodes.AVOIDED;
  }

  static boolean isDone(int code) {
    return isConsidered(code) && StatusCodes.isDone(code);
  }

  /** Returns whether a task is running or may be started again. */
  static boolean isLeft(int code) {
    return isConsidered(code) && StatusCodes.isRemaining(code);
  }

  @Override
  public void changed(int at, int before, int after) {
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

  /** Returns how many of the considered tasks are not done and may still run. */
  long left() {
    return left;
  }

  /** Returns whether the subset contains a node, counted from the first node of the job's level. */
  boolean has(int at) {
    return nodes.get(at);
  }
}
