package io.espalier.core.protocol;

import java.util.OptionalInt;

/**
 * The range of protocol versions that one side speaks; the newest common one is used.
 *
 * @param oldest at least 1
 * @param newest not below {@code oldest}
 */
public record Versions(int oldest, int newest) {
  /** What this code speaks: from now on one release back stays in the range. */
  public static final Versions OURS = new Versions(1, 1);

  /** The newest version that both speak; empty: they cannot talk. */
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
