package io.espalier.core.pace;

import io.espalier.core.scheduling.spi.SplitMix64;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Shortens waits by random parts, so that many who began to wait at one instant do not come back at
 * one instant. A wait never becomes longer, so leases and time limits that count on it hold. The
 * same seed gives the same waits. Not thread-safe.
 */
public final class Jitter {
  /** The part of a period that may be missing, for what is done again and again. */
  public static final double OF_PERIODS = 0.1;

  /** The part of a pause that may be missing, for what is tried again after a failure. */
  public static final double OF_RETRIES = 0.5;

  /** Shortens nothing. */
  public static final Jitter NONE = new Jitter();

  private final @Nullable SplitMix64 random;

  public Jitter(long seed) {
    random = new SplitMix64(seed);
  }

  private Jitter() {
    random = null;
  }

  /**
   * Returns a wait, shortened by a random part.
   *
   * @param wait not negative, in any unit
   * @param part the largest part that may be missing, 0 to 1
   * @return at least {@code (1 - part) * wait}, at most {@code wait}
   */
  public long shorten(long wait, double part) {
    return random == null ? wait : wait - (long) (wait * part * random.fraction());
  }

  /** See {@link #shorten(long, double)}. */
  public Duration shorten(Duration wait, double part) {
    return Duration.ofMillis(shorten(wait.toMillis(), part));
  }
}
