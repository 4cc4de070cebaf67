package io.espalier.testkit.oracle;

import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.config.WholeJobDependency;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A reference implementation of the scheduling core in its slowest and most obvious form:
 * everything is identified by name, nothing computable is stored, and every query is answered by a
 * full scan (docs/design/design.md#the-index, and literally as in docs/design/bistro.md#filters and
 * the sections after it).
 *
 * <p>This class has the statuses, the running tasks and the conditions for a start; what the
 * conditions are made of has a class each, such as {@link OracleSlots} for limits and {@link
 * OracleReservations}.
 */
public final class Oracle {
  private final Map<TaskKey, TaskStatus> statuses = new HashMap<>();
  private final Map<TaskKey, Run> running = new HashMap<>();

  /** The name of the task level of every job that was ever configured. */
  private final Map<String, String> levelOf = new HashMap<>();

  private final Set<String> paused = new HashSet<>();
  private final OracleJobBlocks closings = new OracleJobBlocks();
  private final OracleNodeGates nodeGates = new OracleNodeGates();
  private final OracleTree tree = new OracleTree(this);
  private final OracleSlots slots = new OracleSlots(this);
  private final OracleSteps steps = new OracleSteps(this);
  private final OracleReach reach = new OracleReach(this);
  private final OracleViews views = new OracleViews(this);
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
            public String instance() {
              return topology.name(topology.levelStart(0));
            }

            @Override
            public int limit(String shard, Resource resource, int configured) {
              String name = shard.isEmpty() ? instance() : shard;
              return slots.base(new Place(Levels.WORKER, name), resource, configured);
            }
          });
  private final OracleRates rates = new OracleRates();
  private final OracleCapacity rooms = new OracleCapacity(this);
  private final OracleReservations reservations = new OracleReservations(this);
  private final OracleQueues queues = new OracleQueues(this, pool);
  private final OracleOverLimits overLimits = new OracleOverLimits(this);
  private final OracleBatches batches = new OracleBatches(this);
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
                    || !tree.isThere(levels.getOrDefault(task.job(), ""), task.node()));
    levelOf.putAll(levels);
    rates.apply(config, topology);
    queues.apply(newConfig);
    forgetIdle();
    overLimits.changed();
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

  public OracleNodeGates nodeGates() {
    return nodeGates;
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

  /**
   * Starts a task along a path on a worker, even if limits are exceeded. A task of a batch that
   * {@link #batches} knows is charged what it shares only if it carries that.
   */
  public void start(TaskKey task, List<Place> path, @Nullable String worker) {
    Job job = job(task.job());
    Set<String> carried =
        batches.isCarriedByAnother(task) ? OracleBatches.shared(this, job) : Set.of();
    Map<Place, Map<String, Integer>> charges = new LinkedHashMap<>();
    for (Place place : path) {
      Map<String, Integer> amounts = new LinkedHashMap<>();
      for (Resource resource : resources(place.level())) {
        boolean takes = !carried.contains(resource.name());
        amounts.put(resource.name(), takes ? job.needs().get(resource.index()) : 0);
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
    if (tree.isThere(levelOf.getOrDefault(task.job(), ""), task.node())) {
      setStatus(task, status);
    }
    forgetIdle();
  }

  // ---- queries

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
    return job != null && tree.isThere(topology.levels().name(job.level()), task.node());
  }

  public @Nullable TaskStatus status(TaskKey task) {
    return statuses.get(task);
  }

  Job job(String name) {
    Job job = config.job(name);
    if (job == null) {
      throw new IllegalArgumentException("no job " + name);
    }
    return job;
  }

  private List<Resource> resources(String level) {
    return config.settings().resources().ofLevel(topology.levels().find(level));
  }

  /** Returns all tasks of a job, in node order. */
  public List<TaskKey> tasks(Job job) {
    List<TaskKey> tasks = new ArrayList<>();
    if (job.level() != topology.levels().worker()) {
      OracleTree.names(topology, job.level()).forEach(n -> tasks.add(new TaskKey(job.name(), n)));
    }
    return tasks;
  }

  /** Returns the free slots; negative when usage exceeds the limit. */
  public int free(Place place, Resource resource) {
    int configured = OracleLimits.of(config, topology, place.node(), resource);
    return slots.limit(place, resource, configured) - used(place, resource.name());
  }

  /** Returns the blocks of jobs by windows, brakes and deadlines. */
  public OracleJobBlocks closings() {
    return closings;
  }

  /** Returns the reservations of nodes, with what may be reserved. */
  public OracleReservations reservations() {
    return reservations;
  }

  /** Returns the reservations of capacity in queues and on workers. */
  public OracleCapacity rooms() {
    return rooms;
  }

  OraclePool pool() {
    return pool;
  }

  public OracleTree tree() {
    return tree;
  }

  public OracleSlots slots() {
    return slots;
  }

  public OracleSteps steps() {
    return steps;
  }

  public OracleReach reach() {
    return reach;
  }

  public OracleViews views() {
    return views;
  }

  /**
   * Returns whether something other than a lack of slots or tasks prevents all tasks of a job from
   * starting.
   */
  boolean isStopped(Job job) {
    return !config.settings().enabled() || !job.canRun() || paused.contains(job.name());
  }

  /** Returns the places where usage exceeds the limit. */
  public OracleOverLimits overLimits() {
    return overLimits;
  }

  public int limitOf(Place place, Resource resource) {
    return slots.limit(place, resource, OracleLimits.of(config, topology, place.node(), resource));
  }

  /** Returns the batches whose tasks share a charge. */
  public OracleBatches batches() {
    return batches;
  }

  /** Returns the usage of queues. */
  public OracleQueues queues() {
    return queues;
  }

  /** Returns whether the place exists; a worker always does. */
  boolean isThere(Place place) {
    return place.level().equals(Levels.WORKER) || tree.isThere(place.level(), place.node());
  }

  /** Returns the limit with operators' overrides applied, before factors. */
  int baseOf(Place place, Resource resource) {
    return slots.base(place, resource, OracleLimits.of(config, topology, place.node(), resource));
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
    } else if (pool.isPlaced(job)) {
      String level = topology.levels().name(job.levelForHostPlacement().orElseThrow());
      path.stream().filter(p -> p.level().equals(level)).forEach(p -> host.add(p.node()));
    }
    return pool.eligible(config, job, pool.isLocal() || host.isEmpty() ? null : host.get(0));
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

  List<Failure> failuresOnPath(Job job, List<Integer> path) {
    List<Failure> failures = new ArrayList<>();
    if (pool.isPlaced(job)) {
      failures.addAll(workerFailures(job, path));
    }
    for (int slot : path) {
      int node = topology.node(slot);
      String name = topology.name(node);
      if (!topology.enabled(slot)) {
        failures.add(new Failure(Kind.NODE_DISABLED, name, ""));
      }
      failures.addAll(nodeGates.failures(tree.place(node), job));
      if (!tree.passes(job, slot)) {
        failures.add(new Failure(Kind.FILTERED, name, ""));
      }
      failures.addAll(rates.ofNode(tree.place(node)));
      failures.addAll(
          OracleGroups.failures(
              config, topology, node, OracleGroups.busy(topology, running), slots));
      for (Resource resource : config.settings().resources().ofLevel(topology.level(node))) {
        int need = job.needs().get(resource.index());
        if (need > 0 && need > free(tree.place(node), resource)) {
          failures.add(new Failure(Kind.RESOURCE, name, resource.name()));
        } else if (reservations.keepsFrom(job, tree.place(node), resource)) {
          failures.add(new Failure(Kind.RESERVED, name, resource.name()));
        }
      }
    }
    return failures;
  }

  boolean waits(TaskStatus status) {
    if (status.main() == Main.RUNNING || status.backoffSeconds() <= 0) {
      return false;
    }
    long end = status.sinceMillis() + status.backoffSeconds() * 1000L;
    // Timers have a resolution of 10 ms.
    return now < (end + 9) / 10 * 10;
  }

  /** Returns the conditions that fail for all tasks of a job, except those of workers. */
  List<Failure> failuresOfJob(Job job) {
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
            slots.cap(Scope.job(job.name()))));
    closings.of(job.name()).forEach(kind -> failures.add(new Failure(kind, "", "")));
    failures.addAll(queues.failures(job));
    for (WholeJobDependency whole : job.afterJobs()) {
      if (!steps.isDone(whole)) {
        failures.add(new Failure(Kind.JOB_DEPENDENCY, "", ""));
      }
    }
    return failures;
  }

  List<Failure> failuresOfTask(Job job, String node) {
    List<Failure> failures = failuresOfJob(job);
    if (!pool.isPlaced(job)) {
      failures.addAll(pool.failures(config, job, pool.hostOf(job)));
    }
    TaskKey task = new TaskKey(job.name(), node);
    TaskStatus status = statuses.get(task);
    if (running.containsKey(task)) {
      failures.add(new Failure(Kind.ALREADY_RUNNING, "", ""));
    } else if (status != null && !waits(status) && OracleSteps.isClosed(status)) {
      failures.add(new Failure(Kind.DONE, "", ""));
    } else if (status != null && status.main() == Main.FAILED) {
      failures.add(new Failure(Kind.FAILED, "", ""));
    } else if (status != null && status.main() == Main.CANCELLED) {
      failures.add(new Failure(Kind.CANCELLED, "", ""));
    } else if (status != null && waits(status)) {
      failures.add(new Failure(Kind.BACKOFF, "", ""));
    }
    for (String dependency : job.dependsOn()) {
      if (!steps.isDone(dependency, node)) {
        failures.add(new Failure(Kind.DEPENDENCY, node, ""));
      }
    }
    if (closings.waitsForStage(job.name(), node)) {
      failures.add(new Failure(Kind.ROLLOUT, node, ""));
    }
    return failures;
  }

  /**
   * Returns all conditions that fail, on the path with the fewest (the first such in slot order);
   * of a task that runs or is done, only that.
   */
  public List<Failure> failures(TaskKey task) {
    Job job = job(task.job());
    List<Failure> failures = failuresOfTask(job, task.node());
    for (Failure failure : failures) {
      if (failure.kind() == Kind.ALREADY_RUNNING || failure.kind() == Kind.DONE) {
        return List.of(failure);
      }
    }
    List<Failure> best = null;
    for (List<Integer> path : tree.paths(tree.node(job, task.node()))) {
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

  /** Returns whether the task may start along some path. */
  public boolean isEligible(TaskKey task) {
    return failures(task).isEmpty();
  }

  /** Returns whether the task may start along this path. */
  public boolean isEligible(TaskKey task, List<Place> path) {
    return eligiblePaths(task).contains(path);
  }

  /** Returns the paths along which the task may start, each from the instance down. */
  public List<List<Place>> eligiblePaths(TaskKey task) {
    Job job = config.job(task.job());
    if (job == null || !failuresOfTask(job, task.node()).isEmpty()) {
      return List.of();
    }
    int node = tree.node(job, task.node());
    if (node < 0) {
      return List.of();
    }
    List<List<Place>> eligible = new ArrayList<>();
    for (List<Integer> slots : tree.paths(node)) {
      if (failuresOnPath(job, slots).isEmpty()) {
        List<Place> places = new ArrayList<>();
        slots.forEach(slot -> places.add(0, tree.placeOf(slot)));
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
}
