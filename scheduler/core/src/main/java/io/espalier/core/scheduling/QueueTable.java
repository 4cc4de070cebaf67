package io.espalier.core.scheduling;

/** Which jobs may start another task by what their queues hold (feature A10). */
final class QueueTable {
  /** Bits of the jobs that may. */
  long open(int word) {
    return -1L;
  }

  /**
   * A task of the job takes its place, started here or not.
   *
   * @param job -1: not known
   * @param amounts by resource index
   */
  void entered(int job, int[] amounts) {}

  /** The opposite. */
  void left(int job, int[] amounts) {}
}
