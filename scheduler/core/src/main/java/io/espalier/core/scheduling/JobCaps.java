package io.espalier.core.scheduling;

/** Which jobs may start another task by what they say of themselves: {@code max_concurrent}. */
final class JobCaps {
  /** Bits of the jobs that may. */
  long open(int word) {
    return -1L;
  }

  /**
   * A task of the job takes its place, started here or not.
   *
   * @param job -1: not known
   */
  void entered(int job) {}

  /** The opposite. */
  void left(int job) {}
}
