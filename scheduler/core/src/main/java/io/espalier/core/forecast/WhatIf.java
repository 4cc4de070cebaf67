package io.espalier.core.forecast;

import io.espalier.core.config.Job;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.LimitOverride;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What differs from the state of the scheduler in a forecast.
 *
 * @param overrides limits
 * @param brakes replace those in force on the same
 * @param resumed jobs that are not paused
 * @param workers how many workers come, each like the first one; negative: how many of the last
 *     ones take no more tasks
 * @param jobs replace those of the same names in the configuration
 */
public record WhatIf(
    List<LimitOverride> overrides,
    List<Brake> brakes,
    Set<String> resumed,
    int workers,
    Map<String, Job> jobs) {
  /** Nothing differs. */
  public static final WhatIf NOTHING = new WhatIf(List.of(), List.of(), Set.of(), 0, Map.of());

  public WhatIf {
    overrides = List.copyOf(overrides);
    brakes = List.copyOf(brakes);
    resumed = Set.copyOf(resumed);
    jobs = Map.copyOf(jobs);
  }

  /** Changes all but the brakes, which end in time. */
  void applyTo(SchedulingCore core) {
    if (!jobs.isEmpty()) {
      replaceJobs(core);
    }
    overrides.forEach(core.limits()::override);
    resumed.forEach(job -> core.gates().open(GateKind.PAUSE, job));
    List<WorkerInfo> pool = core.capacity().workers();
    if (workers != 0 && pool != null) {
      core.workers(changed(pool));
    }
    while (!core.stepLimits(Integer.MAX_VALUE)) {
      // Each call brings more of them into effect.
    }
  }

  private void replaceJobs(SchedulingCore core) {
    SortedMap<String, Job> all = new TreeMap<>(core.config().jobs());
    all.putAll(jobs);
    core.begin(core.prepare(core.config().withJobs(all), core.topology()));
    while (core.step(Integer.MAX_VALUE) == null) {
      // Each call brings more of it into force.
    }
  }

  private List<WorkerInfo> changed(List<WorkerInfo> pool) {
    List<WorkerInfo> all = new ArrayList<>(pool);
    for (int i = 0; i < workers; i++) {
      String name = "what-if-" + i;
      all.add(
          pool.get(0)
              .with()
              .ref(new WorkerRef(name, i))
              .host(name)
              .state(WorkerInfo.State.HEALTHY)
              .cordoned(false)
              .build());
    }
    for (int i = Math.max(0, all.size() + Math.min(0, workers)); i < all.size(); i++) {
      all.set(i, all.get(i).withCordoned(true));
    }
    return all;
  }
}
