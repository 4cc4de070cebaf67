package io.espalier.core.scheduling.util;

import io.espalier.core.config.StartRate;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * The arithmetic of a token bucket whose state is one long. The bucket gains {@code gain} units per
 * millisecond, and a start takes {@code token} units. The state is the number of units
 * <em>spent</em>: all units ever gained minus the units now in the bucket. All numbers are whole,
 * so nothing drifts however long it runs.
 *
 * <p>A rate is used with six significant digits and nine decimals. Even with these and the largest
 * burst, the numbers do not overflow for a century.
 */
public record TokenBucketMath(long gain, long token, long burst) {
  private static final MathContext DIGITS = new MathContext(6, RoundingMode.DOWN);
  private static final int MOST_DECIMALS = 9;

  public static TokenBucketMath of(StartRate rate) {
    BigDecimal digits = BigDecimal.valueOf(rate.perSecond()).round(DIGITS).stripTrailingZeros();
    BigDecimal perSecond =
        digits.setScale(Math.min(digits.scale(), MOST_DECIMALS), RoundingMode.DOWN);
    int scale = Math.max(0, perSecond.scale());
    long token = BigInteger.TEN.pow(scale).longValueExact() * 1000;
    return new TokenBucketMath(
        perSecond.movePointRight(scale).longValueExact(),
        token,
        Math.multiplyExact(token, rate.burst()));
  }

  /** Returns the state of an empty bucket. */
  public long nothing(long now) {
    return now * gain;
  }

  private long held(long spent, long now) {
    return Math.min(burst, now * gain - spent);
  }

  /** Returns whether the bucket has less than one token. */
  public boolean isEmpty(long spent, long now) {
    return now * gain - spent < token;
  }

  /** Returns the state after a start. */
  long charge(long spent, long now) {
    return now * gain - held(spent, now) + token;
  }

  /** Returns the first millisecond at which the bucket has a token. */
  long due(long spent) {
    return -Math.floorDiv(-(spent + token), gain);
  }

  /** Converts the state from another rate. The bucket keeps its tokens, up to the new burst. */
  public long convert(long spent, TokenBucketMath from, long now) {
    if (equals(from)) {
      return spent;
    }
    long held = from.held(spent, now);
    long whole = Math.min(burst / token, Math.floorDiv(held, from.token));
    long rest = Math.floorMod(held, from.token);
    // The units per token are powers of ten.
    long part = token >= from.token ? rest * (token / from.token) : rest / (from.token / token);
    long units = whole * token + part;
    return now * gain - Math.min(burst, units);
  }
}
