package io.espalier.core.scheduling;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.job.StatusCodes;
import io.espalier.core.scheduling.query.CapacityQueries;
import io.espalier.core.scheduling.query.PeakUsageTracker;
import io.espalier.core.scheduling.query.RunningTaskQueries;
import io.espalier.core.scheduling.query.StageQueries;
import io.espalier.core.scheduling.query.TaskQueries;
import io.espalier.core.scheduling.queue.QueueUsageHistory;
import io.espalier.core.scheduling.spi.SplitMix64;
import io.espalier.core.scheduling.spi.WorkerSelector;
import io.espalier.core.scheduling.state.EmptyState;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.scheduling.task.RunningTasks;
import io.espalier.core.scheduling.update.LiveState;
import io.espalier.core.scheduling.update.NewTasks;
import io.espalier.core.scheduling.update.TaskDifference;
import io.espalier.core.scheduling.update.UpdatePlan;
import io.espalier.core.scheduling.util.Ticks;
import io.espalier.core.scheduling.worker.WorkerTable;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.store.QueueUsage;
import io.espalier.core.topology.Topology;
import java.util.Collection;
import java.util.List;
import java.util.Map;
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
  private final SplitMix64 random;
  private final RunningTasks runs = new RunningTasks();
  private final PeakUsageTracker peaks = new PeakUsageTracker();
  private final WorkerTable pool = new WorkerTable();
  private final QueueUsageHistory queueHistory = new QueueUsageHistory();

  private final LiveState live;
  private final Gates gates;
  private final LimitChanges limits;

  private final TaskQueries tasks = new TaskQueries(this::state);
  private final RunningTaskQueries running = new RunningTaskQueries(this::state, runs, pool);
  private final StageQueries staged = new StageQueries(this::state);
  private final CapacityQueries capacity =
      new CapacityQueries(this::state, pool, queueHistory, peaks);

  private final Rounds rounds;
  private @Nullable CoreEventListener recorder;

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
    SchedulingState empty = EmptyState.create(random, runs, pool, Map.copyOf(selectors));
    live = new LiveState(empty, runs, pool, queueHistory);
    rounds = new Rounds(live, runs, random);
    gates = new Gates(live, this::record);
    limits = new LimitChanges(live, this::record);
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
    live.at(nowMillis);
    record(new CoreEvent.Clock(nowMillis));
  }

  /**
   * Prepares an update: does the expensive work that needs no state, such as comparing names and
   * evaluating filters. May run on any thread while the core is in use. A second update must be
   * prepared after the first is in force.
   */
  public UpdatePlan prepare(Config config, Topology topology) {
    return UpdatePlan.prepare(state(), config, topology, random);
  }

  /**
   * Begins to bring a prepared update into force.
   *
   * @throws IllegalStateException when the update was prepared against other nodes or another
   *     configuration than those in force, or when an update is under way
   */
  public void begin(UpdatePlan change) {
    live.begin(change);
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
    SchedulingState before = state();
    NewTasks news = live.step(units);
    if (state() != before) {
      peaks.keep(before);
      rounds.renumbered(before);
    }
    record(new CoreEvent.Stepped(units, news != null));
    return news;
  }

  /**
   * Updates {@link RunningTaskQueries#orphans} after an in-place update of jobs, which may turn
   * running tasks into orphans or back.
   *
   * @param units as for {@link #step}
   * @return true when all running tasks have been checked
   */
  public boolean stepOrphans(int units) {
    return live.stepOrphans(units);
  }

  /** Returns whether an update was begun and is not in force yet. */
  public boolean isChanging() {
    return live.isChanging();
  }

  /** Returns the configuration in force. */
  public Config config() {
    return state().config();
  }

  /** Returns the nodes in force. */
  public Topology topology() {
    return state().topology;
  }

  // ---- jobs

  /** Returns the queries about tasks. */
  public TaskQueries tasks() {
    return tasks;
  }

  /** Returns the queries about running tasks. */
  public RunningTaskQueries running() {
    return running;
  }

  /** Returns the queries about limits, usage, rates and reservations. */
  public CapacityQueries capacity() {
    return capacity;
  }

  /** Returns the queries about tasks of jobs with stages. */
  public StageQueries staged() {
    return staged;
  }

  /** Returns the number of known jobs: configured jobs, and removed jobs with running tasks. */
  public int jobCount() {
    return state().jobs.count();
  }

  /** Returns the number of a job, or -1. */
  public int findJob(String name) {
    return state().jobs.find(name);
  }

  public String jobName(int job) {
    return state().jobs.name(job);
  }

  /**
   * Returns the node of a task, or -1 when the job has no node of that name. Works also for a
   * removed job with running tasks: its statuses are kept in case the job returns.
   *
   * @param job the job number; -1 gives -1
   */
  public int findNode(int job, String node) {
    int level = job < 0 ? -1 : state().jobs.levels[job];
    return level < 0 ? -1 : state().topology.find(level, node);
  }

  /**
   * Returns the configuration of a job, or null when the job was removed.
   *
   * @param job the job number; -1 gives null
   */
  public @Nullable Job job(int job) {
    return job < 0 ? null : state().jobs.job(job);
  }

  // ---- gates

  /** Returns the gates of jobs, nodes and workers. */
  public Gates gates() {
    return gates;
  }

  /**
   * Takes the jobs whose state may have changed since the last call: a task started or ended or was
   * changed by a command, or the job was blocked or unblocked.
   *
   * @param limit the maximum number of jobs
   */
  public int[] takeTouched(int limit) {
    return state().tasks.takeTouched(limit);
  }

  /** Returns whether {@link #takeTouched} has left some jobs. */
  public boolean isTouched() {
    return state().tasks.isTouched();
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
    return state().tasks.changes();
  }

  // ---- queues

  /** Restores the usage stored before a restart. The queues count as idle since it was stored. */
  public void restoreQueueUsage(Collection<QueueUsage> stored, long nowMillis) {
    live.at(nowMillis);
    stored.forEach(usage -> queueHistory.put(usage.queue(), usage.value(), usage.atMillis()));
    state().queues.restore(queueHistory);
    record(new CoreEvent.QueuesRestored(List.copyOf(stored), nowMillis));
  }

  // ---- limits

  /** Returns the changes of limits. */
  public LimitChanges limits() {
    return limits;
  }

  /**
   * Brings overrides, factors, stages and what health leaves into effect.
   *
   * @param units as for {@link #step}
   * @return true when all of them are in effect
   */
  public boolean stepLimits(int units) {
    if (state().areLimitsInEffect()) {
      return true;
    }
    boolean done = state().stepLimits(units);
    record(new CoreEvent.LimitsStepped(units, done));
    return done;
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
      if (state().jobs.count() > 0 || isChanging()) {
        throw new IllegalStateException("the pool must be known before the configuration");
      }
      pool.setMode(mode);
    }
    live.setWorkers(workers);
    record(new CoreEvent.WorkersNamed(workers));
  }

  /** Returns a number that changes whenever jobs and nodes are renumbered. */
  public long stateNumber() {
    return live.number();
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
    boolean runs = StatusCodes.main(state().tasks.code(job, node)) == Main.RUNNING;
    if (runs != (status != null && status.main() == Main.RUNNING)) {
      throw new IllegalArgumentException(
          runs ? "the task is running" : "the task does not run here");
    }
    state().statuses.set(job, node, status, live.now());
    if (recorder != null) {
      recorder.recorded(new CoreEvent.StatusSet(job, node, status));
    }
  }

  SchedulingState state() {
    return live.state();
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
    for (int job : state().wholeJobs.takeChanged()) {
      live.updateJobGate(job);
    }
    record(new CoreEvent.RoundBegan(policy.name(), maxStarts));
    boolean complete =
        rounds.slice(policy, maxStarts, recorder == null ? sink : recording(recorder, sink));
    record(new CoreEvent.RoundEnded(complete));
    return complete;
  }

  private PlacementListener.OfBatches recording(CoreEventListener to, PlacementListener sink) {
    return (run, batch) -> {
      to.recorded(placement(run));
      sink.placed(run, batch);
    };
  }

  /** Returns the most tasks that a batch of any job may have; 1: no job has batches. */
  public int largestBatch() {
    return state().jobs.largestBatch();
  }

  /** Returns the recorded form of a start. */
  CoreEvent.Placed placement(long run) {
    int worker = state().places.worker(runs.index(run));
    return new CoreEvent.Placed(
        run, running.jobName(run), running.nodeName(run), worker < 0 ? "" : pool.shard(worker));
  }

  /**
   * Registers a task that is already running and was not started here. Until its end it is charged
   * on its worker and on the path with the smallest shortfall, even if limits are exceeded. Job and
   * node may be unknown: then the task is an orphan and is charged only on the worker, and the
   * update that brings the job and node adds it to the tree, so that it is not started twice.
   *
   * @param worker the worker it runs on, in the pool or not; {@link WorkerRef#LOCAL}: no worker
   * @param batch the name of the batch with whose tasks it shares a charge: of all of them with a
   *     known node, one is charged for it; empty: none
   * @return the running task, for {@link #finish}
   * @throws IllegalArgumentException when the task is already running; the caller must check this
   *     itself when the job or node is unknown
   */
  public long adopt(String job, String node, WorkerRef worker, String batch) {
    int known = state().jobs.find(job);
    // Of a dropped job even the queue is forgotten, which the next state does not know any more.
    int number = known >= 0 && state().jobs.dropped[known] ? -1 : known;
    int level = number < 0 ? -1 : state().jobs.levels[number];
    boolean placed = job(number) != null && level >= 0 && level < topology().levels().worker();
    int at = placed ? topology().find(level, node) : -1;
    if (at >= 0 && StatusCodes.main(state().tasks.code(number, at)) == Main.RUNNING) {
      throw new IllegalArgumentException("the task is running");
    }
    int charged = worker.isLocal() ? -1 : pool.number(worker.shard());
    int run = live.adopt(number, at, charged, batch);
    if (at < 0) {
      runs.setNames(run, new RunningTasks.NamedPath(List.of(), List.of(node)));
      runs.setJobName(run, job);
    }
    state().places.setOrphan(run, state().whereabouts.isOrphan(run, node));
    live.started(run);
    record(new CoreEvent.Adopted(job, node, worker, batch, runs.id(run)));
    return runs.id(run);
  }

  /** Registers a running task that shares no charge with others. */
  public long adopt(String job, String node, WorkerRef worker) {
    return adopt(job, node, worker, "");
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
    rounds.ending(index);
    live.finish(index, status);
    if (recorder != null) {
      recorder.recorded(new CoreEvent.Finished(run, status));
    }
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

  // ---- time

  /**
   * Sets the clock, and ends the back-offs and the waits for rates and batches that are over.
   *
   * @param limit the maximum number to end
   * @return true when all that are over have been ended
   */
  public boolean advance(long nowMillis, int limit) {
    live.at(nowMillis);
    boolean done = state().waits.advance(live.now(), limit);
    rounds.advance();
    record(new CoreEvent.Advanced(nowMillis, limit, done));
    return done;
  }

  /** Returns when {@link #advance} has work to do next; {@link Long#MAX_VALUE}: never. */
  public long nextTimerMillis() {
    return Math.min(state().waits.nextMillis(), rounds.nextMillis());
  }

  /**
   * Returns whether tasks that may start wait for others to fill a batch, or have waited and the
   * round that starts them is not over.
   */
  public boolean awaitsBatches() {
    return rounds.awaitsBatches();
  }

  /**
   * Returns until when tasks of a job that may start wait for others to fill a batch, epoch
   * milliseconds; 0: they do not wait.
   */
  public long batchAwaitedUntil(String job) {
    return rounds.batchAwaitedUntil(findJob(job));
  }

  // ---- figures

  /**
   * Returns how many words of the index were evaluated or scanned so far, plus the places over
   * their limit and the nodes below opened ones that were looked at: the measure of the core's
   * cost.
   */
  public long work() {
    return live.work();
  }

  /**
   * Recomputes from scratch all data that is updated incrementally, and compares. This is for tests
   * and debugging; it takes a pass over all jobs and nodes.
   *
   * @throws IllegalStateException with the first difference
   */
  public void verify() {
    new InvariantChecker(state(), runs).run();
  }

  /**
   * Returns the memory of the index and the task table in bytes, without the statuses of tried
   * tasks.
   */
  public long byteSize() {
    return state().byteSize();
  }
}
