package io.espalier.core.loop;

/** Work that is done in slices, between the steps of the loop. */
interface Chore {
  /**
   * Does a slice.
   *
   * @return whether it is finished
   */
  boolean step(long nowMillis);
}
