package io.espalier.core.outcome;

import java.math.BigDecimal;

/** Compares shares of whole numbers with percents, exactly to a millionth of a percent. */
public final class Percent {
  private static final long MILLION = 1_000_000;

  private Percent() {}

  /** Whether {@code part} is that many percent of {@code whole} or more; of nothing it is. */
  public static boolean isAtLeast(long part, long whole, double percent) {
    return part * 100 * MILLION >= millionths(percent) * whole;
  }

  /** Whether {@code part} is more than that many percent of {@code whole}. */
  public static boolean isMoreThan(long part, long whole, double percent) {
    return part * 100 * MILLION > millionths(percent) * whole;
  }

  private static long millionths(double percent) {
    return Math.round(percent * MILLION);
  }

  /** For people: without a decimal point where none is needed. */
  public static String text(double percent) {
    return BigDecimal.valueOf(percent).stripTrailingZeros().toPlainString() + " %";
  }
}
