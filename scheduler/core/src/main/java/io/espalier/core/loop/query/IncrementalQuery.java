package io.espalier.core.loop.query;

/**
 * Something a monitor wants to know that takes a look at many things: answered in slices between
 * the steps of the loop (docs/design/design.md#questions).
 */
interface IncrementalQuery {
  /**
   * Goes on with an answer that is not given yet.
   *
   * @param units about how many things to look at, ten to twenty nanoseconds each
   * @return how many it looked at
   */
  long step(long nowMillis, int units);

  /** Whether the answer was given. */
  boolean isAnswered();
}
