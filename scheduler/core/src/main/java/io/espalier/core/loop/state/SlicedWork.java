package io.espalier.core.loop.state;

/** Work that is done in slices between the steps of the loop. */
public interface SlicedWork {
  /**
   * Performs a slice.
   *
   * @return true when the work is finished
   */
  boolean step(long nowMillis);

  /** Returns true when it has nothing to do until the loop is woken up. */
  default boolean waits() {
    return false;
  }
}
