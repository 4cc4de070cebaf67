package io.espalier.core.protocol;

import java.util.OptionalInt;

/**
 * The range of protocol versions that one side supports; both sides use the newest common one.
 *
 * @param oldest oldest version, at least 1
 * @param newest newest version, not below {@code oldest}
 */
public record Versions(int oldest, int newest) {
  /**
   * The versions that this code supports; the range always includes those of the previous release.
   * Since 2 the scheduler calls a worker on the connection that the worker has opened; in 1 it
   * called the worker's address.
   */
  public static final Versions OURS = new Versions(1, 2);

  /** The newest version that both sides support; empty when there is none. */
  public OptionalInt common(Versions other) {
    int version = Math.min(newest, other.newest);
    return version >= Math.max(oldest, other.oldest)
        ? OptionalInt.of(version)
        : OptionalInt.empty();
  }

  @Override
  public String toString() {
    return oldest == newest ? String.valueOf(oldest) : oldest + " to " + newest;
  }
}
