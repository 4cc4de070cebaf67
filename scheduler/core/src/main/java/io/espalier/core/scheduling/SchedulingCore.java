package io.espalier.core.scheduling;

import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.FailureGroups;
import io.espalier.core.api.view.Histogram;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.api.view.QueueView;
import io.espalier.core.api.view.TaskCounts;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.config.Settings;
import io.espalier.core.outcome.JobCounts;
import io.espalier.core.problem.Problem;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.capacity.RunningCap;
import io.espalier.core.scheduling.capacity.UnsatisfiableJobs;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.GateTable;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.job.StatusCodes;
import io.espalier.core.scheduling.job.StatusFilter;
import io.espalier.core.scheduling.query.Explainer;
import io.espalier.core.scheduling.query.PeakUsage;
import io.espalier.core.scheduling.query.PeakUsageTracker;
import io.espalier.core.scheduling.query.ProgressCounts;
import io.espalier.core.scheduling.query.QueueViews;
import io.espalier.core.scheduling.query.ResourceHolderScan;
import io.espalier.core.scheduling.query.SubtreeCountScan;
import io.espalier.core.scheduling.query.WaitReasonScan;
import io.espalier.core.scheduling.queue.QueueUsageHistory;
import io.espalier.core.scheduling.reservation.CapacityReservation;
import io.espalier.core.scheduling.reservation.Reservation;
import io.espalier.core.scheduling.spi.SplitMix64;
import io.espalier.core.scheduling.spi.WorkerSelector;
import io.espalier.core.scheduling.state.EmptyState;
import io.espalier.core.scheduling.state.RunNames;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.scheduling.task.FailureIndex;
import io.espalier.core.scheduling.task.RunningTasks;
import io.espalier.core.scheduling.update.NewTasks;
import io.espalier.core.scheduling.update.StateMigration;
import io.espalier.core.scheduling.update.TaskDifference;
import io.espalier.core.scheduling.update.UpdatePlan;
import io.espalier.core.scheduling.util.Ticks;
import io.espalier.core.scheduling.worker.WorkerCapacity;
import io.espalier.core.scheduling.worker.WorkerTable;
import io.espalier.core.scheduling.worker.WorkerUtilization;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.QueueUsage;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The facade of the scheduling core (docs/design/design.md#the-index). It knows the status of every
 * task and the free slots of every node, and finds the next task to start in time proportional to
 * the depth of the tree. The cost of an event depends on what it changes, not on the size of the
 * tree.
 *
 * <p><b>Numbers.</b> Jobs and nodes are small ints: nodes as in {@link #topology}, jobs from 0 to
 * {@link #jobCount} - 1. Both stay valid until the next update is in force. A running task is a
 * long that stays valid while the task runs, across all updates.
 *
 * <p><b>Time</b> is always an argument. A back-off ends at the first {@link #advance} at or after
 * its end rounded up to {@link Ticks#MILLIS}.
 *
 * <p><b>Threads.</b> All methods except {@link #prepare} must be called by one thread at a time. No
 * method blocks.
 *
 * <p><b>Order of a loop:</b> apply the events that arrived ({@code finish}, {@code setStatus},
 * updates), call {@code advance}, then call {@code round} in slices until it returns true.
 */
public final class SchedulingCore {
  /** The cost of checking one running task in a slice of an update. */
  private static final int UNITS_TO_JUDGE = 8;

  private static final TaskStatus PLAINLY_DONE = TaskStatus.of(Main.DONE, 0, 0);

  private final SplitMix64 random;
  private final RunningTasks runs = new RunningTasks();
  private final Round.Turns turns = new Round.Turns();
  private final PeakUsageTracker peaks = new PeakUsageTracker();
  private final WorkerTable pool = new WorkerTable();
  private final QueueUsageHistory queueHistory = new QueueUsageHistory();

  private final GateTable gates;
  private final StateMigration.Warmth warmth = new StateMigration.Warmth();

  private SchedulingState state;
  private long states;

  /** The work of all previous states. */
  private long pastWork;

  private @Nullable StateMigration migration;
  private @Nullable UpdatePlan inPlace;

  /**
   * The number of running tasks already checked after an in-place update; -1: no check is under
   * way.
   */
  private int judged = -1;

  private @Nullable Round round;
  private @Nullable CoreEventListener recorder;
  private long now;

  /**
   * Whether a configuration is in force. Until then, usage is not settled, because stored usage
   * decays by the half-life of the first configuration.
   */
  private boolean isConfigured;

  /**
   * Creates a core without jobs, with only the instance node.
   *
   * @param seed the seed of all randomness of this core
   */
  public SchedulingCore(long seed) {
    this(seed, Map.of());
  }

  /**
   * @param selectors the worker selectors by their names in the settings; round robin replaces a
   *     name that is missing
   */
  public SchedulingCore(long seed, Map<String, WorkerSelector> selectors) {
    random = new SplitMix64(seed);
    state = EmptyState.create(random, runs, pool, Map.copyOf(selectors));
    gates = state.gateTable;
    state.queues.enter(0, queueHistory);
  }

  /**
   * Records every call to this core from now on, so that a {@link Replay} can repeat them. Must be
   * called before any other method.
   */
  public void recordTo(CoreEventListener newRecorder) {
    recorder = newRecorder;
  }

  private void record(CoreEvent event) {
    if (recorder != null) {
      recorder.recorded(event);
    }
  }

  // ---- configuration and nodes

  /**
   * Brings a configuration and its nodes into force at once: {@code prepare}, {@code begin}, then
   * all steps.
   */
  public NewTasks apply(Config config, Topology topology, long nowMillis) {
    setClock(nowMillis);
    begin(prepare(config, topology));
    NewTasks news = step(Integer.MAX_VALUE);
    while (news == null) {
      news = step(Integer.MAX_VALUE);
    }
    stepOrphans(Integer.MAX_VALUE);
    return news;
  }

  /**
   * Sets the clock without running anything that depends on time. Call it before applying other
   * events.
   */
  public void setClock(long nowMillis) {
    at(nowMillis);
    record(new CoreEvent.Clock(nowMillis));
  }

  /**
   * Prepares an update: does the expensive work that needs no state, such as comparing names and
   * evaluating filters. May run on any thread while the core is in use. A second update must be
   * prepared after the first is in force.
   */
  public UpdatePlan prepare(Config config, Topology topology) {
    return UpdatePlan.prepare(state, config, topology, random);
  }

  /**
   * Begins to bring a prepared update into force.
   *
   * @throws IllegalStateException when the update was prepared against other nodes or another
   *     configuration than those in force, or when an update is under way
   */
  public void begin(UpdatePlan change) {
    if (isChanging()) {
      throw new IllegalStateException("another change is under way");
    }
    if (!change.isAgainst(state)) {
      throw new IllegalStateException("the change was prepared against another configuration");
    }
    SchedulingState next = change.state();
    if (next == null) {
      inPlace = change;
    } else {
      migration = new StateMigration(change, next, runs, warmth);
      next.over.at(now);
    }
    record(new CoreEvent.Began(change.config(), change.topology()));
  }

  /**
   * Runs a slice of the update that was begun. Until the update is in force, the core follows the
   * old configuration; no event that arrives meanwhile is lost.
   *
   * @param units about how many words of the index to touch: 10,000 take well below a millisecond
   * @return the new tasks when the update is in force; null while there is more to do
   */
  public @Nullable NewTasks step(int units) {
    NewTasks news = stepped(units);
    record(new CoreEvent.Stepped(units, news != null));
    return news;
  }

  private @Nullable NewTasks stepped(int units) {
    if (inPlace != null) {
      NewTasks news = inPlace.newTasks();
      changeInPlace(inPlace);
      inPlace = null;
      return news;
    }
    if (migration == null) {
      throw new IllegalStateException("no change was begun");
    }
    if (!migration.step(units)) {
      return null;
    }
    NewTasks news = migration.change().newTasks();
    enter(migration);
    migration = null;
    return news;
  }

  private void changeInPlace(UpdatePlan change) {
    Settings before = state.config().settings();
    Settings after = change.config().settings();
    boolean[] ran = new boolean[state.jobs.count()];
    for (int j = 0; j < ran.length; j++) {
      ran[j] = isRunnable(j);
    }
    UnsatisfiableJobs neverFits = change.neverFits();
    settleQueues();
    state.setConfig(
        change.config(), change.nodeLimits(), neverFits == null ? state.neverFits() : neverFits);
    if (!WorkerCapacity.isSame(before, after)) {
      state.workers.setSettings(after);
    }
    for (Resource resource : change.limits()) {
      if (resource.level() < state.topology.levels().worker()) {
        state.configuredLimitChanged(resource);
      }
    }
    state.limits.step(Integer.MAX_VALUE, true);
    state.queues.refresh();
    updateGates();
    for (int j = 0; j < ran.length; j++) {
      if (ran[j] != isRunnable(j)) {
        judged = 0;
      }
    }
  }

  /** Settles usage before an update, because the next configuration may bring another half-life. */
  private void settleQueues() {
    if (isConfigured) {
      state.queues.settle(queueHistory);
    }
    isConfigured = true;
  }

  private boolean isRunnable(int job) {
    Job configured = state.jobs.job(job);
    return configured != null && configured.canRun();
  }

  /**
   * Updates {@link #orphans} after an in-place update of jobs, which may turn running tasks into
   * orphans or back.
   *
   * @param units as for {@link #step}
   * @return true when all running tasks have been checked
   */
  public boolean stepOrphans(int units) {
    int most = Math.max(1, units / UNITS_TO_JUDGE);
    boolean named = runs.clearFound(most, run -> state.occupancy.charges(state.places.job(run)));
    if (judged < 0) {
      return named;
    }
    int end = (int) Math.min(runs.high(), (long) judged + most);
    for (; judged < end; judged++) {
      if (runs.isUsed(judged)) {
        boolean isHere = state.places.node(judged) >= 0;
        String name = isHere ? "" : RunNames.node(state, runs, judged);
        state.places.setOrphan(judged, state.whereabouts.isOrphan(judged, name));
      }
    }
    judged = judged < runs.high() ? judged : -1;
    return judged < 0 && named;
  }

  private void enter(StateMigration done) {
    done.end();
    peaks.keep(state);
    turns.last = lastInTurn(done.next().jobs);
    settleQueues();
    state.queues.leave(queueHistory);
    SchedulingState before = state;
    pastWork += before.work();
    state = done.next();
    states++;
    state.queues.enter(now, queueHistory);
    judged = -1; // the migration checked each running task
    updateGates();
    state.jobs.keepActiveSince(before.jobs);
    state.takeOver(before, done.change());
  }

  /** Returns the place of the old state's last job in the name order of the new state's jobs. */
  private int lastInTurn(JobTable jobs) {
    if (turns.last < 0) {
      return -1;
    }
    return jobs.lastUpTo(state.jobs.name(turns.last));
  }

  private void updateGates() {
    for (int j = 0; j < state.jobs.count(); j++) {
      updateGate(j);
    }
  }

  private void updateGate(String name) {
    int job = state.jobs.find(name);
    if (job >= 0) {
      updateGate(job);
    }
  }

  private void updateGate(int job) {
    state.tasks.touch(job);
    boolean before = state.jobs.isActive(job);
    boolean after =
        state.jobs.canRun(job)
            && state.wholeJobs.areDone(job)
            && !gates.isClosed(Scope.job(state.jobs.name(job)));
    if (before != after) {
      state.jobs.setActive(job, after, now);
      state.gates.changed(job >>> 6);
      state.activated(job, after);
    }
  }

  private int start(int job) {
    int run = state.occupancy.start(job);
    int worker = state.places.worker(run);
    if (worker >= 0) {
      pool.started(worker);
    }
    if (migration != null) {
      migration.started(run);
    }
    return run;
  }

  /** Returns whether an update was begun and is not in force yet. */
  public boolean isChanging() {
    return migration != null || inPlace != null;
  }

  /** Returns the configuration in force. */
  public Config config() {
    return state.config();
  }

  /** Returns the nodes in force. */
  public Topology topology() {
    return state.topology;
  }

  // ---- jobs

  /** Returns the number of known jobs: configured jobs, and removed jobs with running tasks. */
  public int jobCount() {
    return state.jobs.count();
  }

  /** Returns the number of a job, or -1. */
  public int findJob(String name) {
    return state.jobs.find(name);
  }

  public String jobName(int job) {
    return state.jobs.name(job);
  }

  /**
   * Returns the node of a task, or -1 when the job has no node of that name. Works also for a
   * removed job with running tasks: its statuses are kept in case the job returns.
   *
   * @param job the job number; -1 gives -1
   */
  public int findNode(int job, String node) {
    int level = job < 0 ? -1 : state.jobs.levels[job];
    return level < 0 ? -1 : state.topology.find(level, node);
  }

  /**
   * Returns the configuration of a job, or null when the job was removed.
   *
   * @param job the job number; -1 gives null
   */
  public @Nullable Job job(int job) {
    return job < 0 ? null : state.jobs.job(job);
  }

  /**
   * Closes a gate of a job or of a node with everything below it, known or not, until {@link
   * #open(GateKind, Scope)} is called for the same kind and scope; it replaces an older gate of
   * these. No task starts there meanwhile; none is killed. Takes constant time; a node that of one
   * path and, where jobs have {@code reserve_after}, of all reservations of nodes.
   */
  public void close(Gate gate) {
    gates.close(gate);
    gated(gate.kind(), gate.scope(), true);
  }

  /**
   * Opens a gate, if it is closed. Its job or node stays closed while another gate is. Takes
   * constant time; a node that of one path and, where jobs have {@code reserve_after}, of all waits
   * for slots of nodes.
   */
  public void open(GateKind kind, Scope scope) {
    gates.open(kind, scope);
    gated(kind, scope, false);
  }

  /** Opens a gate of a job, if it is closed. */
  public void open(GateKind kind, String job) {
    open(kind, Scope.job(job));
  }

  private void gated(GateKind kind, Scope scope, boolean closed) {
    if (scope.kind() == Scope.Kind.JOB) {
      updateGate(scope.name());
    } else {
      updateGate(scope);
    }
    record(new CoreEvent.Gated(kind, scope, closed));
  }

  private void updateGate(Scope node) {
    int changed = state.updateGate(node);
    if (changed >= 0) {
      state.gateChanged(changed);
    }
    if (migration != null) {
      migration.updateGate(node);
    }
  }

  /** Returns a closed gate of a job, or null. */
  public @Nullable Gate gate(GateKind kind, String job) {
    return gates.get(kind, Scope.job(job));
  }

  /** See {@link GateTable#of(GateKind)}. */
  public Collection<Gate> gates(GateKind kind) {
    return gates.of(kind);
  }

  /**
   * Returns the gates of a kind whose end has come; the caller must {@link #open} them. The core
   * opens none by itself, so that the caller can record what it opens.
   */
  public List<Gate> dueGates(GateKind kind, long nowMillis) {
    return gates.due(kind, nowMillis);
  }

  /** See {@link GateTable#nextMillis}. */
  public long nextGateMillis(GateKind kind) {
    return gates.nextMillis(kind);
  }

  /**
   * Returns whether a closed gate ends the job: it has failed, succeeded or missed its deadline.
   */
  public boolean isEnded(String job) {
    return gates.isEnded(job);
  }

  /** Returns the counts that determine the state of a job. */
  public JobCounts tally(int job) {
    return state.tasks.tally(job, state.places.ofJob(job));
  }

  /**
   * Takes the jobs whose state may have changed since the last call: a task started or ended or was
   * changed by a command, or the job was blocked or unblocked.
   *
   * @param limit the maximum number of jobs
   */
  public int[] takeTouched(int limit) {
    return state.tasks.takeTouched(limit);
  }

  /** Returns whether {@link #takeTouched} has left some jobs. */
  public boolean isTouched() {
    return state.tasks.isTouched();
  }

  /**
   * Returns a finder of the jobs in which no task can make progress. The cost depends on the
   * queries to it.
   */
  public StuckJobs stuckJobs() {
    return new StuckJobs(this);
  }

  /**
   * Returns a revision that changes, within one {@link #stateNumber}, whenever {@link #stuckJobs}
   * may find other jobs.
   */
  public long changes() {
    return state.tasks.changes();
  }

  // ---- queues

  /** Returns all queues. Costs time proportional to the number of queues and jobs. */
  public List<QueueView> queues() {
    return QueueViews.of(state);
  }

  /** Returns the recent usage of all queues, including queues that are no longer configured. */
  public List<QueueUsage> queueUsage() {
    return state.queues.usage(queueHistory);
  }

  /** Restores the usage stored before a restart. The queues count as idle since it was stored. */
  public void restoreQueueUsage(Collection<QueueUsage> stored, long nowMillis) {
    at(nowMillis);
    stored.forEach(usage -> queueHistory.put(usage.queue(), usage.value(), usage.atMillis()));
    state.queues.restore(queueHistory);
    record(new CoreEvent.QueuesRestored(List.copyOf(stored), nowMillis));
  }

  // ---- limits

  /**
   * Overrides the configured limit of a resource, on one node or on all nodes of a level that have
   * no override of their own. It replaces an older override of the same target. It kills no task:
   * where usage exceeds the new limit, tasks that need the resource do not start until usage falls.
   * An override of an unknown level, resource or node is kept until the target exists. {@link
   * #stepLimits} must follow.
   */
  public void override(LimitOverride override) {
    state.limitTable.put(override);
    overrideChanged(override.key());
    record(new CoreEvent.Overridden(override));
  }

  /** Ends an override; {@link #stepLimits} must follow. */
  public void endOverride(LimitOverride.Key key) {
    state.limitTable.removeOverride(key);
    overrideChanged(key);
    record(new CoreEvent.OverrideEnded(key));
  }

  private void overrideChanged(LimitOverride.Key key) {
    state.overrideChanged(key);
    if (migration != null) {
      migration.next().overrideChanged(key);
    }
  }

  /**
   * Lowers limits to a share of themselves; it replaces an older factor of the same id. It kills no
   * task, and usage beyond what is left is not over the limit. A factor for an unknown level or
   * node is kept until that exists. The caller must remove it at its end. {@link #stepLimits} must
   * follow.
   */
  public void setFactor(LimitFactor factor) {
    LimitFactor before = state.limitTable.put(factor);
    boolean isSame = before != null && before.hasTargetOf(factor);
    factorsChanged(isSame ? null : before, factor);
    record(new CoreEvent.FactorSet(factor));
  }

  /** Removes a factor, if there is one of that id; {@link #stepLimits} must follow. */
  public void removeFactor(String id) {
    factorsChanged(state.limitTable.removeFactor(id), null);
    record(new CoreEvent.FactorRemoved(id));
  }

  private void factorsChanged(@Nullable LimitFactor before, @Nullable LimitFactor after) {
    List<LimitFactor> changed = Stream.of(before, after).flatMap(Stream::ofNullable).toList();
    state.factorsChanged(changed);
    if (migration != null) {
      migration.next().factorsChanged(changed);
    }
  }

  /**
   * Caps the number of tasks of a job or queue that run at once; it replaces an older cap of the
   * same id, and kills no task. A cap of an unknown job or queue is kept until that exists. The
   * caller must remove it at its end.
   */
  public void setCap(RunningCap cap) {
    capsChanged(state.limitTable.put(cap), cap);
    record(new CoreEvent.CapSet(cap));
  }

  /** Removes a cap, if there is one of that id. */
  public void removeCap(String id) {
    capsChanged(state.limitTable.removeCap(id), null);
    record(new CoreEvent.CapRemoved(id));
  }

  private void capsChanged(@Nullable RunningCap before, @Nullable RunningCap after) {
    Stream.of(before, after)
        .flatMap(Stream::ofNullable)
        .map(RunningCap::scope)
        .distinct()
        .forEach(
            scope -> {
              state.capChanged(scope);
              if (migration != null) {
                migration.next().capChanged(scope);
              }
            });
  }

  /** Returns all caps of jobs and queues, including those whose target does not exist. */
  public List<RunningCap> caps() {
    return List.copyOf(state.limitTable.caps());
  }

  /** Returns all factors of limits, including those whose target does not exist. */
  public List<LimitFactor> factors() {
    return List.copyOf(state.limitTable.factors());
  }

  /** Returns all overrides of limits, including those whose target does not exist. */
  public List<LimitOverride> overrides() {
    return List.copyOf(state.limitTable.overrides());
  }

  /**
   * Brings overrides and factors into effect.
   *
   * @param units as for {@link #step}
   * @return true when all of them are in effect
   */
  public boolean stepLimits(int units) {
    if (state.limits.isDone()) {
      return true;
    }
    state.limits.step(units, true);
    state.queues.refresh();
    boolean done = state.limits.isDone();
    record(new CoreEvent.LimitsStepped(units, done));
    return done;
  }

  /** Returns whether all overrides and factors are in effect, see {@link #stepLimits}. */
  public boolean areLimitsInEffect() {
    return state.limits.isDone();
  }

  /** Returns the limit of a resource on a node that is in effect. */
  public int limit(int node, int resource) {
    return state.ledger.limit(node, resource);
  }

  /** Returns the configured limit of a resource on a node, without overrides. */
  public int configuredLimit(int node, int resource) {
    return state.nodeLimits().of(node, resource);
  }

  /**
   * Returns the problems with limits that node sources deliver, with jobs whose needs no node can
   * meet, and with filters that are too slow for a node or a worker.
   */
  public List<Problem> nodeProblems() {
    List<Problem> problems = new ArrayList<>(state.nodeLimits().problems());
    problems.addAll(state.neverFits().problems(state.limitTable));
    problems.addAll(state.slowFilters());
    problems.addAll(state.workers.problems(state.jobs));
    return problems;
  }

  /**
   * Returns when tasks must be killed next because usage exceeds a limit; {@link Long#MAX_VALUE}:
   * no usage exceeds a limit, or nothing is to be killed for it.
   */
  public long nextOverLimitMillis() {
    return state.nextOverLimitMillis();
  }

  /**
   * Begins to search for the nodes and workers whose usage exceeds a limit, and for the tasks that
   * hold slots there.
   */
  public OverLimitScan overLimits(long nowMillis) {
    return new OverLimitScan(this, nowMillis);
  }

  /** Begins to search for what a configuration would do to what runs and to what is stored. */
  public ImpactScan impact(TaskDifference difference) {
    return new ImpactScan(this, difference);
  }

  // ---- workers

  /**
   * Replaces the workers; each shard occurs at most once. If this is never called, tasks need no
   * worker. With {@link WorkerRef#LOCAL} alone, all tasks run on the scheduler's own host, which
   * has the resources of the worker level; filters and placement then have no meaning. The cost
   * depends on the difference to the previous workers.
   *
   * @throws IllegalStateException when the call switches between pool, local host and no workers
   *     after a configuration is in force
   */
  public void workers(List<WorkerInfo> workers) {
    boolean local = workers.size() == 1 && workers.get(0).ref().isLocal();
    WorkerTable.Mode mode = local ? WorkerTable.Mode.LOCAL : WorkerTable.Mode.POOL;
    if (pool.mode() != mode) {
      if (state.jobs.count() > 0 || migration != null) {
        throw new IllegalStateException("the pool must be known before the configuration");
      }
      pool.setMode(mode);
    }
    BitSet gone = new BitSet();
    pool.pool().forEach(gone::set);
    for (WorkerInfo info : workers) {
      int worker = pool.number(info.ref().shard());
      gone.clear(worker);
      setWorker(worker, info);
    }
    for (int worker = gone.nextSetBit(0); worker >= 0; worker = gone.nextSetBit(worker + 1)) {
      setWorker(worker, null);
      pool.dropIfIdle(worker);
    }
    state.queues.refresh();
    record(new CoreEvent.WorkersNamed(workers));
  }

  private void setWorker(int worker, @Nullable WorkerInfo info) {
    if (pool.setInfo(worker, info)) {
      state.workers.put(worker);
      if (migration != null) {
        migration.workerChanged(worker);
      }
    }
  }

  /**
   * Returns the utilization of the workers: those of the pool, and those that have left and still
   * run tasks.
   */
  public List<WorkerUtilization> workerUse() {
    List<WorkerUtilization> all = new ArrayList<>();
    for (int worker = 0; worker < pool.high(); worker++) {
      if (pool.isUsed(worker)) {
        all.add(
            new WorkerUtilization(
                pool.shard(worker), pool.runs(worker), state.workers.slots(worker)));
      }
    }
    return all;
  }

  /**
   * Returns the worker of a running task, or null when it has none or the worker has left the pool.
   */
  public @Nullable WorkerInfo runWorker(long run) {
    int worker = state.places.worker(runs.index(run));
    return worker < 0 ? null : pool.info(worker);
  }

  public JobProgress progress(int job) {
    return ProgressCounts.of(state, job);
  }

  /**
   * Returns whether the tasks of a job wait only for their own status, their dependencies and
   * slots. Otherwise none of them counts as ready. Takes constant time.
   */
  public boolean mayStart(int job) {
    return state.mayStart(job);
  }

  /**
   * Returns a revision that changes whenever {@link #progress} may change, within one {@link
   * #stateNumber} and with the same {@link #mayStart}.
   */
  public long countsRevision(int job) {
    return state.tasks.revision(job);
  }

  /** Returns a number that changes whenever jobs and nodes are renumbered. */
  public long stateNumber() {
    return states;
  }

  /**
   * Counts the tasks of a job per level and status (docs/design/bistro.md#histograms). The first
   * call for a job takes one pass. Later calls cost, for the levels above the tasks, what has
   * changed since the last call.
   *
   * @param samples the maximum number of node names per bucket
   */
  public Histogram histogram(int job, int samples) {
    return state.histograms.histogram(job, samples);
  }

  /**
   * Does a part of the work of a histogram in advance, so that {@link #histogram} is quick
   * afterwards.
   *
   * @param units about how many nodes to visit, at least 2
   * @return the number of nodes visited; when it is less than {@code units}, the histogram will be
   *     quick
   */
  public long prepareHistogram(int job, int units) {
    return state.histograms.prepare(job, units);
  }

  /**
   * Returns the failed tasks of a job by cause. Costs time proportional to the number of causes,
   * which is bounded.
   *
   * @param limit the maximum number of groups
   * @param samples the maximum number of node names per group
   */
  public FailureGroups failures(int job, int limit, int samples) {
    FailureIndex index = state.tasks.failures(job);
    return new FailureGroups(
        jobName(job),
        now,
        index.total(),
        index.size(),
        index.largest(limit, samples, node -> state.statuses.of(job, node), state.topology::name));
  }

  // ---- tasks

  /**
   * Sets the status of a task: one that was loaded, forgiven or changed by a command, or the
   * running status after its start.
   *
   * @param status null: never tried
   * @throws IllegalArgumentException for a running status of a task that does not run here ({@link
   *     #adopt} makes it run), and for any other status of a task that does ({@link #finish} ends
   *     it)
   */
  public void setStatus(int job, int node, @Nullable TaskStatus status) {
    boolean runs = StatusCodes.main(state.tasks.code(job, node)) == Main.RUNNING;
    if (runs != (status != null && status.main() == Main.RUNNING)) {
      throw new IllegalArgumentException(
          runs ? "the task is running" : "the task does not run here");
    }
    state.statuses.set(job, node, status, now);
    if (recorder != null) {
      recorder.recorded(new CoreEvent.StatusSet(job, node, status));
    }
  }

  /**
   * Returns the status of a task. While the task runs, this is the status last given to {@link
   * #setStatus}, or else its status before the start. For a plainly done task, nothing more than
   * that is kept.
   */
  public @Nullable TaskStatus status(int job, int node) {
    TaskStatus detail = state.statuses.of(job, node);
    return detail == null && StatusCodes.isPlainlyDone(state.tasks.code(job, node))
        ? PLAINLY_DONE
        : detail;
  }

  /**
   * Returns how many tasks of a job are done and not verified yet, without those that run, and
   * without those on nodes that are disabled or that its filters exclude.
   */
  public long awaitingVerification(int job) {
    return state.tasks.counted(
        job,
        code ->
            StatusCodes.awaitsVerification(code) && StatusCodes.effect(code) == StatusCodes.OPEN);
  }

  /** Returns how many of {@link #awaitingVerification} may not be verified yet. */
  public long mayNotBeVerifiedYet(int job) {
    return state.tasks.counted(
        job,
        code ->
            StatusCodes.awaitsVerification(code)
                && !StatusCodes.isInVerification(code)
                && StatusCodes.effect(code) == StatusCodes.OPEN);
  }

  /** Returns the first node of the job's level. */
  public int firstNode(int job) {
    return state.tasks.first(job);
  }

  /** Returns the exclusive end of the nodes of the job's level. */
  public int endNode(int job) {
    return state.tasks.end(job);
  }

  /** Returns the status bits of a task, as in histograms (docs/design/bistro.md#histograms). */
  public int bits(int job, int node) {
    return StatusCodes.bits(state.tasks.code(job, node));
  }

  /**
   * Finds the next task of a job, in node order, whose status matches a filter.
   *
   * @param fromNode the node to begin at; before the job's level: begin at its first node
   * @param limit the maximum number of tasks to check
   * @return the node; {@code -1} when no further task matches; otherwise {@code -2 - next}, where
   *     {@code next} is the node to continue from
   */
  public int nextTask(int job, int fromNode, int limit, StatusFilter set) {
    int from = Math.max(fromNode, state.tasks.first(job));
    int end = state.tasks.end(job);
    int stop = (int) Math.min(end, (long) from + limit);
    for (int node = from; node < stop; node++) {
      if (set.has(state.tasks.code(job, node))) {
        return node;
      }
    }
    return stop >= end ? -1 : -2 - stop;
  }

  /**
   * Explains why a task is not running. The explanation lists all conditions that fail, evaluated
   * by the same predicates that start tasks. Where a node has several parents, it describes the
   * path with the fewest failing conditions.
   *
   * @throws io.espalier.core.api.RefusedException for an unknown job or node
   */
  public Explanation explain(String job, String node) {
    return Explainer.explain(state, job, node);
  }

  /** Begins to count the waiting tasks of a job by wait reason. */
  public WaitReasonScan waiting(int job) {
    return new WaitReasonScan(this::state, job, Explainer.gates(state, job));
  }

  /** Begins to search for the running tasks that hold slots in the given places. */
  public ResourceHolderScan holders(ResourceHolderScan.Place... places) {
    return new ResourceHolderScan(this::state, places);
  }

  /**
   * Begins to count tasks in subtrees.
   *
   * @param job the only job to count; -1: all
   * @param byJob whether to count each job separately
   */
  public SubtreeCountScan counts(int job, boolean byJob) {
    return new SubtreeCountScan(this::state, job, byJob);
  }

  /**
   * Returns the counts of the tasks on one node, without those below it.
   *
   * @param job the only job to count; -1: all
   */
  public TaskCounts countsOf(int job, int node) {
    return SubtreeCountScan.of(state, job, node);
  }

  SchedulingState state() {
    return state;
  }

  RunningTasks runTable() {
    return runs;
  }

  // ---- rounds and running tasks

  /**
   * Starts tasks within the limits, in the order of a policy. After a complete round, no ready task
   * fits on any of its paths to the root.
   *
   * @param maxStarts the maximum number of starts in this slice
   * @return true when the round is complete; otherwise call again to continue it
   */
  public boolean round(SchedulingPolicy policy, int maxStarts, PlacementListener sink) {
    for (int job : state.wholeJobs.takeChanged()) {
      updateGate(job);
    }
    Round current = round;
    if (current == null || current.state() != state) {
      current = new Round(state, runs, random, turns, this::start);
      round = current;
    }
    if (recorder == null) {
      current.slice(maxStarts, sink);
    } else {
      CoreEventListener to = recorder;
      to.recorded(new CoreEvent.RoundBegan(policy.name(), maxStarts));
      current.slice(
          maxStarts,
          run -> {
            to.recorded(placement(run));
            sink.placed(run);
          });
    }
    state.rooms.roundBegins();
    policy.schedule(current);
    state.roundOver();
    boolean complete = current.isComplete();
    record(new CoreEvent.RoundEnded(complete));
    return complete;
  }

  /** Returns the recorded form of a start. */
  CoreEvent.Placed placement(long run) {
    int worker = state.places.worker(runs.index(run));
    return new CoreEvent.Placed(
        run, runJobName(run), runNodeName(run), worker < 0 ? "" : pool.shard(worker));
  }

  /**
   * Registers a task that is already running and was not started here. Until its end it is charged
   * on its worker and on the path with the smallest shortfall, even if limits are exceeded. Job and
   * node may be unknown: then the task is an orphan and is charged only on the worker, and the
   * update that brings the job and node adds it to the tree, so that it is not started twice.
   *
   * @param worker the worker it runs on, in the pool or not; {@link WorkerRef#LOCAL}: no worker
   * @return the running task, for {@link #finish}
   * @throws IllegalArgumentException when the task is already running; the caller must check this
   *     itself when the job or node is unknown
   */
  public long adopt(String job, String node, WorkerRef worker) {
    int number = state.jobs.find(job);
    int level = number < 0 ? -1 : state.jobs.levels[number];
    boolean placed = job(number) != null && level >= 0 && level < topology().levels().worker();
    int at = placed ? topology().find(level, node) : -1;
    if (at >= 0 && StatusCodes.main(state.tasks.code(number, at)) == Main.RUNNING) {
      throw new IllegalArgumentException("the task is running");
    }
    int charged = worker.isLocal() ? -1 : pool.number(worker.shard());
    int run;
    if (at >= 0) {
      run = state.occupancy.adopt(number, at, charged);
    } else {
      run = state.occupancy.adoptOutside(number, charged);
      runs.setNames(run, new RunningTasks.NamedPath(List.of(), List.of(node)));
      runs.setJobName(run, job);
    }
    if (charged >= 0) {
      pool.started(charged);
    }
    state.places.setOrphan(run, state.whereabouts.isOrphan(run, node));
    if (migration != null) {
      migration.started(run);
    }
    record(new CoreEvent.Adopted(job, node, worker, runs.id(run)));
    return runs.id(run);
  }

  /**
   * Ends a running task and frees its slots.
   *
   * @param status the new status; null: never tried. Ignored when the job or node is gone
   * @throws IllegalArgumentException when the task is not running
   */
  public void finish(long run, @Nullable TaskStatus status) {
    int index = runs.index(run);
    if (status != null && status.main() == Main.RUNNING) {
      throw new IllegalArgumentException("a task cannot end as running");
    }
    if (migration != null) {
      migration.ending(index, status, now);
    }
    int worker = state.places.worker(index);
    state.occupancy.finish(index, status, now);
    runs.remove(index);
    if (worker >= 0) {
      pool.ended(worker);
    }
    if (recorder != null) {
      recorder.recorded(new CoreEvent.Finished(run, status));
    }
  }

  /**
   * Returns whether a running task whose invocation has ended may go on with another one, on the
   * same path and worker and for the same charge: its job and its node are as open as for a start,
   * and its worker takes tasks. Otherwise it must {@link #finish}.
   */
  public boolean mayGoOn(long run) {
    int index = runs.index(run);
    int job = state.places.job(index);
    int node = state.places.node(index);
    if (job < 0 || node < 0 || !state.jobs.isActive(job)) {
      return false;
    }
    int parent = -1;
    for (int level = 0; level < state.topology.levels().count(); level++) {
      int at = state.places.node(index, level);
      if (at >= 0) {
        if (state.closed.isClosed(at) || !isAllowed(at, parent, job)) {
          return false;
        }
        parent = at;
      }
    }
    if (parent != node) {
      return false;
    }
    int worker = state.places.worker(index);
    WorkerInfo info = worker < 0 ? null : pool.info(worker);
    return worker < 0 || (info != null && info.takesTasks());
  }

  private boolean isAllowed(int node, int parent, int job) {
    for (int i = 0; i < state.topology.slotCount(node); i++) {
      int slot = state.topology.slot(node, i);
      if (state.topology.parent(slot) == parent && state.index.isAllowed(slot, job)) {
        return true;
      }
    }
    return false;
  }

  public int runningCount() {
    return runs.count();
  }

  public boolean isRunning(long run) {
    return runs.isRunning(run);
  }

  /** Returns the running task of a job and node, or -1. */
  public long findRun(int job, int node) {
    int run = state.places.find(job, node);
    return run < 0 ? -1 : runs.id(run);
  }

  /** Returns all running tasks, unordered, as a new array. */
  public long[] runs() {
    long[] all = new long[runs.count()];
    int n = 0;
    for (int run = 0; run < runs.high(); run++) {
      if (runs.isUsed(run)) {
        all[n++] = runs.id(run);
      }
    }
    return all;
  }

  /** Returns the job number of a running task; -1 when it was adopted and its job is unknown. */
  public int runJob(long run) {
    return state.places.job(runs.index(run));
  }

  /**
   * Returns the status of a running task, like {@link #status}, but also when the job or node is
   * gone.
   */
  public @Nullable TaskStatus runStatus(long run) {
    return runs.status(runs.index(run));
  }

  /**
   * Returns since when a task that was placed just now could have started: the latest of the end of
   * its back-off, or of its status without one; the moment since which its job may start tasks; and
   * the end of the last task on which it depends (docs/adr/0063-wait-times.md).
   *
   * @return epoch milliseconds
   */
  public long eligibleMillis(long run) {
    int at = runs.index(run);
    return state.eligibleMillis(state.places.job(at), state.places.node(at), runs.status(at));
  }

  /**
   * Returns the same of a task that is not running; 0: its status, its job or what it depends on
   * does not let it start.
   */
  public long eligibleMillis(int job, int node) {
    return state.eligibleMillis(job, node);
  }

  /**
   * Sets the status of a running task.
   *
   * @param status a running status
   */
  public void setRunStatus(long run, TaskStatus status) {
    if (status.main() != Main.RUNNING) {
      throw new IllegalArgumentException("not the status of a running task");
    }
    runs.setStatus(runs.index(run), status);
  }

  /**
   * Returns the node of a running task, or -1 when the node is gone or no longer on the job's
   * level.
   */
  public int runNode(long run) {
    return state.places.node(runs.index(run));
  }

  public String runJobName(long run) {
    return RunNames.job(state, runs, runs.index(run));
  }

  public String runNodeName(long run) {
    return RunNames.node(state, runs, runs.index(run));
  }

  /**
   * Returns the names of the nodes that a running task is charged on, from the instance down to its
   * own. It is only its own node when the task was adopted while its job or node was unknown.
   */
  public List<String> runPath(long run) {
    return RunNames.path(state, runs, runs.index(run)).nodes();
  }

  /**
   * Returns the role of a running task, such as {@code replica}: the role of the lowest edge on its
   * path that has one. Empty when no edge has a role or the path is unknown.
   */
  public String runRole(long run) {
    return state.whereabouts.roleOf(runs.index(run));
  }

  /**
   * Returns the level names of the nodes in {@link #runPath}; empty when only the task's own node
   * is known.
   */
  public List<String> runLevels(long run) {
    return RunNames.path(state, runs, runs.index(run)).levels();
  }

  /**
   * Returns what a running task was charged when it started: node to resource to slots, in path
   * order, with the worker's shard last.
   */
  public Map<String, Map<String, Integer>> resourcesByNode(long run) {
    return RunNames.chargesByNode(state, runs, runs.index(run));
  }

  /**
   * Returns the running tasks that should not run: the job is gone, disabled or invalid, or the
   * node is gone or disabled on every path (docs/design/bistro.md#orphans). Filters make no
   * orphans. After an in-place update the result is complete only when {@link #stepOrphans} has
   * returned true.
   */
  public long[] orphans() {
    int[] numbers = state.places.orphans();
    long[] all = new long[numbers.length];
    for (int i = 0; i < all.length; i++) {
      all[i] = runs.id(numbers[i]);
    }
    return all;
  }

  // ---- time

  private void at(long nowMillis) {
    now = Math.max(now, nowMillis);
    state.clock.at(nowMillis);
    state.queues.advance(now);
    state.over.at(now);
    if (migration != null) {
      migration.next().over.at(now);
    }
  }

  /**
   * Sets the clock, and ends the back-offs and the rate-limit waits that are over.
   *
   * @param limit the maximum number to end
   * @return true when all that are over have been ended
   */
  public boolean advance(long nowMillis, int limit) {
    at(nowMillis);
    boolean done = state.waits.advance(now, limit);
    record(new CoreEvent.Advanced(nowMillis, limit, done));
    return done;
  }

  /** Returns when {@link #advance} has work to do next; {@link Long#MAX_VALUE}: never. */
  public long nextTimerMillis() {
    return state.waits.nextMillis();
  }

  // ---- figures

  /** Returns the free slots of a resource on a node; negative when it is over-committed. */
  public int free(int node, int resource) {
    return state.ledger.free(node, state.index.level(node), resource);
  }

  /** Returns the number of jobs that wait for their start rate. */
  public int jobsHeldByRate() {
    return state.caps.heldCount();
  }

  /** Returns the number of nodes that wait for their start rate. */
  public int nodesHeldByRate() {
    return state.rates.heldCount();
  }

  /** Returns the nodes that are reserved for tasks that have waited long, unordered. */
  public List<Reservation> reservations() {
    return state.reservations == null ? List.of() : state.reservations.answers().all();
  }

  /** Returns the reservations in queues and on workers for jobs that have waited long. */
  public List<CapacityReservation> keptRoom() {
    return state.rooms.kept();
  }

  /** Returns the reservation of a node, or null. */
  public @Nullable Reservation reservation(int node) {
    return state.reservations == null
        ? null
        : state.reservations.answers().of(node, state.index.level(node));
  }

  /** Returns the number of reserved nodes. */
  public int reservedNodes() {
    return state.reservations == null ? 0 : state.reservations.answers().count();
  }

  /** Returns the number of slots that are idle because they are reserved. */
  public long reservedSlots() {
    return state.reservations == null ? 0 : state.reservations.answers().idleSlots();
  }

  /**
   * Returns the peak usage of each resource of the levels that have nodes, since this core was
   * created.
   */
  public List<PeakUsage> peaks() {
    return peaks.of(state);
  }

  /**
   * Returns how many words of the index were evaluated or scanned so far, plus the places over
   * their limit that were checked: the measure of the core's cost.
   */
  public long work() {
    return pastWork + state.work() + (migration == null ? 0 : migration.next().work());
  }

  /**
   * Recomputes from scratch all data that is updated incrementally, and compares. This is for tests
   * and debugging; it takes a pass over all jobs and nodes.
   *
   * @throws IllegalStateException with the first difference
   */
  public void verify() {
    new InvariantChecker(state, runs).run();
  }

  /**
   * Returns the memory of the index and the task table in bytes, without the statuses of tried
   * tasks.
   */
  public long byteSize() {
    return state.byteSize();
  }
}
