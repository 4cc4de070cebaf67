package io.espalier.core.forecast;

import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.status.store.LimitOverride;
import java.util.ArrayList;
import java.util.List;

/**
 * What differs from the state of the scheduler in a forecast.
 *
 * @param overrides limits
 * @param factors brakes
 * @param workers how many workers come, each like the first one; negative: how many of the last
 *     ones take no more tasks
 */
public record WhatIf(List<LimitOverride> overrides, List<LimitFactor> factors, int workers) {
  /** Nothing differs. */
  public static final WhatIf NOTHING = new WhatIf(List.of(), List.of(), 0);

  public WhatIf {
    overrides = List.copyOf(overrides);
    factors = List.copyOf(factors);
  }

  void applyTo(SchedulingCore core) {
    overrides.forEach(core::override);
    factors.forEach(factor -> brake(core, factor));
    List<WorkerInfo> pool = core.capacity().workers();
    if (workers != 0 && pool != null) {
      core.workers(changed(pool));
    }
    while (!core.stepLimits(Integer.MAX_VALUE)) {
      // Each call brings more of them into effect.
    }
  }

  private static void brake(SchedulingCore core, LimitFactor factor) {
    Scope scope = factor.scope();
    if (factor.millionths() == 0 && scope.kind() == Scope.Kind.NODE) {
      // It also stops tasks that need no resource there.
      core.close(new Gate(GateKind.NODE_BRAKE, scope, "", "", 0, 0));
    } else {
      core.setFactor(factor);
    }
  }

  private List<WorkerInfo> changed(List<WorkerInfo> pool) {
    List<WorkerInfo> all = new ArrayList<>(pool);
    for (int i = 0; i < workers; i++) {
      all.add(like(pool.get(0), new WorkerRef("what-if-" + i, i), "what-if-" + i, false));
    }
    for (int i = Math.max(0, all.size() + Math.min(0, workers)); i < all.size(); i++) {
      WorkerInfo gone = all.get(i);
      all.set(i, like(gone, gone.ref(), gone.host(), true));
    }
    return all;
  }

  private static WorkerInfo like(WorkerInfo worker, WorkerRef ref, String host, boolean cordoned) {
    return new WorkerInfo(
        ref,
        host,
        worker.address(),
        cordoned ? worker.state() : WorkerInfo.State.HEALTHY,
        cordoned,
        worker.physical(),
        worker.labels(),
        worker.maxTasks(),
        worker.sinceMillis(),
        worker.lastSeenMillis(),
        worker.note());
  }
}
