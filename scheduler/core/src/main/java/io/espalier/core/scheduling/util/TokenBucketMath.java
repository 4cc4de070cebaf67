package io.espalier.core.scheduling.util;

import io.espalier.core.config.StartRate;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * A token bucket as one long. In each millisecond {@code gain} units come in; a start takes {@code
 * token} of them. The bucket's state is what it has <em>spent</em>: all units that ever came in
 * less those that it holds. Whole numbers only, so nothing drifts however long it runs.
 *
 * <p>Of a rate six digits and nine decimals count. With those, and the largest burst, the numbers
 * last for a century.
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

  /** The state of a bucket that has nothing. */
  public long nothing(long now) {
    return now * gain;
  }

  private long held(long spent, long now) {
    return Math.min(burst, now * gain - spent);
  }

  /** Whether there is not a single token. */
  public boolean isEmpty(long spent, long now) {
    return now * gain - spent < token;
  }

  /** The state after a start. */
  long charge(long spent, long now) {
    return now * gain - held(spent, now) + token;
  }

  /** The first millisecond with a token. */
  long due(long spent) {
    return -Math.floorDiv(-(spent + token), gain);
  }

  /** The state of a bucket with the same tokens by another law, at most its burst. */
  public long convert(long spent, TokenBucketMath from, long now) {
    if (equals(from)) {
      return spent;
    }
    long held = from.held(spent, now);
    long whole = Math.min(burst / token, Math.floorDiv(held, from.token));
    long rest = Math.floorMod(held, from.token);
    // Tokens are powers of ten.
    long part = token >= from.token ? rest * (token / from.token) : rest / (from.token / token);
    long units = whole * token + part;
    return now * gain - Math.min(burst, units);
  }
}
