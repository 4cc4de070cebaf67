package io.espalier.core.config;

/**
 * A token bucket that limits how often something may start. In any t seconds at most {@code burst +
 * perSecond * t} starts happen.
 *
 * @param perSecond tokens added per second, {@link #LEAST} to {@link #MOST}; six digits and nine
 *     decimals are significant
 * @param burst capacity of the bucket in tokens, 1 to {@link #LARGEST_BURST}
 */
public record StartRate(double perSecond, int burst) {
  /** One start in about eleven days. */
  public static final double LEAST = 1e-6;

  public static final double MOST = 1e6;

  public static final int LARGEST_BURST = 1_000_000;

  /** Creates a rate whose burst is the starts of one second, at least one. */
  public static StartRate of(double perSecond) {
    return new StartRate(perSecond, Math.max(1, (int) Math.ceil(perSecond)));
  }
}
