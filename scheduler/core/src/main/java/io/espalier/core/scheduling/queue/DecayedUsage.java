package io.espalier.core.scheduling.queue;

/**
 * A value that follows a use that changes in steps: half of the difference between them vanishes
 * within each half-life (docs/design/features.md#priority-with-a-memory).
 *
 * <p>{@code P(t + dt) = U + (P(t) - U) * 0.5^(dt / h)}: evaluated only when asked, exact between
 * two changes of the use, so that it does not matter how often it is asked. The weight belongs to
 * the old value; the new use comes in with what is left of 1.
 */
public final class DecayedUsage {
  private double value;
  private double use;
  private long atMillis;
  private long halfLifeMillis;

  /**
   * @param value at that time
   * @param use from then on
   * @param halfLifeMillis more than 0
   */
  DecayedUsage(double value, double use, long atMillis, long halfLifeMillis) {
    this.value = value;
    this.use = use;
    this.atMillis = atMillis;
    this.halfLifeMillis = halfLifeMillis;
  }

  /** The law itself. */
  static double after(double value, double use, long millis, long halfLifeMillis) {
    if (millis <= 0 || value == use) {
      return value;
    }
    // StrictMath gives the same bits on every JDK, so that a seed gives the same placements.
    return use + (value - use) * StrictMath.pow(0.5, (double) millis / halfLifeMillis);
  }

  /** The value at a time; one before the last change counts as that of the change. */
  public double at(long nowMillis) {
    return after(value, use, nowMillis - atMillis, halfLifeMillis);
  }

  /** What it will be in one half-life if the use stays as it is. */
  double ahead(long nowMillis) {
    return (at(nowMillis) + use) / 2;
  }

  public double use() {
    return use;
  }

  /** The use is another one from that time on. */
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

  /** History that comes from elsewhere. */
  void setValue(double newValue, long nowMillis) {
    value = newValue;
    atMillis = nowMillis;
  }

  private void settle(long nowMillis) {
    value = at(nowMillis);
    atMillis = Math.max(atMillis, nowMillis);
  }
}
