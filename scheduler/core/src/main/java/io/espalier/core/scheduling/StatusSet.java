package io.espalier.core.scheduling;

import java.util.function.IntPredicate;

/** Some of the possible status bits of tasks, prepared for fast scans. Immutable. */
public final class StatusSet {
  private StatusSet(IntPredicate bits) {}

  /**
   * @param bits is asked for each possible combination of bits (behaviour 6.1, as in histograms:
   *     {@code USES_BACKOFF} while the task waits, {@code AVOIDED} and {@code DISABLED} as the
   *     nodes are now)
   */
  public static StatusSet of(IntPredicate bits) {
    return new StatusSet(bits);
  }
}
