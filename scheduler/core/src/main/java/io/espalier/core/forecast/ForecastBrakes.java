package io.espalier.core.forecast;

import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.brake.BrakeEffects;
import io.espalier.core.status.store.Brake;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Ends brakes in virtual time, and lets them ramp up. */
final class ForecastBrakes {
  private final SchedulingCore core;
  private final BrakeEffects effects;
  private final Map<Brake.Key, Brake> brakes = new LinkedHashMap<>();
  private long next;

  /**
   * @param more replace those with the same key
   */
  ForecastBrakes(SchedulingCore core, List<Brake> inForce, List<Brake> more) {
    this.core = core;
    effects = new BrakeEffects(core);
    inForce.forEach(brake -> brakes.put(brake.key(), brake));
    more.forEach(brake -> brakes.put(brake.key(), brake));
    // Without any, the gates of the snapshot stay as they are.
    next = brakes.isEmpty() ? Long.MAX_VALUE : 0;
  }

  void step(long nowMillis) {
    if (nowMillis < next) {
      return;
    }
    brakes.replaceAll((key, brake) -> brake.endedBy(nowMillis));
    brakes.values().removeIf(brake -> brake.factorAt(nowMillis) == Brake.ONE);
    boolean isApplied = false;
    while (!isApplied) {
      isApplied = effects.apply(brakes.values(), nowMillis);
      while (!core.stepLimits(Integer.MAX_VALUE)) {
        // Each call brings more of them into effect.
      }
    }
    next = Long.MAX_VALUE;
    for (Brake brake : brakes.values()) {
      next = Math.min(next, brake.nextMillis(nowMillis));
    }
  }

  /** Returns when a brake changes by itself; {@link Long#MAX_VALUE}: never. */
  long nextMillis() {
    return next;
  }
}
