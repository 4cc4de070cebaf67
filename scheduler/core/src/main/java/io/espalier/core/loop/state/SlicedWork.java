package io.espalier.core.loop.state;

/** Work that is done in slices, between the steps of the loop. */
public interface SlicedWork {
  /**
   * Does a slice.
   *
   * @return whether it is finished
   */
  boolean step(long nowMillis);

  /** Whether it has nothing to do until the loop is woken up. */
  default boolean waits() {
    return false;
  }
}
