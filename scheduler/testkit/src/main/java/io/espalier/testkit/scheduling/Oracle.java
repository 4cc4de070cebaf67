package io.espalier.testkit.scheduling;

import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.config.Config;
import io.espalier.core.config.FilterEvaluator;
import io.espalier.core.config.Job;
import io.espalier.core.config.JobFilter;
import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.config.WholeJobDependency;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.capacity.RunningCap;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.topology.Topology;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A reference implementation of the scheduling core in its slowest and most obvious form:
 * everything is identified by name, nothing computable is stored, and every query is answered by a
 * full scan (docs/design/design.md#the-index, and literally as in docs/design/bistro.md#filters and
 * the sections after it).
 *
 * <p>It is a single class so that it can be compared with the design from top to bottom.
 */
public final class Oracle {
  private static final Set<Kind> KEEPING =
      EnumSet.of(
          Kind.SCHEDULER_DISABLED,
          Kind.JOB_DISABLED,
          Kind.JOB_INVALID,
          Kind.JOB_PAUSED,
          Kind.BRAKE,
          Kind.WINDOW,
          Kind.JOB_DEPENDENCY,
          Kind.DEPENDENCY,
          Kind.DEADLINE,
          Kind.JOB_FAILED,
          Kind.JOB_SUCCEEDED);

  private final Map<TaskKey, TaskStatus> statuses = new HashMap<>();
  private final Map<TaskKey, Run> running = new HashMap<>();

  /** The name of the task level of every job that was ever configured. */
  private final Map<String, String> levelOf = new HashMap<>();

  private final Set<String> paused = new HashSet<>();
  final OracleJobBlocks closings = new OracleJobBlocks();
  private final Map<LimitOverride.Key, Integer> overrides = new HashMap<>();
  private final Set<Place> closedNodes = new HashSet<>();
  private final Map<String, LimitFactor> factors = new TreeMap<>();
  private final Map<LimitOverride.Key, Integer> health = new HashMap<>();
  private final Map<String, RunningCap> caps = new TreeMap<>();
  private final OraclePool pool =
      new OraclePool(
          new OraclePool.Use() {
            @Override
            public int tasks(String shard) {
              return tasksOn(shard);
            }

            @Override
            public int slots(String shard, String resource) {
              return used(new Place(Levels.WORKER, shard), resource);
            }

            @Override
            public @Nullable Job keptFor(String shard) {
              return rooms.holderOn(shard);
            }

            @Override
            public int limit(String shard, Resource resource, int configured) {
              String name = shard.isEmpty() ? TreeFixture.INSTANCE : shard;
              return Oracle.this.base(new Place(Levels.WORKER, name), resource, configured);
            }
          });
  private final OracleRates rates = new OracleRates();
  private final OracleCapacity rooms = new OracleCapacity(this);
  private final OracleReservations reservations = new OracleReservations(this);
  private final OracleQueues queues = new OracleQueues(this, pool);
  private final OracleOverLimits overLimits = new OracleOverLimits(this);
  private Config config;
  private Topology topology;
  private long now;

  /**
   * A node.
   *
   * @param level name of its level
   */
  public record Place(String level, String node) {}

  /**
   * A running task with the charges made at its start.
   *
   * @param path instance first; empty when job or node were unknown
   * @param charges charges on the path and, on the level of workers, on its worker
   * @param worker its shard; null: none
   */
  public record Run(
      TaskKey task,
      List<Place> path,
      Map<Place, Map<String, Integer>> charges,
      @Nullable String worker) {}

  /** A condition that fails. */
  public record Failure(Kind kind, String node, String resource) {}

  public Oracle(Config config, Topology topology) {
    this.config = config;
    this.topology = topology;
    apply(config, topology);
  }

  // ---- events

  /**
   * Puts a new configuration into force. It forgets the statuses of removed nodes, of jobs that
   * moved to another level, and of removed jobs without running tasks (T9 in
   * docs/design/bistro.md#conformance-of-statuses).
   */
  public void apply(Config newConfig, Topology newTopology) {
    config = newConfig;
    topology = newTopology;
    Map<String, String> levels = new HashMap<>(levelOf);
    newConfig
        .jobs()
        .values()
        .forEach(job -> levels.put(job.name(), topology.levels().name(job.level())));
    statuses
        .keySet()
        .removeIf(
            task ->
                !levels.getOrDefault(task.job(), "").equals(levelOf.get(task.job()))
                    || !isThere(levels.getOrDefault(task.job(), ""), task.node()));
    levelOf.putAll(levels);
    rates.apply(config, topology);
    queues.apply(newConfig);
    forgetIdle();
    overLimits.changed();
  }

  private boolean isThere(String levelName, String node) {
    int level = topology.levels().find(levelName);
    return level >= 0 && level < topology.levels().worker() && topology.find(level, node) >= 0;
  }

  private void forgetIdle() {
    statuses
        .keySet()
        .removeIf(
            task ->
                config.job(task.job()) == null
                    && running.keySet().stream().noneMatch(r -> r.job().equals(task.job())));
  }

  public void advance(long nowMillis) {
    now = Math.max(now, nowMillis);
    rates.advance(nowMillis);
    overLimits.advance(now);
  }

  /** Begins an update; {@link #apply} will follow. */
  public void begin() {
    rates.begin();
    overLimits.begin();
  }

  /** Takes the start tokens along a path. */
  public void takeTokens(TaskKey task, List<Place> path) {
    rates.started(task.job(), path);
  }

  public void setStatus(TaskKey task, @Nullable TaskStatus status) {
    if (status == null) {
      statuses.remove(task);
    } else {
      statuses.put(task, status);
    }
  }

  public void pause(String job, boolean on) {
    if (on) {
      paused.add(job);
    } else {
      paused.remove(job);
    }
  }

  /** Overrides the limit of a node, or of its whole level if the node is empty. */
  public void override(LimitOverride.Key key, @Nullable Integer limit) {
    if (limit == null) {
      overrides.remove(key);
    } else {
      overrides.put(key, limit);
    }
    overLimits.changed();
  }

  /** Closes a node, known or not, or opens it. */
  public void close(Place node, boolean on) {
    if (on) {
      closedNodes.add(node);
    } else {
      closedNodes.remove(node);
    }
  }

  /**
   * Sets or removes a factor.
   *
   * @param factor null: removes it
   */
  public void factor(String id, @Nullable LimitFactor factor) {
    if (factor == null) {
      factors.remove(id);
    } else {
      factors.put(id, factor);
    }
  }

  /**
   * Sets or removes what health leaves of a limit.
   *
   * @param limit null: removes it, without a node for all nodes of the level
   */
  public void health(LimitOverride.Key key, @Nullable Integer limit) {
    if (limit != null) {
      health.put(key, limit);
    } else if (key.node().isEmpty()) {
      health.keySet().removeIf(each -> each.resource().equals(key.resource()));
    } else {
      health.remove(key);
    }
  }

  /**
   * Sets or removes a cap of a job or queue.
   *
   * @param cap null: removes it
   */
  public void cap(String id, @Nullable RunningCap cap) {
    if (cap == null) {
      caps.remove(id);
    } else {
      caps.put(id, cap);
    }
  }

  /** Returns the smallest cap of a job or queue; {@link Integer#MAX_VALUE}: it has none. */
  int cap(Scope scope) {
    return caps.values().stream()
        .filter(cap -> cap.scope().equals(scope))
        .mapToInt(RunningCap::most)
        .min()
        .orElse(Integer.MAX_VALUE);
  }

  public void workers(List<WorkerInfo> workers) {
    overLimits.workers(workers);
    pool.set(workers);
    overLimits.changed();
  }

  /** Registers a running task whose job or node is unknown. */
  public void startOutside(TaskKey task, @Nullable String worker) {
    queues.startedOutside(task);
    if (running.put(task, new Run(task, List.of(), Map.of(), worker)) != null) {
      throw new IllegalStateException("started twice: " + task);
    }
  }

  /** Assigns a path to a registered task whose job and node have become known. */
  public void settle(TaskKey task, List<Place> path) {
    Run run = running.remove(task);
    if (run == null) {
      throw new IllegalStateException("not running: " + task);
    }
    start(task, path, run.worker());
  }

  /** Starts a task along a path on a worker, even if limits are exceeded. */
  public void start(TaskKey task, List<Place> path, @Nullable String worker) {
    Job job = job(task.job());
    Map<Place, Map<String, Integer>> charges = new LinkedHashMap<>();
    for (Place place : path) {
      Map<String, Integer> amounts = new LinkedHashMap<>();
      for (Resource resource : resources(place.level())) {
        amounts.put(resource.name(), job.needs().get(resource.index()));
      }
      charges.put(place, amounts);
    }
    if (worker != null) {
      Map<String, Integer> amounts = new LinkedHashMap<>();
      for (Resource resource : resources(Levels.WORKER)) {
        amounts.put(resource.name(), job.needs().get(resource.index()));
      }
      charges.put(new Place(Levels.WORKER, worker), amounts);
    }
    if (running.put(task, new Run(task, path, charges, worker)) != null) {
      throw new IllegalStateException("started twice: " + task);
    }
    reservations.started(task, path, now);
    rooms.started(task.job(), now);
    overLimits.started(charges.keySet());
  }

  public void finish(TaskKey task, @Nullable TaskStatus status) {
    Run run = running.remove(task);
    if (run == null) {
      throw new IllegalStateException("not running: " + task);
    }
    overLimits.ended(run.charges().keySet());
    if (isThere(levelOf.getOrDefault(task.job(), ""), task.node())) {
      setStatus(task, status);
    }
    forgetIdle();
  }

  // ---- queries

  /**
   * Returns whether a running task may go on with another step: its job, its path and its worker
   * are as open as for a start, apart from slots and rates, of which it takes no more.
   */
  public boolean mayGoOn(TaskKey task) {
    Run run = running.get(task);
    Job job = config.job(task.job());
    if (run == null || job == null || !isKnown(task) || isStopped(job)) {
      return false;
    }
    WorkerInfo worker = run.worker() == null ? null : pool.workers().get(run.worker());
    if (!closings.of(job.name()).isEmpty()
        || job.afterJobs().stream().anyMatch(whole -> !isDone(whole))
        || (run.worker() != null && (worker == null || !worker.takesTasks()))) {
      return false;
    }
    List<Place> upwards = new ArrayList<>(run.path());
    Collections.reverse(upwards);
    return paths(node(job, task.node())).stream()
        .filter(
            path -> path.stream().map(slot -> place(topology.node(slot))).toList().equals(upwards))
        .anyMatch(
            path ->
                path.stream()
                    .allMatch(
                        slot ->
                            topology.enabled(slot)
                                && passes(job, slot)
                                && !closedNodes.contains(place(topology.node(slot)))));
  }

  public Config config() {
    return config;
  }

  public Topology topology() {
    return topology;
  }

  public Map<TaskKey, Run> running() {
    return running;
  }

  /** Returns whether the task exists. */
  public boolean isKnown(TaskKey task) {
    Job job = config.job(task.job());
    return job != null && isThere(topology.levels().name(job.level()), task.node());
  }

  public @Nullable TaskStatus status(TaskKey task) {
    return statuses.get(task);
  }

  private Job job(String name) {
    Job job = config.job(name);
    if (job == null) {
      throw new IllegalArgumentException("no job " + name);
    }
    return job;
  }

  private int node(Job job, String name) {
    return job.level() == topology.levels().worker() ? -1 : topology.find(job.level(), name);
  }

  private List<Resource> resources(String level) {
    return config.settings().resources().ofLevel(topology.levels().find(level));
  }

  private Place place(int node) {
    return new Place(topology.levels().name(topology.level(node)), topology.name(node));
  }

  /** Returns all tasks of a job, in node order. */
  public List<TaskKey> tasks(Job job) {
    List<TaskKey> tasks = new ArrayList<>();
    if (job.level() != topology.levels().worker()) {
      TreeFixture.names(topology, job.level()).forEach(n -> tasks.add(new TaskKey(job.name(), n)));
    }
    return tasks;
  }

  /** Returns the free slots; negative when usage exceeds the limit. */
  public int free(Place place, Resource resource) {
    int configured = OracleLimits.of(config, topology, place.node(), resource);
    return limit(place, resource, configured) - used(place, resource.name());
  }

  /** Returns the reservations of nodes, with what may be reserved. */
  OracleReservations reservations() {
    return reservations;
  }

  /** Returns the reservations of capacity in queues and on workers. */
  OracleCapacity rooms() {
    return rooms;
  }

  OraclePool pool() {
    return pool;
  }

  /**
   * Returns whether something other than a lack of slots or tasks prevents all tasks of a job from
   * starting.
   */
  boolean isStopped(Job job) {
    return !config.settings().enabled() || !job.canRun() || paused.contains(job.name());
  }

  /** Returns the places where usage exceeds the limit. */
  OracleOverLimits overLimits() {
    return overLimits;
  }

  int limitOf(Place place, Resource resource) {
    return limit(place, resource, OracleLimits.of(config, topology, place.node(), resource));
  }

  /**
   * Returns the places on the paths of a task that it could pass if slots were free there and
   * above: it lacks no slots below them.
   *
   * @param otherwise kinds of failures, other than a lack of slots, that exclude the task or the
   *     path
   */
  Set<Place> wantedBy(TaskKey task, Set<Kind> otherwise) {
    Job job = job(task.job());
    Set<Place> wanted = new HashSet<>();
    if (failuresOfTask(job, task.node()).stream().anyMatch(f -> otherwise.contains(f.kind()))) {
      return wanted;
    }
    for (List<Integer> path : paths(node(job, task.node()))) {
      List<Failure> failures = failuresOnPath(job, path);
      if (failures.stream().noneMatch(f -> otherwise.contains(f.kind()))) {
        boolean fits = true;
        for (int slot : path) {
          if (fits) {
            wanted.add(place(topology.node(slot)));
          }
          Place at = place(topology.node(slot));
          fits &= failures.stream().noneMatch(f -> isLackOf(at, f));
        }
      }
    }
    return wanted;
  }

  private boolean isLackOf(Place place, Failure failure) {
    Resource resource = config.settings().resources().find(failure.resource());
    return (failure.kind() == Kind.RESOURCE || failure.kind() == Kind.RESERVED)
        && resource != null
        && failure.node().equals(place.node())
        && topology.levels().name(resource.level()).equals(place.level());
  }

  /** Returns the sum of the effective limits over the nodes of the level or over the workers. */
  long slotsInAll(Resource resource) {
    if (resource.level() == topology.levels().worker()) {
      return pool.workers().values().stream().mapToLong(w -> limitOn(w, resource)).sum();
    }
    String level = topology.levels().name(resource.level());
    return TreeFixture.names(topology, resource.level()).stream()
        .mapToLong(
            name ->
                limit(
                    new Place(level, name),
                    resource,
                    OracleLimits.of(config, topology, name, resource)))
        .sum();
  }

  /** Returns the usage of queues. */
  OracleQueues queues() {
    return queues;
  }

  /** Returns whether the place exists; a worker always does. */
  boolean isThere(Place place) {
    return place.level().equals(Levels.WORKER) || isThere(place.level(), place.node());
  }

  /** Returns the limit with operators' overrides applied, before factors. */
  int baseOf(Place place, Resource resource) {
    return base(place, resource, OracleLimits.of(config, topology, place.node(), resource));
  }

  /** Returns the limit with overrides, factors and health applied. */
  private int limit(Place place, Resource resource, int configured) {
    int base = base(place, resource, configured);
    int least = base;
    for (LimitFactor factor : factors.values()) {
      if (factor.concerns(resource.name()) && isIn(place, factor.scope())) {
        BigDecimal share = BigDecimal.valueOf(factor.millionths(), 6);
        BigDecimal left = BigDecimal.valueOf(base).multiply(share);
        least = Math.min(least, left.setScale(0, RoundingMode.CEILING).intValueExact());
      }
    }
    Integer ofNode = health.get(health(place, resource, place.node()));
    Integer healthy = ofNode != null ? ofNode : health.get(health(place, resource, ""));
    return healthy == null ? least : Math.min(least, healthy);
  }

  private static LimitOverride.Key health(Place place, Resource resource, String node) {
    return new LimitOverride.Key(place.level(), resource.name(), node);
  }

  /** Returns whether a node is in a scope, by any of its paths. */
  private boolean isIn(Place place, Scope scope) {
    return switch (scope.kind()) {
      case ALL -> true;
      case LEVEL -> place.level().equals(scope.level());
      case NODE ->
          paths(topology.find(topology.levels().find(place.level()), place.node())).stream()
              .flatMap(List::stream)
              .map(slot -> place(topology.node(slot)))
              .anyMatch(new Place(scope.level(), scope.name())::equals);
      case JOB, JOB_ON_NODE, QUEUE -> false;
    };
  }

  private int base(Place place, Resource resource, int configured) {
    String level = place.level();
    Integer ofNode = overrides.get(new LimitOverride.Key(level, resource.name(), place.node()));
    Integer ofLevel = overrides.get(new LimitOverride.Key(level, resource.name(), ""));
    return ofNode != null ? ofNode : ofLevel != null ? ofLevel : configured;
  }

  private int used(Place place, String resource) {
    int used = 0;
    for (Run run : running.values()) {
      used += run.charges().getOrDefault(place, Map.of()).getOrDefault(resource, 0);
    }
    return used;
  }

  /** Returns the number of tasks that a worker runs. */
  public int tasksOn(String shard) {
    return (int) running.values().stream().filter(run -> shard.equals(run.worker())).count();
  }

  /** Returns the workers by shard. */
  public Map<String, WorkerInfo> workers() {
    return pool.workers();
  }

  /** Returns the number of a worker's slots in use. */
  public int usedOn(String shard, String resource) {
    return used(new Place(Levels.WORKER, shard), resource);
  }

  /** Returns the total number of a worker's slots. */
  public int limitOn(WorkerInfo worker, Resource resource) {
    return pool.limit(config, worker, resource);
  }

  /** Returns the workers that may take a task that starts along this path. */
  public List<WorkerInfo> eligibleWorkers(TaskKey task, List<Place> path) {
    Job job = job(task.job());
    List<String> host = new ArrayList<>();
    if (!job.hostPlacement().isEmpty()) {
      host.add(job.hostPlacement());
    } else if (isPlaced(job)) {
      String level = topology.levels().name(job.levelForHostPlacement().orElseThrow());
      path.stream().filter(p -> p.level().equals(level)).forEach(p -> host.add(p.node()));
    }
    return pool.eligible(config, job, pool.isLocal() || host.isEmpty() ? null : host.get(0));
  }

  /** Returns whether the paths of a job's tasks may determine their host. */
  private boolean isPlaced(Job job) {
    return job.hostPlacement().isEmpty()
        && job.levelForHostPlacement().isPresent()
        && job.levelForHostPlacement().get() <= job.level()
        && !pool.isLocal();
  }

  private List<Failure> workerFailures(Job job, List<Integer> path) {
    String host = null;
    for (int slot : path) {
      int node = topology.node(slot);
      if (topology.level(node) == job.levelForHostPlacement().orElseThrow()) {
        host = topology.name(node);
      }
    }
    return pool.failures(config, job, host);
  }

  /** Returns all paths of a node, each from the node's own slot to the instance's. */
  public List<List<Integer>> paths(int node) {
    List<List<Integer>> paths = new ArrayList<>();
    for (int i = 0; i < topology.slotCount(node); i++) {
      int slot = topology.slot(node, i);
      if (slot == 0) {
        paths.add(List.of(0));
      } else {
        for (List<Integer> above : paths(topology.parent(slot))) {
          List<Integer> path = new ArrayList<>(List.of(slot));
          path.addAll(above);
          paths.add(path);
        }
      }
    }
    return paths;
  }

  private boolean passes(Job job, int slot) {
    int node = topology.node(slot);
    JobFilter filter = job.filters().get(topology.level(node));
    if (!OracleRoles.permits(job, topology.role(slot))) {
      return false;
    }
    return filter == null
        || FilterEvaluator.passes(filter, job.name(), topology.name(node), topology.tags(slot));
  }

  private List<Failure> failuresOnPath(Job job, List<Integer> path) {
    List<Failure> failures = new ArrayList<>();
    if (isPlaced(job)) {
      failures.addAll(workerFailures(job, path));
    }
    for (int slot : path) {
      int node = topology.node(slot);
      String name = topology.name(node);
      if (!topology.enabled(slot)) {
        failures.add(new Failure(Kind.NODE_DISABLED, name, ""));
      }
      if (closedNodes.contains(place(node))) {
        failures.add(new Failure(Kind.NODE_DISABLED, name, ""));
      }
      if (!passes(job, slot)) {
        failures.add(new Failure(Kind.FILTERED, name, ""));
      }
      failures.addAll(rates.ofNode(place(node)));
      failures.addAll(
          OracleGroups.failures(config, topology, node, OracleGroups.busy(topology, running)));
      for (Resource resource : config.settings().resources().ofLevel(topology.level(node))) {
        int need = job.needs().get(resource.index());
        if (need > 0 && need > free(place(node), resource)) {
          failures.add(new Failure(Kind.RESOURCE, name, resource.name()));
        } else if (reservations.keepsFrom(job, place(node), resource)) {
          failures.add(new Failure(Kind.RESERVED, name, resource.name()));
        }
      }
    }
    return failures;
  }

  private boolean waits(TaskStatus status) {
    if (status.main() == Main.RUNNING || status.backoffSeconds() <= 0) {
      return false;
    }
    long end = status.sinceMillis() + status.backoffSeconds() * 1000L;
    // Timers have a resolution of 10 ms.
    return now < (end + 9) / 10 * 10;
  }

  private boolean isDone(String job, String node) {
    Job configured = config.job(job);
    TaskKey task = new TaskKey(job, node);
    TaskStatus status = statuses.get(task);
    return configured != null
        && node(configured, node) >= 0
        && !running.containsKey(task)
        && status != null
        && status.main() == Main.DONE;
  }

  /** Returns the conditions that fail for all tasks of a job, except those of workers. */
  private List<Failure> failuresOfJob(Job job) {
    List<Failure> failures = new ArrayList<>();
    if (!config.settings().enabled()) {
      failures.add(new Failure(Kind.SCHEDULER_DISABLED, "", ""));
    }
    if (!job.enabled()) {
      failures.add(new Failure(Kind.JOB_DISABLED, "", ""));
    }
    if (!job.isValid()) {
      failures.add(new Failure(Kind.JOB_INVALID, "", ""));
    }
    if (paused.contains(job.name())) {
      failures.add(new Failure(Kind.JOB_PAUSED, "", ""));
    }
    failures.addAll(
        rates.ofJob(
            job,
            running.keySet().stream().filter(r -> r.job().equals(job.name())).count(),
            cap(Scope.job(job.name()))));
    closings.of(job.name()).forEach(kind -> failures.add(new Failure(kind, "", "")));
    failures.addAll(queues.failures(job));
    for (WholeJobDependency whole : job.afterJobs()) {
      if (!isDone(whole)) {
        failures.add(new Failure(Kind.JOB_DEPENDENCY, "", ""));
      }
    }
    return failures;
  }

  /** Returns the host of its tasks if that does not depend on their path; null: any host. */
  @Nullable String hostOf(Job job) {
    return pool.isLocal() || job.hostPlacement().isEmpty() ? null : job.hostPlacement();
  }

  /**
   * Returns whether only slots in use prevent a job from passing a place and the places above it,
   * so that the place may be reserved for it (docs/adr/0035-reservations.md).
   */
  boolean mayGoUp(Job job, Place place) {
    return failuresOfJob(job).isEmpty()
        && paths(topology.find(topology.levels().find(place.level()), place.node())).stream()
            .anyMatch(path -> mayGoAlong(job, path));
  }

  private boolean mayGoAlong(Job job, List<Integer> path) {
    boolean isPlaced = isPlaced(job);
    for (int slot : path) {
      int node = topology.node(slot);
      for (Resource resource : config.settings().resources().ofLevel(topology.level(node))) {
        int need = job.needs().get(resource.index());
        if (need > 0 && need > limitOf(place(node), resource)) {
          return false;
        }
      }
      boolean isHost =
          isPlaced && topology.level(node) == job.levelForHostPlacement().orElseThrow();
      if (!topology.enabled(slot)
          || closedNodes.contains(place(node))
          || !passes(job, slot)
          || (isHost && !pool.isThere(config, job, topology.name(node)))) {
        return false;
      }
    }
    return isPlaced || pool.isThere(config, job, hostOf(job));
  }

  /**
   * Returns whether a job lacks slots of a place, or of one above it, because they are in use or
   * reserved.
   */
  boolean lacksSlotsUpwards(Job job, Place place) {
    int own = topology.find(topology.levels().find(place.level()), place.node());
    return paths(own).stream()
        .flatMap(List::stream)
        .map(slot -> place(topology.node(slot)))
        .anyMatch(
            at ->
                config.settings().resources().ofLevel(topology.levels().find(at.level())).stream()
                    .anyMatch(r -> lacks(job, at, r)));
  }

  private boolean lacks(Job job, Place place, Resource resource) {
    int need = job.needs().get(resource.index());
    return (need > 0 && need > free(place, resource))
        || reservations.keepsFrom(job, place, resource);
  }

  private List<Failure> failuresOfTask(Job job, String node) {
    List<Failure> failures = failuresOfJob(job);
    if (!isPlaced(job)) {
      failures.addAll(pool.failures(config, job, hostOf(job)));
    }
    TaskKey task = new TaskKey(job.name(), node);
    TaskStatus status = statuses.get(task);
    if (running.containsKey(task)) {
      failures.add(new Failure(Kind.ALREADY_RUNNING, "", ""));
    } else if (status != null && status.main() == Main.DONE) {
      failures.add(new Failure(Kind.DONE, "", ""));
    } else if (status != null && status.main() == Main.FAILED) {
      failures.add(new Failure(Kind.FAILED, "", ""));
    } else if (status != null && status.main() == Main.CANCELLED) {
      failures.add(new Failure(Kind.CANCELLED, "", ""));
    } else if (status != null && waits(status)) {
      failures.add(new Failure(Kind.BACKOFF, "", ""));
    }
    for (String dependency : job.dependsOn()) {
      if (!isDone(dependency, node)) {
        failures.add(new Failure(Kind.DEPENDENCY, node, ""));
      }
    }
    return failures;
  }

  /** Returns whether a job cannot start because other jobs have not progressed far enough. */
  boolean waitsForJobs(String name) {
    Job job = config.job(name);
    return job != null && job.afterJobs().stream().anyMatch(whole -> !isDone(whole));
  }

  /**
   * Returns whether enough of the tasks of a job are done, counting those that pass its filters.
   */
  private boolean isDone(WholeJobDependency whole) {
    Job job = config.job(whole.job());
    if (job == null || !job.canRun() || !config.settings().enabled()) {
      return false;
    }
    int done = 0;
    int all = 0;
    for (TaskKey task : tasks(job)) {
      int node = node(job, task.node());
      boolean tagged = whole.tags().isEmpty();
      for (int i = 0; i < topology.slotCount(node); i++) {
        tagged |= topology.tags(topology.slot(node, i)).stream().anyMatch(whole.tags()::contains);
      }
      if (tagged && verdict(job, node) != Verdict.AVOIDED) {
        all++;
        done += isDone(job.name(), task.node()) ? 1 : 0;
      }
    }
    return done * 100.0 >= whole.donePercent() * all;
  }

  /**
   * Returns all conditions that fail, on the path with the fewest (the first such in slot order).
   */
  public List<Failure> failures(TaskKey task) {
    Job job = job(task.job());
    List<Failure> failures = failuresOfTask(job, task.node());
    List<Failure> best = null;
    for (List<Integer> path : paths(node(job, task.node()))) {
      List<Failure> some = failuresOnPath(job, path);
      if (best == null || some.size() < best.size()) {
        best = some;
      }
    }
    if (best != null) {
      failures.addAll(best);
    }
    return failures;
  }

  /**
   * Returns whether something other than slots, tokens, workers and its own status blocks a task.
   */
  boolean isKept(TaskKey task) {
    return failuresOfTask(job(task.job()), task.node()).stream()
        .anyMatch(failure -> KEEPING.contains(failure.kind()));
  }

  /** Returns the same for all tasks of a job. */
  boolean isKept(Job job) {
    return failuresOfJob(job).stream().anyMatch(failure -> KEEPING.contains(failure.kind()));
  }

  /** Returns whether the task may start along some path. */
  public boolean isEligible(TaskKey task) {
    return failures(task).isEmpty();
  }

  /** Returns whether the task may start along this path. */
  public boolean isEligible(TaskKey task, List<Place> path) {
    return eligiblePaths(task).contains(path);
  }

  /** Returns the paths along which the task may start, each from the instance down. */
  List<List<Place>> eligiblePaths(TaskKey task) {
    Job job = config.job(task.job());
    if (job == null || !failuresOfTask(job, task.node()).isEmpty()) {
      return List.of();
    }
    int node = node(job, task.node());
    if (node < 0) {
      return List.of();
    }
    List<List<Place>> eligible = new ArrayList<>();
    for (List<Integer> slots : paths(node)) {
      if (failuresOnPath(job, slots).isEmpty()) {
        List<Place> places = new ArrayList<>();
        slots.forEach(slot -> places.add(0, place(topology.node(slot))));
        eligible.add(places);
      }
    }
    return eligible;
  }

  /** Returns all tasks that may start now, by job. */
  public Map<String, List<String>> eligible() {
    Map<String, List<String>> eligible = new TreeMap<>();
    for (Job job : config.jobs().values()) {
      for (TaskKey task : tasks(job)) {
        if (isEligible(task)) {
          eligible.computeIfAbsent(job.name(), j -> new ArrayList<>()).add(task.node());
        }
      }
    }
    return eligible;
  }

  private enum Verdict {
    YES,
    AVOIDED,
    DISABLED
  }

  private Verdict verdict(Job job, int node) {
    Verdict best = Verdict.DISABLED;
    for (List<Integer> path : paths(node)) {
      Verdict verdict = Verdict.YES;
      for (int slot : path) {
        if (verdict == Verdict.YES && !topology.enabled(slot)) {
          verdict = Verdict.DISABLED;
        }
        if (verdict == Verdict.YES && !passes(job, slot)) {
          verdict = Verdict.AVOIDED;
        }
      }
      best = verdict.compareTo(best) < 0 ? verdict : best;
    }
    return best;
  }

  /** Returns the bits of a task as in histograms (docs/design/bistro.md#histograms). */
  public int bits(TaskKey task) {
    Job job = job(task.job());
    Verdict verdict = verdict(job, node(job, task.node()));
    int bits =
        switch (verdict) {
          case YES -> 0;
          case AVOIDED -> TaskStatus.AVOIDED;
          case DISABLED -> TaskStatus.DISABLED;
        };
    TaskStatus status = statuses.get(task);
    if (running.containsKey(task)) {
      return bits | Main.RUNNING.bit();
    }
    if (status == null) {
      return bits == 0 ? Main.UNSTARTED.bit() : bits;
    }
    if (status.main() == Main.CANCELLED) {
      return bits | Main.CANCELLED.bit();
    }
    int own = status.bits();
    return bits | (waits(status) ? own | TaskStatus.USES_BACKOFF : own & ~TaskStatus.USES_BACKOFF);
  }

  /** Returns, by level name and bits, the number of nodes. */
  public Map<String, Map<Integer, Long>> histogram(Job job) {
    Map<Integer, Integer> byNode = new HashMap<>();
    for (TaskKey task : tasks(job)) {
      int node = node(job, task.node());
      int bits = bits(task);
      Set<Integer> above = new HashSet<>();
      for (List<Integer> path : paths(node)) {
        path.forEach(slot -> above.add(topology.node(slot)));
      }
      above.forEach(n -> byNode.merge(n, bits, (a, b) -> a | b));
    }
    Map<String, Map<Integer, Long>> histogram = new HashMap<>();
    byNode.forEach(
        (node, bits) ->
            histogram
                .computeIfAbsent(topology.levels().name(topology.level(node)), l -> new TreeMap<>())
                .merge(bits, 1L, Long::sum));
    return histogram;
  }

  /** Returns the running tasks that should not run (docs/design/bistro.md#orphans). */
  public Set<TaskKey> orphans() {
    Set<TaskKey> orphans = new HashSet<>();
    for (TaskKey task : running.keySet()) {
      Job job = config.job(task.job());
      if (job == null || !job.canRun() || !isEnabledSomewhere(job, task.node())) {
        orphans.add(task);
      }
    }
    return orphans;
  }

  /**
   * Returns whether the node is enabled on the job's own level, or on any level if it is missing
   * there.
   */
  private boolean isEnabledSomewhere(Job job, String name) {
    int own = node(job, name);
    Set<Integer> nodes = new TreeSet<>();
    for (int level = 0; level <= topology.levels().bottom(); level++) {
      nodes.add(own >= 0 ? own : topology.find(level, name));
    }
    nodes.remove(-1);
    for (int node : nodes) {
      for (List<Integer> path : paths(node)) {
        if (path.stream().allMatch(topology::enabled)) {
          return true;
        }
      }
    }
    return false;
  }
}
