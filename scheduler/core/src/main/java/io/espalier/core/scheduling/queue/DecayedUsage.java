package io.espalier.core.scheduling.queue;

/**
 * A value that follows a stepwise changing use: within each half-life, half of the difference
 * between value and use vanishes (docs/design/features.md#priority-with-a-memory).
 *
 * <p>{@code P(t + dt) = U + (P(t) - U) * 0.5^(dt / h)}. It is evaluated only on queries and is
 * exact between two changes of the use, so the number of queries does not affect it. The factor
 * applies to the old value; the new use has the remaining weight.
 */
public final class DecayedUsage {
  private double value;
  private double use;
  private long atMillis;
  private long halfLifeMillis;

  /**
   * @param value the value at that time
   * @param use the use from then on
   * @param halfLifeMillis positive
   */
  DecayedUsage(double value, double use, long atMillis, long halfLifeMillis) {
    this.value = value;
    this.use = use;
    this.atMillis = atMillis;
    this.halfLifeMillis = halfLifeMillis;
  }

  /** Evaluates the formula. */
  static double after(double value, double use, long millis, long halfLifeMillis) {
    if (millis <= 0 || value == use) {
      return value;
    }
    // StrictMath gives the same bits on every JDK, so a seed gives the same placements.
    return use + (value - use) * StrictMath.pow(0.5, (double) millis / halfLifeMillis);
  }

  /**
   * Returns the value at a time; a time before the last change counts as the time of the change.
   */
  public double at(long nowMillis) {
    return after(value, use, nowMillis - atMillis, halfLifeMillis);
  }

  /** Returns the value one half-life ahead if the use stays constant. */
  double ahead(long nowMillis) {
    return (at(nowMillis) + use) / 2;
  }

  public double use() {
    return use;
  }

  /** Changes the use from a time on. */
  void setUse(double newUse, long nowMillis) {
    if (newUse != use) {
      settle(nowMillis);
      use = newUse;
    }
  }

  void setHalfLife(long millis, long nowMillis) {
    settle(nowMillis);
    halfLifeMillis = millis;
  }

  /** Sets a value restored from elsewhere. */
  void setValue(double newValue, long nowMillis) {
    value = newValue;
    atMillis = nowMillis;
  }

  private void settle(long nowMillis) {
    value = at(nowMillis);
    atMillis = Math.max(atMillis, nowMillis);
  }
}
