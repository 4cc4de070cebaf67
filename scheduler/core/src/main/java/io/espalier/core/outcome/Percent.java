package io.espalier.core.outcome;

import java.math.BigDecimal;

/** Compares fractions of whole numbers with percentages, exactly to a millionth of a percent. */
public final class Percent {
  private static final long MILLION = 1_000_000;

  private Percent() {}

  /**
   * Returns true when {@code part} is at least that percentage of {@code whole}; always true for a
   * whole of 0.
   */
  public static boolean isAtLeast(long part, long whole, double percent) {
    return part * 100 * MILLION >= millionths(percent) * whole;
  }

  /** Returns true when {@code part} is more than that percentage of {@code whole}. */
  public static boolean isMoreThan(long part, long whole, double percent) {
    return part * 100 * MILLION > millionths(percent) * whole;
  }

  private static long millionths(double percent) {
    return Math.round(percent * MILLION);
  }

  /** The percentage for people: without a decimal point where none is needed. */
  public static String text(double percent) {
    return BigDecimal.valueOf(percent).stripTrailingZeros().toPlainString() + " %";
  }
}
