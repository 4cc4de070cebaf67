package io.espalier.core.loop.health;

import io.espalier.core.scheduling.capacity.HealthLimit;

/**
 * What one probe leaves of one limit of one node: a bad value halves it, each third good value in a
 * row adds one slot, and a value between changes nothing (docs/probes.md#how-a-limit-follows). The
 * first value, if it is bad, leaves the floor.
 */
final class SlotControl {
  private static final int GOOD_IN_A_ROW = 3;
  private static final long NEVER = Long.MAX_VALUE;

  private int limit = HealthLimit.WHOLE;
  private int good;
  private boolean isKnown;

  /** When use was first seen within the limit, since the last cut. */
  private long fitsMillis = NEVER;

  /** What the bounds of a probe say of a value. */
  enum Verdict {
    GOOD,
    BETWEEN,
    BAD
  }

  /**
   * The limit without this probe.
   *
   * @param base as configured or overridden
   * @param now what is left of it by brakes and the like
   * @param floor slots that are always left
   * @param used slots in use
   */
  record Place(int base, int now, int floor, int used) {}

  /** Returns the slots that are left; {@link HealthLimit#WHOLE}: all. */
  int limit() {
    return limit;
  }

  /**
   * Takes a value.
   *
   * @param sampledMillis when it was sampled; on the same clock as {@code nowMillis}
   */
  void take(Verdict verdict, long sampledMillis, Place place, long nowMillis) {
    good = verdict == Verdict.GOOD ? good + 1 : 0;
    if (verdict == Verdict.BAD) {
      bad(sampledMillis, place, nowMillis);
    } else if (good == GOOD_IN_A_ROW) {
      good = 0;
      boolean isWhole = limit == HealthLimit.WHOLE || limit + 1 >= place.base;
      limit = isWhole ? HealthLimit.WHOLE : limit + 1;
    }
    isKnown = true;
  }

  private void bad(long sampledMillis, Place place, long nowMillis) {
    // What runs since before the last cut must not cut again, however long it takes.
    if (limit == HealthLimit.WHOLE || sampledMillis > fitsMillis) {
      // Half of what nobody has seen the node bear would be a guess.
      limit = isKnown ? Math.max(place.floor, Math.min(limit, place.now) / 2) : place.floor;
      fitsMillis = NEVER;
    }
    if (fitsMillis == NEVER && place.used <= limit) {
      fitsMillis = nowMillis;
    }
  }
}
