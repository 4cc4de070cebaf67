package io.espalier.core.scheduling.update;

import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.config.Settings;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.capacity.HealthLimit;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.capacity.ResourceCharges;
import io.espalier.core.scheduling.capacity.RunningCap;
import io.espalier.core.scheduling.capacity.UnsatisfiableJobs;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.queue.QueueUsageHistory;
import io.espalier.core.scheduling.state.RunNames;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.scheduling.state.TaskAllocator;
import io.espalier.core.scheduling.task.RunBatches;
import io.espalier.core.scheduling.task.RunningTasks;
import io.espalier.core.scheduling.worker.WorkerCapacity;
import io.espalier.core.scheduling.worker.WorkerTable;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.LimitOverride;
import java.util.BitSet;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The state in force and, during an update, the one that will replace it. What must not be lost
 * when they change places, such as a start or an override, goes through this class: it happens to
 * both.
 *
 * <p>{@code SchedulingCore} is the only user; it records the calls. For one thread at a time.
 */
public final class LiveState {
  /** The cost of checking one running task in a slice of an update. */
  private static final int UNITS_TO_JUDGE = 8;

  private final RunningTasks runs;
  private final WorkerTable pool;
  private final QueueUsageHistory queueHistory;
  private final StateMigration.Warmth warmth = new StateMigration.Warmth();

  private SchedulingState state;
  private long number;

  /** The work of all previous states. */
  private long pastWork;

  private @Nullable StateMigration migration;
  private @Nullable UpdatePlan inPlace;

  /**
   * The number of running tasks already checked after an in-place update; -1: no check is under
   * way.
   */
  private int judged = -1;

  private long now;

  /**
   * Whether a configuration is in force. Until then, usage is not settled, because stored usage
   * decays by the half-life of the first configuration.
   */
  private boolean isConfigured;

  public LiveState(
      SchedulingState first, RunningTasks runs, WorkerTable pool, QueueUsageHistory queueHistory) {
    this.state = first;
    this.runs = runs;
    this.pool = pool;
    this.queueHistory = queueHistory;
    state.queues.enter(0, queueHistory);
  }

  /** Returns the state in force. */
  public SchedulingState state() {
    return state;
  }

  /** Returns the number of states that were in force before this one. */
  public long number() {
    return number;
  }

  /** Returns whether an update was begun and is not in force yet. */
  public boolean isChanging() {
    return migration != null || inPlace != null;
  }

  /** Returns the work of all states so far, see {@code SchedulingCore.work}. */
  public long work() {
    return pastWork + state.work() + (migration == null ? 0 : migration.next().work());
  }

  /** Sets the clock. It never goes back for what must not be early. */
  public void at(long nowMillis) {
    now = Math.max(now, nowMillis);
    state.clock.at(nowMillis);
    state.queues.advance(now);
    state.over.at(now);
    if (migration != null) {
      migration.next().over.at(now);
    }
  }

  /** Returns the latest instant given to {@link #at}. */
  public long now() {
    return now;
  }

  // ---- updates

  /** See {@code SchedulingCore.begin}. */
  public void begin(UpdatePlan plan) {
    if (isChanging()) {
      throw new IllegalStateException("another update is under way");
    }
    if (!plan.isAgainst(state)) {
      throw new IllegalStateException("the update was prepared against another configuration");
    }
    SchedulingState next = plan.state();
    if (next == null) {
      inPlace = plan;
    } else {
      migration = new StateMigration(plan, next, runs, warmth);
      next.over.at(now);
    }
  }

  /** See {@code SchedulingCore.step}. */
  public @Nullable NewTasks step(int units) {
    if (inPlace != null) {
      NewTasks news = inPlace.newTasks();
      changeInPlace(inPlace);
      inPlace = null;
      return news;
    }
    if (migration == null) {
      throw new IllegalStateException("no update was begun");
    }
    if (!migration.step(units)) {
      return null;
    }
    NewTasks news = migration.plan().newTasks();
    replaceState(migration);
    migration = null;
    return news;
  }

  private void changeInPlace(UpdatePlan plan) {
    Settings before = state.config().settings();
    Settings after = plan.config().settings();
    boolean[] ran = new boolean[state.jobs.count()];
    for (int j = 0; j < ran.length; j++) {
      ran[j] = isRunnable(j);
    }
    UnsatisfiableJobs neverFits = plan.neverFits();
    settleQueues();
    state.setConfig(
        plan.config(), plan.nodeLimits(), neverFits == null ? state.neverFits() : neverFits);
    if (!WorkerCapacity.isSame(before, after)) {
      state.workers.setSettings(after);
    }
    for (Resource resource : plan.limits()) {
      if (resource.level() < state.topology.levels().worker()) {
        state.configuredLimitChanged(resource);
      }
    }
    state.limits.step(Integer.MAX_VALUE, true);
    state.queues.refresh();
    updateJobGates();
    for (int j = 0; j < ran.length; j++) {
      if (ran[j] != isRunnable(j)) {
        judged = 0;
      }
    }
  }

  private boolean isRunnable(int job) {
    Job configured = state.jobs.job(job);
    return configured != null && configured.canRun();
  }

  /** Settles usage before an update, because the next configuration may bring another half-life. */
  private void settleQueues() {
    if (isConfigured) {
      state.queues.settle(queueHistory);
    }
    isConfigured = true;
  }

  private void replaceState(StateMigration done) {
    done.end();
    settleQueues();
    state.queues.leave(queueHistory);
    SchedulingState before = state;
    pastWork += before.work();
    state = done.next();
    number++;
    state.queues.enter(now, queueHistory);
    judged = -1; // the migration checked each running task
    updateJobGates();
    state.jobs.keepActiveSince(before.jobs, before.statuses::hasReleases);
    state.takeOver(before, done.plan());
  }

  /** See {@code SchedulingCore.stepOrphans}. */
  public boolean stepOrphans(int units) {
    int most = Math.max(1, units / UNITS_TO_JUDGE);
    boolean named = runs.clearFound(most, state.occupancy::charges);
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

  // ---- gates

  private void updateJobGates() {
    for (int j = 0; j < state.jobs.count(); j++) {
      updateJobGate(j);
    }
  }

  /** Opens or closes a job as its configuration, its dependencies and its gates ask for. */
  public void updateJobGate(int job) {
    state.tasks.touch(job);
    state.caps.gateChanged(job);
    boolean before = state.jobs.isActive(job);
    boolean after =
        state.jobs.canRun(job)
            && state.wholeJobs.areDone(job)
            && !state.gateTable.isClosed(Scope.job(state.jobs.name(job)));
    if (before != after) {
      state.jobs.setActive(job, after, now);
      state.gates.changed(job >>> 6);
      state.activated(job, after);
    }
  }

  /** Opens or closes a job, a node or a worker, known or not, as its gates ask for. */
  public void updateGate(Scope scope) {
    if (scope.kind() == Scope.Kind.JOB) {
      int job = state.jobs.find(scope.name());
      if (job >= 0) {
        updateJobGate(job);
      }
      return;
    }
    if (scope.kind() == Scope.Kind.WORKER) {
      updateWorkerGate(pool.find(scope.name()));
      return;
    }
    int changed = state.updateGate(scope);
    if (changed >= 0) {
      state.gateChanged(changed);
    }
    if (migration != null) {
      migration.updateGate(scope);
    }
  }

  private void updateWorkerGate(int worker) {
    if (worker >= 0) {
      pool.setHeld(worker, hasGate(worker));
      state.workers.gateChanged(worker);
      if (migration != null) {
        migration.next().workers.gateChanged(worker);
      }
    }
  }

  private boolean hasGate(int worker) {
    return !state.gateTable.areOpen(GateKind.WORKER_STARTING)
        && state.gateTable.get(GateKind.WORKER_STARTING, Scope.worker(pool.shard(worker))) != null;
  }

  /** Handles a gate in front of the later stages of a job. */
  public void stagesChanged(String job) {
    state.statuses.staged().changed(job);
    if (migration != null) {
      migration.next().statuses.staged().changed(job);
    }
  }

  // ---- limits

  public void overrideChanged(LimitOverride.Key key) {
    state.overrideChanged(key);
    if (migration != null) {
      migration.next().overrideChanged(key);
    }
  }

  /** Handles the factors that have come, gone or changed. */
  public void factorsChanged(List<LimitFactor> changed) {
    if (changed.isEmpty()) {
      return;
    }
    state.factorsChanged(changed);
    if (migration != null) {
      migration.next().factorsChanged(changed);
    }
  }

  /** Handles what health leaves of a limit, which was set, changed or removed. */
  public void healthChanged(HealthLimit changed) {
    state.healthChanged(changed);
    if (migration != null) {
      migration.next().healthChanged(changed);
    }
  }

  /** Handles the caps that have come, gone or changed; null: there is none. */
  public void capsChanged(@Nullable RunningCap before, @Nullable RunningCap after) {
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

  // ---- workers and running tasks

  /** Replaces all workers; the cost depends on the difference to the previous ones. */
  public void setWorkers(List<WorkerInfo> workers) {
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
  }

  private void setWorker(int worker, @Nullable WorkerInfo info) {
    pool.setHeld(worker, hasGate(worker));
    if (pool.setInfo(worker, info)) {
      state.workers.put(worker);
      if (migration != null) {
        migration.workerChanged(worker);
      }
    }
  }

  /**
   * Starts a task of a job that is open, and returns its running number; negative: a redundancy
   * group was in the way.
   */
  public int start(int job) {
    int run = state.occupancy.start(job);
    if (run >= 0) {
      started(run);
    }
    return run;
  }

  /** Starts another task for the process of a running one, as {@link TaskAllocator#startBeside}. */
  public int startBeside(int first, int under) {
    int carrier = runs.batches().carrier(first);
    int run = state.occupancy.startBeside(first, under);
    if (run >= 0) {
      carrierChanged(carrier, run);
      started(run);
    }
    return run;
  }

  /**
   * Registers a task that runs already.
   *
   * @param job -1: unknown
   * @param node -1: unknown
   * @param batch see {@link TaskAllocator#adopt}
   */
  public int adopt(int job, int node, int worker, String batch) {
    int carrier = runs.batches().carrier(batch);
    int run =
        node >= 0
            ? state.occupancy.adopt(job, node, worker, batch)
            : state.occupancy.adoptOutside(job, worker, batch);
    carrierChanged(carrier, run);
    return run;
  }

  /** Tells the next state that a new task has become the carrier of its batch, if it has. */
  private void carrierChanged(int before, int run) {
    if (migration != null && before >= 0 && runs.batches().isCarrier(run)) {
      migration.moveShared(before, RunBatches.NONE, runs.batches().shared(run));
    }
  }

  /** Hands what a task that is about to end carries for its batch to another task of it. */
  private void handOver(int run) {
    RunBatches batches = runs.batches();
    if (!batches.isCarrier(run)) {
      return;
    }
    StateMigration next = migration;
    int heir =
        batches.other(
            run, each -> state.places.isPlaced(each) || (next != null && next.isPlaced(each)));
    if (heir >= 0) {
      ResourceCharges shared = batches.shared(run);
      state.occupancy.moveShared(run, heir, shared);
      if (next != null) {
        next.moveShared(run, heir, shared);
      }
      batches.setCarrier(heir);
    }
  }

  /** Handles a task that was charged in the state in force. */
  public void started(int run) {
    int worker = state.places.worker(run);
    if (worker >= 0) {
      pool.started(worker);
    }
    if (migration != null) {
      migration.started(run);
    }
  }

  /** Ends a running task. */
  public void finish(int run, @Nullable TaskStatus status) {
    handOver(run);
    if (migration != null) {
      migration.ending(run, status, now);
    }
    int worker = state.places.worker(run);
    state.occupancy.finish(run, status, now);
    runs.remove(run);
    if (worker >= 0) {
      pool.ended(worker);
    }
  }
}
