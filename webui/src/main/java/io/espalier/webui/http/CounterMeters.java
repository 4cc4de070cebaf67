package io.espalier.webui.http;

import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.running.Counters;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Publishes what the tasks of jobs count: of the first 1,000 jobs by name that have counters. Not
 * thread-safe.
 */
final class CounterMeters {
  private static final int MOST_JOBS = 1_000;

  private final MeterRegistry registry;
  private final SchedulerApi api;
  private final Map<Key, FunctionCounter> meters = new HashMap<>();

  private record Key(String job, String counter) {}

  CounterMeters(MeterRegistry registry, SchedulerApi api) {
    this.registry = registry;
    this.api = api;
  }

  /** Registers what is new, and removes what is gone. */
  void refresh() {
    Map<String, Counters> jobs = new TreeMap<>();
    for (JobStateRecord job : api.view().jobStates().values()) {
      if (!job.counters().isEmpty()) {
        jobs.put(job.job(), job.counters());
      }
    }
    Set<Key> shown = new HashSet<>();
    jobs.entrySet().stream()
        .limit(MOST_JOBS)
        .forEach(
            job ->
                job.getValue()
                    .values()
                    .keySet()
                    .forEach(name -> shown.add(new Key(job.getKey(), name))));
    meters
        .entrySet()
        .removeIf(
            each -> {
              boolean isGone = !shown.contains(each.getKey());
              if (isGone) {
                registry.remove(each.getValue());
              }
              return isGone;
            });
    shown.forEach(key -> meters.computeIfAbsent(key, this::register));
  }

  private FunctionCounter register(Key key) {
    return FunctionCounter.builder("espalier.job.counter", api, a -> total(a.view(), key))
        .description("what the tasks of a job have counted")
        .tag("espalier_job", key.job())
        .tag("counter", key.counter())
        .register(registry);
  }

  private static double total(SchedulerView view, Key key) {
    JobStateRecord job = view.jobStates().get(key.job());
    return job == null ? 0 : job.counters().get(key.counter());
  }
}
