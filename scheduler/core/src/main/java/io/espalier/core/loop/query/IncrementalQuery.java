package io.espalier.core.loop.query;

/**
 * A query of a monitor that has to examine many items: it is answered in slices between the steps
 * of the loop (docs/design/design.md#questions).
 */
interface IncrementalQuery {
  /**
   * Continues with the answer.
   *
   * @param units approximate number of items to examine, ten to twenty nanoseconds each
   * @return the number of items examined
   */
  long step(long nowMillis, int units);

  /** Returns true when the answer is complete. */
  boolean isAnswered();
}
