package io.espalier.core.scheduling.job;

import java.util.function.IntPredicate;

/** An immutable set of status bit combinations, prepared for fast scans. */
public final class StatusFilter {
  private final boolean[] codes = new boolean[StatusCodes.COUNT];

  private StatusFilter(IntPredicate bits) {
    for (int code = 0; code < codes.length; code++) {
      codes[code] = bits.test(StatusCodes.bits(code));
    }
  }

  /**
   * @param bits evaluated once for each possible combination of bits
   *     (docs/design/bistro.md#status-bits, as in histograms: {@code USES_BACKOFF} while the task
   *     waits, {@code AVOIDED} and {@code DISABLED} as the nodes are now)
   */
  public static StatusFilter of(IntPredicate bits) {
    return new StatusFilter(bits);
  }

  public boolean has(int code) {
    return codes[code];
  }
}
