package io.espalier.core.scheduling;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.config.Roles;
import io.espalier.core.status.LimitOverride;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Everything that is numbered by the jobs and nodes of one configuration: statuses, free slots, the
 * index over them, and where the running tasks stand. A change of jobs or nodes makes a new world
 * out of the old one ({@link Migration}); what happens within a world costs what it touches.
 */
final class World {
  private static final boolean[] READY = new boolean[StatusCodes.COUNT];
  private static final boolean[] DONE = new boolean[StatusCodes.COUNT];
  private static final boolean[] HAS_DETAIL = new boolean[StatusCodes.COUNT];

  static {
    for (int code = 0; code < StatusCodes.COUNT; code++) {
      READY[code] = StatusCodes.isReady(code);
      DONE[code] = StatusCodes.isDone(code);
      HAS_DETAIL[code] = StatusCodes.hasDetail(code);
    }
  }

  final Topology topology;
  final JobTable jobs;
  final Ledger ledger;
  final OverLimits over;
  final OpenIndex index;
  final WorkerHosts hosts;
  final WorkerIndex workers;
  final TaskTable tasks;
  final WholeJobs wholeJobs;
  final RateClock clock;
  final JobCaps caps;
  final NodeRates rates;
  final QueueTable queues;
  final HistogramRows histograms;
  final RunPlaces places;
  final Timers timers;

  /** Null: no job can be starved by lighter ones. */
  final @Nullable Reservations reservations;

  /** Room of queues and workers that is kept for jobs. */
  final SharedRooms rooms;

  final LimitOverrides overrides = new LimitOverrides();
  final LimitShifts limits = new LimitShifts(this, overrides);
  final RunTable runs;
  final WorkerTable pool;
  final Map<String, WorkerSelector> selectors;

  private final Charges[] charges;
  private final int[] path;
  private final boolean[] refit;
  private Config config;
  private NodeLimits nodeLimits;
  private NeverFits neverFits;
  private int version;

  /** Notes every task that changes while the next world is being made. */
  private @Nullable LongQueue log;

  /**
   * @param allowed see {@link OpenIndex}
   */
  World(
      Config config,
      Topology topology,
      NodeLimits nodeLimits,
      JobTable jobs,
      TaskTable tasks,
      long[] allowed,
      Randomness random,
      RunTable runs,
      WorkerTable pool,
      Map<String, WorkerSelector> selectors,
      RateClock clock) {
    this.config = config;
    this.topology = topology;
    this.nodeLimits = nodeLimits;
    neverFits = NeverFits.of(jobs, nodeLimits, config.settings(), topology);
    this.jobs = jobs;
    this.tasks = tasks;
    this.runs = runs;
    this.pool = pool;
    this.selectors = selectors;
    this.clock = clock;
    caps = new JobCaps(jobs, clock);
    rates = new NodeRates(topology, config.settings().rules().startRates(), clock);
    ResourceCatalog catalog = config.settings().resources();
    Levels levels = topology.levels();
    over = new OverLimits(catalog.count());
    ledger = new Ledger(topology, catalog, nodeLimits, jobs, over);
    int[] placement = WorkerIndex.placementLevels(pool.mode(), jobs);
    hosts = new WorkerHosts(topology, jobs, placement);
    HeavyJobs heavy = HeavyJobs.of(topology, catalog, jobs);
    reservations = heavy == null ? null : new Reservations(this, heavy);
    index =
        new OpenIndex(
            topology, ledger, jobs, config.settings().nodeOrder(), allowed, gates(), random);
    if (reservations != null) {
      index.watch(reservations);
    }
    workers =
        new WorkerIndex(
            pool,
            selectors,
            config.settings(),
            jobs,
            hosts,
            placement,
            index,
            overrides,
            over,
            topology.name(0));
    queues = new QueueTable(config, jobs, ledger, workers);
    wholeJobs = new WholeJobs(topology, jobs, tasks);
    histograms = new HistogramRows(topology, jobs, tasks);
    places = new RunPlaces(levels.count(), jobs.needs);
    timers = new Timers(this::isWaitingFor);
    charges = new Charges[jobs.count()];
    for (int j = 0; j < charges.length; j++) {
      charges[j] = new Charges(levels, catalog, jobs.needs[j]);
    }
    rooms = new SharedRooms(this);
    path = new int[levels.count()];
    refit = new boolean[levels.count()];
  }

  private NodeGate[] gates() {
    List<NodeGate> all = new ArrayList<>();
    if (hosts.placesAny()) {
      all.add(hosts);
    }
    if (rates.limitsAny()) {
      all.add(rates);
    }
    if (reservations != null) {
      all.add(reservations);
    }
    return all.toArray(new NodeGate[0]);
  }

  Config config() {
    return config;
  }

  /** The configured limits, whatever operators say. */
  NodeLimits nodeLimits() {
    return nodeLimits;
  }

  /** Jobs that need more than any node has. */
  NeverFits neverFits() {
    return neverFits;
  }

  /** The largest limit that any node has, by configuration or operator; at times a little more. */
  int largestLimit(Resource resource) {
    int largest = nodeLimits.largest(resource.index());
    for (LimitOverride override : overrides.all()) {
      if (override.resource().equals(resource.name())) {
        largest = Math.max(largest, override.limit());
      }
    }
    return largest;
  }

  /** A configuration that differs in nothing that is numbered. */
  void setConfig(Config next, NodeLimits nextLimits, NeverFits nextNeverFits) {
    config = next;
    nodeLimits = nextLimits;
    neverFits = nextNeverFits;
    version++;
    jobs.replace(next);
    caps.reread();
    queues.replace(next);
    rooms.changed();
  }

  /** Grows with every change in place. */
  int version() {
    return version;
  }

  /**
   * @param nodes receives the nodes that are charged a token
   */
  void logTo(@Nullable LongQueue queue, @Nullable LongQueue nodes) {
    log = queue;
    rates.logTo(nodes);
  }

  // ---- statuses

  /** The first tick at which a status no longer waits; 0: it never did. */
  static long waitEnd(@Nullable TaskStatus status) {
    if (status == null || !status.usesBackoff() || status.backoffSeconds() <= 0) {
      return 0;
    }
    long end = status.sinceMillis() + status.backoffSeconds() * 1000L;
    return -Math.floorDiv(-end, (long) SchedulingCore.TICK_MILLIS);
  }

  private boolean isWaitingFor(long task, long tick) {
    int job = TaskTable.job(task);
    int node = TaskTable.node(task);
    return StatusCodes.isWaiting(tasks.code(job, node)) && waitEnd(tasks.detail(job, node)) == tick;
  }

  /**
   * The status of a task. While it runs: the one given by {@link #setStatus}, or that of before its
   * start. Null also where it is plainly done.
   */
  @Nullable TaskStatus status(int job, int node) {
    int code = tasks.code(job, node);
    if (HAS_DETAIL[code]) {
      return tasks.detail(job, node);
    }
    int run = StatusCodes.isRunning(code) ? places.find(job, node) : -1;
    return run < 0 ? null : runs.status(run);
  }

  /** Gives a task a status and brings the index up to date. */
  void setStatus(int job, int node, @Nullable TaskStatus status, long nowMillis) {
    int code = tasks.code(job, node);
    if (StatusCodes.isRunning(code)) {
      runs.setStatus(places.find(job, node), status);
      return;
    }
    if (HAS_DETAIL[code]) {
      tasks.removeDetail(job, node);
    }
    if (assign(job, node, status, nowMillis)) {
      index.refresh(node, jobs.levels[job], job >>> 6);
    }
  }

  /**
   * The same for a task of which no status is kept, without the index of the node itself; returns
   * whether that must follow.
   */
  private boolean assign(int job, int node, @Nullable TaskStatus status, long nowMillis) {
    long end = waitEnd(status);
    boolean waiting = end * SchedulingCore.TICK_MILLIS > nowMillis;
    int code = StatusCodes.of(status, waiting);
    if (status != null && HAS_DETAIL[code]) {
      tasks.addDetail(job, node, status);
    }
    if (waiting) {
      timers.add(TaskTable.key(job, node), end);
    }
    return write(job, node, StatusCodes.keepEffect(code, tasks.code(job, node)));
  }

  /**
   * Changes a code and what hangs on it: counts, histogram, tasks that depend on it.
   *
   * @return whether the task's own ready bit changed, so that its node must be refreshed
   */
  private boolean write(int job, int node, int code) {
    if (log != null) {
      log.add(TaskTable.key(job, node));
    }
    int before = tasks.set(job, node, code);
    if (before == code) {
      return false;
    }
    histograms.touch(job, node);
    if (DONE[before] != DONE[code]) {
      wholeJobs.touch(job);
      for (int dependant : jobs.dependants[job]) {
        int other = sameName(job, node, dependant);
        if (other >= 0 && updateReady(dependant, other) && (dependant != job || other != node)) {
          index.refresh(other, jobs.levels[dependant], dependant >>> 6);
        }
      }
    }
    return READY[before] != READY[code] && updateReady(job, node);
  }

  private boolean updateReady(int job, int node) {
    return index.setReady(node, job, isReady(job, node));
  }

  /** Whether status and dependencies let the task start. */
  boolean isReady(int job, int node) {
    return READY[tasks.code(job, node)] && dependenciesDone(job, node);
  }

  private boolean dependenciesDone(int job, int node) {
    for (int dependency : jobs.dependencies[job]) {
      if (!isDependencyDone(job, node, dependency)) {
        return false;
      }
    }
    return true;
  }

  /**
   * @param dependency job number, -1: not configured
   */
  boolean isDependencyDone(int job, int node, int dependency) {
    if (dependency < 0) {
      return false;
    }
    int other = sameName(job, node, dependency);
    return other >= 0 && DONE[tasks.code(dependency, other)];
  }

  /** The node of the same name among another job's tasks, or -1. */
  int sameName(int job, int node, int otherJob) {
    int level = jobs.levels[otherJob];
    if (level == jobs.levels[job]) {
      return node;
    }
    return level < 0 ? -1 : topology.find(level, topology.name(node));
  }

  /** Bits of the jobs of which a task may start now. */
  long openJobs(int word) {
    return index.openAtRoot(word)
        & jobs.active(word)
        & workers.open(word)
        & caps.open(word)
        & queues.open(word);
  }

  // ---- starting and ending

  /** Starts a task of a job that is open at the root. */
  int start(int job) {
    int level = jobs.levels[job];
    int node = index.descend(job, level, path);
    Arrays.fill(path, level + 1, path.length, -1);
    int run = enter(job, node, level, workers.choose(job, path), jobs.needs[job]);
    caps.started(job);
    rates.started(path, index);
    return run;
  }

  private boolean starts(int job, int node, int level) {
    return reservations != null && node >= 0 && reservations.started(job, node, level);
  }

  /** Whether it is kept free for a job, so that others fit depending on all that is free there. */
  boolean isHeld(int node, int level) {
    return reservations != null && reservations.isHeld(node, level);
  }

  /** The limit of a node has changed; returns whether the index must look at it for that. */
  boolean limitChanged(int node, int level) {
    if (reservations == null) {
      return false;
    }
    reservations.limitsChanged();
    return reservations.isHeld(node, level);
  }

  /** A task started in the world before while it was carried over: those who wait begin anew. */
  void startedBefore(int run) {
    for (int l = path.length - 1; l >= 0; l--) {
      int node = places.node(run, l);
      if (starts(places.job(run), node, l)) {
        index.refresh(node, l);
      }
    }
  }

  /** A job has become active or has ceased to be. */
  void activated(int job, boolean on) {
    if (reservations != null) {
      reservations.activated(job, on);
    }
    if (!on) {
      rooms.stopped(job);
    }
  }

  /** A round is over; until time is told again it may be later than was told. */
  void roundOver() {
    if (reservations != null) {
      reservations.clockRuns();
    }
    rooms.roundOver();
  }

  /** Goes on with what is kept free, when this world comes into force. */
  void takeOver(World before, Change change) {
    if (reservations != null) {
      reservations.takeOver(before.reservations, change);
    }
    rooms.takeOver(before.rooms, change);
  }

  /** The next tick at which a back-off or a wait for slots ends. */
  private long nextTick() {
    long next = Math.min(timers.nextTick(), rooms.nextTick());
    return reservations == null ? next : Math.min(next, reservations.nextTick());
  }

  /** The role of the lowest place with one on the path of a running task; empty: none. */
  String roleOf(int run) {
    if (!topology.hasRoles()) {
      return Roles.NONE;
    }
    int node = -1;
    for (int l = path.length - 1; l >= 0; l--) {
      int parent = places.node(run, l);
      if (parent >= 0 && node >= 0) {
        String role = roleUnder(node, parent);
        if (!role.isEmpty()) {
          return role;
        }
      }
      node = parent >= 0 ? parent : node;
    }
    return Roles.NONE;
  }

  private String roleUnder(int node, int parent) {
    for (int i = 0; i < topology.slotCount(node); i++) {
      int slot = topology.slot(node, i);
      if (topology.parent(slot) == parent) {
        return topology.role(slot);
      }
    }
    return Roles.NONE;
  }

  /** What the tasks of a job are charged. */
  Charges charges(int job) {
    return charges[job];
  }

  /** Takes a given task for running, fitting or not, where least is missing. */
  int adopt(int job, int node, int worker) {
    findBestPath(job, node);
    int[] amounts = countable(path, jobs.needs[job], worker);
    return enter(job, node, jobs.levels[job], worker, amounts);
  }

  /**
   * Takes a task for running of which job or node is not known here: it is charged nothing but its
   * place on its worker.
   *
   * @param job -1: not known
   */
  int adoptOutside(int job, int worker) {
    int run = runs.add(Charges.NONE);
    carryOutside(run, job, worker);
    return run;
  }

  /** Takes over a running task whose job or node is not known here. */
  void carryOutside(int run, int job, int worker) {
    Arrays.fill(path, -1);
    int[] nothing = new int[ledger.resourceCount()];
    places.add(run, job, -1, path, nothing, worker, false);
    entered(job, run);
    workers.charge(worker, nothing);
  }

  /** Fills {@link #path} with the path to a node on which least is missing. */
  private void findBestPath(int job, int node) {
    int[] needs = jobs.needs[job];
    int[] slots =
        BestPath.find(
            topology,
            node,
            slot -> {
              int at = topology.node(slot);
              int level = index.level(at);
              long missing = index.isAllowed(slot, job) ? 0 : 1;
              for (int r : ledger.resources(level)) {
                missing += Math.max(0L, (long) needs[r] - ledger.free(at, level, r));
              }
              return missing;
            });
    Arrays.fill(path, -1);
    for (int slot : slots) {
      path[index.level(topology.node(slot))] = topology.node(slot);
    }
  }

  private int[] countable(int[] onPath, int[] amounts, int worker) {
    return workers.countable(worker, ledger.countable(onPath, amounts));
  }

  private int enter(int job, int node, int level, int worker, int[] needs) {
    int run = runs.add(charges[job]);
    places.add(run, job, node, path, needs, worker, true);
    entered(job, run);
    for (int l = level; l >= 0; l--) {
      boolean changed = path[l] >= 0 && ledger.charge(path[l], l, needs);
      boolean released = starts(job, path[l], l);
      refit[l] = changed || released;
    }
    int before = tasks.code(job, node);
    if (HAS_DETAIL[before]) {
      runs.setStatus(run, tasks.detail(job, node));
      tasks.removeDetail(job, node);
    }
    rooms.started(job);
    boolean changed = write(job, node, StatusCodes.keepEffect(StatusCodes.RUNNING, before));
    index.settle(path, level, true, refit, changed ? job >>> 6 : -1);
    workers.charge(worker, needs);
    return run;
  }

  /**
   * Ends a running task.
   *
   * @param status its next one; ignored when its node is gone
   */
  void finish(int run, @Nullable TaskStatus status, long nowMillis) {
    int job = places.job(run);
    int node = places.node(run);
    int lowest = release(run);
    boolean changed = node >= 0 && assign(job, node, status, nowMillis);
    if (changed && places.node(run, jobs.levels[job]) != node) {
      // The job has moved to another level while the task ran.
      index.refresh(node, jobs.levels[job], job >>> 6);
      changed = false;
    }
    index.settle(path, lowest, places.isOfTree(run), refit, changed ? job >>> 6 : -1);
    leave(run);
  }

  /** Also fills {@link #path} and {@link #refit}; returns the level of the last node. */
  private int release(int run) {
    int[] amounts = places.amounts(run);
    int lowest = 0;
    for (int l = 0; l < path.length; l++) {
      int at = places.node(run, l);
      path[l] = at;
      refit[l] = at >= 0 && (ledger.release(at, l, amounts) || isHeld(at, l));
      lowest = at >= 0 ? l : lowest;
    }
    return lowest;
  }

  /** Takes a running task out of this world only: it ended in the old one. */
  void forget(int run) {
    index.settle(path, release(run), places.isOfTree(run), refit, -1);
    leave(run);
  }

  private void entered(int job, int run) {
    tasks.touch(job);
    caps.entered(job);
    queues.entered(job, run, places);
  }

  private void leave(int run) {
    int job = places.job(run);
    tasks.touch(job);
    caps.left(job);
    queues.left(job, run, places);
    workers.release(places.worker(run), places.amounts(run));
    places.remove(run);
    dropIfIdle(job);
  }

  /** The statuses of a removed job are worth nothing once nothing of it runs (behaviour T9). */
  void dropIfIdle(int job) {
    if (job < 0) {
      return;
    }
    jobs.dropped[job] = jobs.job(job) == null && places.ofJob(job) == 0;
  }

  /** Takes over a running task that was charged for no path before, where least is missing. */
  void carryAnew(int run, int job, int node, int worker) {
    findBestPath(job, node);
    carry(run, job, node, path.clone(), jobs.needs[job], worker);
  }

  /** Takes over a running task from the world before. */
  void carry(int run, int job, int node, int[] carriedPath, int[] charged, int worker) {
    int[] amounts = countable(carriedPath, charged, worker);
    places.add(run, job, node, carriedPath, amounts, worker, false);
    entered(job, run);
    int lowest = 0;
    for (int l = 0; l < path.length; l++) {
      int at = carriedPath[l];
      refit[l] = at >= 0 && (ledger.charge(at, l, amounts) || isHeld(at, l));
      lowest = carriedPath[l] >= 0 ? l : lowest;
    }
    index.settle(carriedPath, lowest, false, refit, -1);
    workers.charge(worker, amounts);
    if (node >= 0) {
      tasks.removeDetail(job, node);
      int code = StatusCodes.keepEffect(StatusCodes.RUNNING, tasks.code(job, node));
      if (write(job, node, code)) {
        index.refresh(node, jobs.levels[job], job >>> 6);
      }
    }
  }

  /**
   * Copies the status of a task from the world before; the index is complete already.
   *
   * @param detail null: there is none, or the task runs
   */
  void copy(int job, int node, int code, @Nullable TaskStatus detail) {
    // What was copied before may be of another moment than the code that was.
    tasks.removeDetail(job, node);
    if (detail != null) {
      tasks.addDetail(job, node, detail);
    }
    if (StatusCodes.isWaiting(code)) {
      timers.add(TaskTable.key(job, node), waitEnd(detail));
    }
    if (write(job, node, StatusCodes.keepEffect(code, tasks.code(job, node)))) {
      index.refresh(node, jobs.levels[job], job >>> 6);
    }
  }

  /** After how long with more in use than the limit tasks are killed; -1: never. */
  long killOverLimitMillis(Resource resource) {
    Duration after = config.settings().rules().killOverLimit().get(resource.name());
    return after == null ? -1 : after.toMillis();
  }

  /** When the first tasks are to be killed for it; {@link Long#MAX_VALUE}: none. */
  long nextOverLimitMillis() {
    long next = Long.MAX_VALUE;
    if (!over.isEmpty() && !config.settings().rules().killOverLimit().isEmpty()) {
      for (Resource resource : config.settings().resources().all()) {
        long delay = killOverLimitMillis(resource);
        long first = over.first(resource.index());
        if (delay >= 0 && first != Long.MAX_VALUE) {
          next = Math.min(next, first + delay);
        }
      }
    }
    return next;
  }

  /** An override was given, changed or ended; {@link LimitShifts#step} must follow. */
  void override(LimitOverride.Key key, @Nullable LimitOverride override) {
    if (override == null) {
      overrides.remove(key);
    } else {
      overrides.put(override);
    }
    limits.changed(key);
  }

  /** The configured limit of a resource of nodes has changed. */
  void configuredLimitChanged(Resource resource) {
    String level = topology.levels().name(resource.level());
    limits.changed(new LimitOverride.Key(level, resource.name(), ""));
  }

  // ---- time

  /**
   * Ends back-offs and waits for tokens.
   *
   * @return whether all that are over were ended
   */
  boolean advance(long nowMillis, int limit) {
    int left = limit - caps.advance(limit);
    left -= rates.advance(left, index);
    return endBackoffs(nowMillis, left) && !caps.isDue() && !rates.isDue();
  }

  /** The next instant at which {@link #advance} has something to do. */
  long nextTimerMillis() {
    long tick = nextTick();
    long backoff = tick == Long.MAX_VALUE ? tick : tick * SchedulingCore.TICK_MILLIS;
    return Math.min(backoff, Math.min(caps.nextMillis(), rates.nextMillis()));
  }

  private boolean endBackoffs(long nowMillis, int limit) {
    long tick = Math.floorDiv(nowMillis, SchedulingCore.TICK_MILLIS);
    if (reservations != null) {
      reservations.clockIs(nowMillis);
    }
    rooms.clockIs(nowMillis);
    for (int i = 0; i < limit; i++) {
      long task = timers.pollDue(tick);
      if (task < 0) {
        return advanceWaits(limit);
      }
      int job = TaskTable.job(task);
      int node = TaskTable.node(task);
      int code = tasks.code(job, node);
      if (StatusCodes.isWaiting(code)
          && waitEnd(tasks.detail(job, node)) <= tick
          && write(job, node, StatusCodes.afterWait(code))) {
        index.refresh(node, jobs.levels[job], job >>> 6);
      }
    }
    return timers.nextTick() > tick && advanceWaits(limit);
  }

  private boolean advanceWaits(int limit) {
    boolean done = reservations == null || reservations.advance(limit);
    return rooms.advance(limit) && done;
  }

  /** Whether nodes are kept free for a job. */
  boolean holdsNodes(int job) {
    return reservations != null && reservations.held().holdsAny(job);
  }

  // ---- orphans

  /**
   * Whether a running task should not run (behaviour 5.8, with disabled ancestors: L28).
   *
   * @param name of its node; only asked for where the node is gone
   */
  boolean isOrphan(int run, String name) {
    Job job = places.job(run) < 0 ? null : jobs.job(places.job(run));
    if (job == null || !job.canRun()) {
      return true;
    }
    int node = places.node(run);
    if (node >= 0) {
      return !isEnabled(node);
    }
    // Not among the job's tasks any more, but the node may still be there, on another level.
    for (int level = 0; level <= topology.levels().bottom(); level++) {
      int other = topology.find(level, name);
      if (other >= 0 && isEnabled(other)) {
        return false;
      }
    }
    return true;
  }

  /** Whether some path of the node is enabled throughout. */
  private boolean isEnabled(int node) {
    if (topology.allEnabled()) {
      return true;
    }
    int slotCount = topology.slotCount(node);
    for (int i = 0; i < slotCount; i++) {
      int slot = topology.slot(node, i);
      if (topology.enabled(slot) && (slot == 0 || isEnabled(topology.parent(slot)))) {
        return true;
      }
    }
    return false;
  }

  long byteSize() {
    return ledger.byteSize()
        + index.byteSize()
        + tasks.byteSize()
        + rates.byteSize()
        + nodeLimits.byteSize();
  }
}
