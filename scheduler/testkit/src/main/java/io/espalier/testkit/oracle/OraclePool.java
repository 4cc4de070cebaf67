package io.espalier.testkit.oracle;

import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.config.Config;
import io.espalier.core.config.FilterEvaluator;
import io.espalier.core.config.Job;
import io.espalier.core.config.JobFilter;
import io.espalier.core.config.PhysicalResource;
import io.espalier.core.config.Resource;
import io.espalier.core.running.WorkerInfo;
import io.espalier.testkit.oracle.Oracle.Failure;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The workers of the {@link Oracle}, literally as in docs/design/bistro.md#host-placement,
 * docs/design/bistro.md#resources-of-workers and docs/design/bistro.md#worker-selectors.
 */
final class OraclePool {
  private static final String STARTS = "starts";

  private final Map<String, WorkerInfo> workers = new LinkedHashMap<>();
  private final Use use;
  private boolean asked;

  /** The workers that have no room for another start in flight. */
  private final Set<String> starting = new HashSet<>();

  /** The usage of the running tasks. */
  interface Use {
    int tasks(String shard);

    int slots(String shard, String resource);

    /** Returns the job that has reserved capacity on a worker; null: none. */
    @Nullable Job keptFor(String shard);

    /** Returns the name of the instance node. */
    String instance();

    /** Returns the limit with operators' overrides applied. */
    int limit(String shard, Resource resource, int configured);
  }

  OraclePool(Use use) {
    this.use = use;
  }

  void set(List<WorkerInfo> all) {
    asked = true;
    workers.clear();
    all.forEach(worker -> workers.put(worker.ref().shard(), worker));
  }

  void starting(String shard, boolean isFull) {
    if (isFull) {
      starting.add(shard);
    } else {
      starting.remove(shard);
    }
  }

  Map<String, WorkerInfo> workers() {
    return workers;
  }

  /** Returns whether a start requires a worker. */
  boolean isAsked() {
    return asked;
  }

  /** Returns whether the scheduler's own host is the only worker. */
  boolean isLocal() {
    return workers.containsKey("");
  }

  /** Returns whether the paths of a job's tasks may determine their host. */
  boolean isPlaced(Job job) {
    return job.hostPlacement().isEmpty()
        && job.levelForHostPlacement().isPresent()
        && job.levelForHostPlacement().get() <= job.level()
        && !isLocal();
  }

  /** Returns the host of its tasks if that does not depend on their path; null: any host. */
  @Nullable String hostOf(Job job) {
    return isLocal() || job.hostPlacement().isEmpty() ? null : job.hostPlacement();
  }

  int limit(Config config, WorkerInfo worker, Resource resource) {
    return use.limit(
        worker.ref().shard(),
        resource,
        OracleLimits.of(config, worker, resource, configured(config, worker, resource)));
  }

  private static int configured(Config config, WorkerInfo worker, Resource resource) {
    var settings = config.settings();
    long limit = resource.limit();
    for (PhysicalResource physical : settings.physicalResources()) {
      long amount = worker.physical().getOrDefault(physical.kind().label(), 0L);
      if (physical.logicalResource().equals(resource.name()) && amount != 0) {
        limit =
            (long) Math.max(0, (amount - physical.reserveAmount()) / physical.multiplyLogicalBy());
      }
    }
    if (resource.name().startsWith("GPU: ")) {
      limit += worker.physical().getOrDefault(resource.name(), 0L);
    }
    for (String key : List.of(worker.address(), worker.host(), worker.ref().shard())) {
      Map<String, Integer> said = settings.workerOverrides().get(key);
      if (said != null) {
        return said.getOrDefault(resource.name(), (int) limit);
      }
    }
    return (int) limit;
  }

  /**
   * Returns the names of the resources that a worker lacks for a job; an empty name stands for too
   * many tasks, {@link #STARTS} for too many starts.
   */
  private List<String> shortages(Config config, Job job, WorkerInfo worker) {
    List<String> missing = new ArrayList<>();
    if (starting.contains(worker.ref().shard())) {
      missing.add(STARTS);
    }
    int kept = keptFrom(config, job, worker) == null ? 0 : 1;
    if (worker.maxTasks() > 0 && use.tasks(worker.ref().shard()) + kept >= worker.maxTasks()) {
      missing.add("");
    }
    for (Resource resource : resources(config)) {
      if (missing(config, job, worker, resource) > 0) {
        missing.add(resource.name());
      }
    }
    return missing;
  }

  private long missing(Config config, Job job, WorkerInfo worker, Resource resource) {
    int need = job.needs().get(resource.index());
    int free = limit(config, worker, resource) - use.slots(worker.ref().shard(), resource.name());
    Job holder = keptFrom(config, job, worker);
    long kept = holder == null ? 0 : Math.max(0, holder.needs().get(resource.index()));
    return need <= 0 ? 0 : Math.max(0L, need - (free - kept));
  }

  /**
   * Returns the job whose reservation on a worker excludes the given job; a job with the same needs
   * is not excluded.
   */
  private @Nullable Job keptFrom(Config config, Job job, WorkerInfo worker) {
    Job holder = use.keptFor(worker.ref().shard());
    if (holder == null || holder.name().equals(job.name())) {
      return null;
    }
    boolean same = resources(config).stream().allMatch(r -> need(holder, r) == need(job, r));
    JobFilter filter = filter(config, holder);
    same &= filter.equals(filter(config, job)) && filter.fraction() >= 1;
    return same ? null : holder;
  }

  private static int need(Job job, Resource resource) {
    return Math.max(0, job.needs().get(resource.index()));
  }

  private JobFilter filter(Config config, Job job) {
    JobFilter filter = job.filters().get(config.settings().levels().worker());
    return isLocal() || filter == null ? JobFilter.ALL : filter;
  }

  /**
   * Returns whether a worker that accepts tasks has, in total, enough slots for a task of a job.
   */
  boolean isLargeEnough(Config config, Job job, String shard) {
    WorkerInfo worker = workers.get(shard);
    return worker != null
        && worker.takesTasks()
        && passes(config, job, worker)
        && (isLocal() || job.hostPlacement().isEmpty() || job.hostPlacement().equals(worker.host()))
        && resources(config).stream().allMatch(r -> need(job, r) <= limit(config, worker, r));
  }

  private long missing(Config config, Job job, WorkerInfo worker) {
    return resources(config).stream().mapToLong(r -> missing(config, job, worker, r)).sum();
  }

  private static List<Resource> resources(Config config) {
    return config.settings().resources().ofLevel(config.settings().levels().worker());
  }

  private boolean passes(Config config, Job job, WorkerInfo worker) {
    JobFilter filter = job.filters().get(config.settings().levels().worker());
    return isLocal()
        || filter == null
        || FilterEvaluator.passesWorker(
            filter, job.name(), worker.host(), worker.ref().shard(), worker.labels());
  }

  /** Returns the workers that may take a task now. */
  List<WorkerInfo> eligible(Config config, Job job, @Nullable String host) {
    return workers.values().stream()
        .filter(worker -> host == null || host.equals(worker.host()))
        .filter(WorkerInfo::takesTasks)
        .filter(worker -> passes(config, job, worker))
        .filter(worker -> shortages(config, job, worker).isEmpty())
        .toList();
  }

  /** Returns whether some worker, full or not, accepts tasks of a job. */
  boolean isThere(Config config, Job job, @Nullable String host) {
    return !asked
        || workers.values().stream()
            .filter(worker -> host == null || host.equals(worker.host()))
            .filter(WorkerInfo::takesTasks)
            .anyMatch(worker -> passes(config, job, worker));
  }

  /** Returns why no worker takes a task. */
  List<Failure> failures(Config config, Job job, @Nullable String host) {
    if (!asked || !eligible(config, job, host).isEmpty()) {
      return List.of();
    }
    List<WorkerInfo> passing =
        workers.values().stream()
            .filter(worker -> host == null || host.equals(worker.host()))
            .filter(WorkerInfo::takesTasks)
            .filter(worker -> passes(config, job, worker))
            .toList();
    if (passing.isEmpty()) {
      return List.of(new Failure(Kind.NO_WORKER, host == null ? "" : host, ""));
    }
    WorkerInfo nearest =
        passing.stream()
            .min(
                Comparator.comparingInt((WorkerInfo w) -> shortages(config, job, w).size())
                    .thenComparingLong(w -> missing(config, job, w))
                    .thenComparing(w -> w.ref().shard()))
            .orElseThrow();
    String name = isLocal() ? use.instance() : nearest.ref().shard();
    return shortages(config, job, nearest).stream()
        .map(
            lacks ->
                lacks.equals(STARTS)
                    ? new Failure(Kind.STARTING, name, "")
                    : new Failure(Kind.NO_WORKER, name, lacks))
        .toList();
  }
}
