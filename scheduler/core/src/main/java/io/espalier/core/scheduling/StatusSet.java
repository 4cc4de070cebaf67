package io.espalier.core.scheduling;

import java.util.function.IntPredicate;

/** Some of the possible status bits of tasks, prepared for fast scans. Immutable. */
public final class StatusSet {
  private final boolean[] codes = new boolean[StatusCodes.COUNT];

  private StatusSet(IntPredicate bits) {
    for (int code = 0; code < codes.length; code++) {
      codes[code] = bits.test(StatusCodes.bits(code));
    }
  }

  /**
   * @param bits is asked for each possible combination of bits (docs/design/bistro.md#status-bits,
   *     as in histograms: {@code USES_BACKOFF} while the task waits, {@code AVOIDED} and {@code
   *     DISABLED} as the nodes are now)
   */
  public static StatusSet of(IntPredicate bits) {
    return new StatusSet(bits);
  }

  boolean has(int code) {
    return codes[code];
  }
}
