package io.espalier.core.config;

/**
 * A token bucket: how often something may start. Over any t seconds at most {@code burst +
 * perSecond * t} starts happen.
 *
 * @param perSecond tokens that it gains per second, {@link #LEAST} to {@link #MOST}; six digits and
 *     nine decimals of it count
 * @param burst tokens that it holds when full, 1 to {@link #LARGEST_BURST}
 */
public record StartRate(double perSecond, int burst) {
  /** One start in some eleven days. */
  public static final double LEAST = 1e-6;

  public static final double MOST = 1e6;

  public static final int LARGEST_BURST = 1_000_000;

  /** With the burst of a second's starts, and of one at least. */
  public static StartRate of(double perSecond) {
    return new StartRate(perSecond, Math.max(1, (int) Math.ceil(perSecond)));
  }
}
