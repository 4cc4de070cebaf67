package io.espalier.core.scheduling;

import io.espalier.core.api.Explanation;
import io.espalier.core.api.FailureGroups;
import io.espalier.core.api.Histogram;
import io.espalier.core.api.JobProgress;
import io.espalier.core.api.QueueView;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.TaskCounts;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.config.Settings;
import io.espalier.core.outcome.JobCounts;
import io.espalier.core.problem.Problem;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.capacity.ResourceCharges;
import io.espalier.core.scheduling.capacity.UnsatisfiableJobs;
import io.espalier.core.scheduling.job.JobBlocks;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.job.StatusCodes;
import io.espalier.core.scheduling.job.StatusFilter;
import io.espalier.core.scheduling.query.Explainer;
import io.espalier.core.scheduling.query.OtherPartitionExplainer;
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
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.scheduling.task.FailureIndex;
import io.espalier.core.scheduling.task.RunningTasks;
import io.espalier.core.scheduling.update.NewTasks;
import io.espalier.core.scheduling.update.StateMigration;
import io.espalier.core.scheduling.update.UpdatePlan;
import io.espalier.core.scheduling.util.Ticks;
import io.espalier.core.scheduling.worker.WorkerIndex;
import io.espalier.core.scheduling.worker.WorkerTable;
import io.espalier.core.scheduling.worker.WorkerUtilization;
import io.espalier.core.status.LimitOverride;
import io.espalier.core.status.QueueUsage;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The scheduling core (docs/design/design.md#the-index): knows every task's status and every node's
 * free slots, and answers "which task may start now?" in the depth of the tree. Cost follows
 * change, not size.
 *
 * <p><b>Numbers.</b> Jobs and nodes are small ints: nodes as in {@link #topology}, jobs from 0 to
 * {@link #jobCount} - 1. Both hold until the next change is in force. A running task is a long that
 * holds for as long as it runs, over all changes.
 *
 * <p><b>Time</b> only enters as an argument. Back-offs end at the first {@link #advance} at or
 * after their end rounded up to {@link Ticks#MILLIS}.
 *
 * <p><b>Threads.</b> One thread at a time, but for {@link #prepare}. Nothing here blocks.
 *
 * <p><b>Order of a loop:</b> apply what came in ({@code finish}, {@code setStatus}, changes),
 * {@code advance}, then {@code round} in slices until it answers true.
 *
 * <p><b>Length.</b> It is the whole interface of the core: mostly contracts, and methods that ask
 * one part.
 */
public final class SchedulingCore {
  /** What looking at a running task costs in a slice of a change. */
  private static final int UNITS_TO_JUDGE = 8;

  private static final TaskStatus PLAINLY_DONE = TaskStatus.of(Main.DONE, 0, 0);

  private final SplitMix64 random;
  private final RunningTasks runs = new RunningTasks();
  private final Round.Turns turns = new Round.Turns();
  private final PeakUsageTracker peaks = new PeakUsageTracker();
  private final Set<String> paused = new HashSet<>();
  private final Set<String> held = new HashSet<>();
  private final JobBlocks closings = new JobBlocks();
  private final WorkerTable pool = new WorkerTable();
  private final QueueUsageHistory queueHistory = new QueueUsageHistory();

  private final StateMigration.Warmth warmth = new StateMigration.Warmth();

  private SchedulingState world;
  private long worlds;

  /** Of the worlds before. */
  private long pastWork;

  private @Nullable StateMigration migration;
  private @Nullable UpdatePlan inPlace;

  /** How far running tasks have been looked at after a change in place; -1: none is under way. */
  private int judged = -1;

  private @Nullable Round round;
  private @Nullable CoreEventListener recorder;
  private long now;

  /** Before: what was stored has decayed by the half-life of the configuration to come. */
  private boolean isConfigured;

  /**
   * A core without jobs, with only the instance node.
   *
   * @param seed of all its randomness
   */
  public SchedulingCore(long seed) {
    this(seed, Map.of());
  }

  /**
   * @param selectors by the name in the settings; workers take turns where it is not among them
   */
  public SchedulingCore(long seed, Map<String, WorkerSelector> selectors) {
    random = new SplitMix64(seed);
    world = EmptyState.create(random, runs, pool, Map.copyOf(selectors));
    world.queues.enter(0, queueHistory);
  }

  /**
   * Tells everything that is done to this core from now on; only before anything else, so that a
   * {@link Replay} can do it again.
   */
  public void recordTo(CoreEventListener newRecorder) {
    recorder = newRecorder;
  }

  // ---- configuration and nodes

  /** Puts a configuration and its nodes in force at once: {@code prepare}, {@code begin}, step. */
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

  /** Says what time it is, without anything that depends on it: before other news. */
  public void setClock(long nowMillis) {
    at(nowMillis);
    if (recorder != null) {
      recorder.recorded(new CoreEvent.Clock(nowMillis));
    }
  }

  /**
   * The expensive part of a change that needs no state: comparing names, evaluating filters. May
   * run on any thread, while the core goes on; a second change must be prepared after the first is
   * in force.
   */
  public UpdatePlan prepare(Config config, Topology topology) {
    return UpdatePlan.prepare(world, config, topology, random);
  }

  /**
   * Starts to bring a prepared change into force.
   *
   * @throws IllegalStateException when it was prepared against other nodes or another configuration
   *     than those in force, or a change is under way
   */
  public void begin(UpdatePlan change) {
    if (isChanging()) {
      throw new IllegalStateException("another change is under way");
    }
    if (!change.isAgainst(world)) {
      throw new IllegalStateException("the change was prepared against another configuration");
    }
    SchedulingState next = change.world();
    if (next == null) {
      inPlace = change;
    } else {
      migration = new StateMigration(change, next, runs, warmth);
      next.over.at(now);
    }
    if (recorder != null) {
      recorder.recorded(new CoreEvent.Began(change.config(), change.topology()));
    }
  }

  /**
   * Does a slice of the work of the change that was begun. Until it is in force, everything goes by
   * the old configuration; nothing that happens meanwhile is lost.
   *
   * @param units about how many words of the index to touch: 10,000 take well below a millisecond
   * @return the new tasks when the change is in force; null when there is more to do
   */
  public @Nullable NewTasks step(int units) {
    NewTasks news = stepped(units);
    if (recorder != null) {
      recorder.recorded(new CoreEvent.Stepped(units, news != null));
    }
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
    Settings before = world.config().settings();
    Settings after = change.config().settings();
    boolean[] ran = new boolean[world.jobs.count()];
    for (int j = 0; j < ran.length; j++) {
      ran[j] = isRunnable(j);
    }
    UnsatisfiableJobs neverFits = change.neverFits();
    settleQueues();
    world.setConfig(
        change.config(), change.nodeLimits(), neverFits == null ? world.neverFits() : neverFits);
    if (!WorkerIndex.isSame(before, after)) {
      world.workers.setSettings(after);
    }
    for (Resource resource : change.limits()) {
      if (resource.level() < world.topology.levels().worker()) {
        world.configuredLimitChanged(resource);
      }
    }
    world.limits.step(Integer.MAX_VALUE, true);
    updateGates();
    for (int j = 0; j < ran.length; j++) {
      if (ran[j] != isRunnable(j)) {
        judged = 0;
      }
    }
  }

  /** The next configuration may have another half-life, which holds from now on. */
  private void settleQueues() {
    if (isConfigured) {
      world.queues.settle(queueHistory);
    }
    isConfigured = true;
  }

  private boolean isRunnable(int job) {
    Job configured = world.jobs.job(job);
    return configured != null && configured.canRun();
  }

  /**
   * Looks for running tasks that have become {@link #orphans}, or are none any more, because a
   * change that needed no new numbers was made to their jobs.
   *
   * @param units as for {@link #step}
   * @return whether all were looked at
   */
  public boolean stepOrphans(int units) {
    int most = Math.max(1, units / UNITS_TO_JUDGE);
    boolean named = runs.clearFound(most, run -> world.occupancy.charges(world.places.job(run)));
    if (judged < 0) {
      return named;
    }
    int end = (int) Math.min(runs.high(), (long) judged + most);
    for (; judged < end; judged++) {
      if (runs.isUsed(judged)) {
        boolean isHere = world.places.node(judged) >= 0;
        String name = isHere ? "" : StateMigration.nodeName(world, runs, judged);
        world.places.setOrphan(judged, world.whereabouts.isOrphan(judged, name));
      }
    }
    judged = judged < runs.high() ? judged : -1;
    return judged < 0 && named;
  }

  private void enter(StateMigration done) {
    done.end();
    peaks.keep(world);
    turns.last = lastInTurn(done.next().jobs);
    settleQueues();
    world.queues.leave(queueHistory);
    SchedulingState before = world;
    pastWork += before.work();
    world = done.next();
    worlds++;
    world.queues.enter(now, queueHistory);
    judged = -1; // each was looked at when it was carried over
    updateGates();
    world.takeOver(before, done.change());
  }

  /** The place in the order of names that the old one's last job has in the new. */
  private int lastInTurn(JobTable jobs) {
    if (turns.last < 0) {
      return -1;
    }
    return jobs.lastUpTo(world.jobs.name(turns.last));
  }

  private void updateGates() {
    for (int j = 0; j < world.jobs.count(); j++) {
      updateGate(j);
    }
  }

  private void updateGate(String name) {
    int job = world.jobs.find(name);
    if (job >= 0) {
      updateGate(job);
    }
  }

  private void updateGate(int job) {
    world.tasks.touch(job);
    boolean before = world.jobs.isActive(job);
    boolean after =
        world.jobs.canRun(job) && world.wholeJobs.areDone(job) && !isGated(world.jobs.name(job));
    world.jobs.setActive(job, after);
    if (before != after) {
      world.activated(job, after);
    }
  }

  private boolean isGated(String name) {
    return (!paused.isEmpty() && paused.contains(name))
        || (!held.isEmpty() && held.contains(name))
        || closings.isClosed(name);
  }

  private int start(int job) {
    int run = world.occupancy.start(job);
    int worker = world.places.worker(run);
    if (worker >= 0) {
      pool.started(worker);
    }
    if (migration != null) {
      migration.started(run);
    }
    return run;
  }

  /** Whether a change was begun and is not in force yet. */
  public boolean isChanging() {
    return migration != null || inPlace != null;
  }

  /** The configuration in force. */
  public Config config() {
    return world.config();
  }

  /** The nodes in force. */
  public Topology topology() {
    return world.topology;
  }

  // ---- jobs

  /** Jobs that are known: configured ones and removed ones of which tasks still run. */
  public int jobCount() {
    return world.jobs.count();
  }

  /** The number of a job, or -1. */
  public int findJob(String name) {
    return world.jobs.find(name);
  }

  public String jobName(int job) {
    return world.jobs.name(job);
  }

  /**
   * The node of a task; -1: the job has none of that name. Also of a removed job of which tasks
   * still run: its statuses are kept, and it may come back with them.
   *
   * @param job its number; -1 gives -1
   */
  public int findNode(int job, String node) {
    int level = job < 0 ? -1 : world.jobs.levels[job];
    return level < 0 ? -1 : world.topology.find(level, node);
  }

  /**
   * The job's configuration; null when it was removed.
   *
   * @param job its number; -1 gives null
   */
  public @Nullable Job job(int job) {
    return job < 0 ? null : world.jobs.job(job);
  }

  /** Stops starts of that job, known or not, until resumed. Constant time. */
  public void pause(String job) {
    paused.add(job);
    gated(CoreEvent.Gate.PAUSE, job, "");
  }

  public void resume(String job) {
    paused.remove(job);
    gated(CoreEvent.Gate.RESUME, job, "");
  }

  public boolean isPaused(String job) {
    return paused.contains(job);
  }

  /** Like a pause, while the stored statuses of the job's tasks are being read. */
  public void hold(String job) {
    held.add(job);
    gated(CoreEvent.Gate.HOLD, job, "");
  }

  public void release(String job) {
    held.remove(job);
    gated(CoreEvent.Gate.RELEASE, job, "");
  }

  /**
   * Stops starts of that job for one reason of those that concern whole jobs; kills nothing. Lasts
   * until it is {@link #reopen}ed for the same reason; several are kept apart.
   *
   * @param why for people
   */
  public void close(String job, Explanation.Kind kind, String why) {
    closings.close(job, kind, why);
    gated(CoreEvent.Gate.CLOSE, job, kind.name());
  }

  public void reopen(String job, Explanation.Kind kind) {
    closings.reopen(job, kind);
    gated(CoreEvent.Gate.REOPEN, job, kind.name());
  }

  private void gated(CoreEvent.Gate gate, String job, String why) {
    updateGate(job);
    if (recorder != null) {
      recorder.recorded(new CoreEvent.Gated(gate, job, why));
    }
  }

  /** Whether a job is closed for whatever reason. */
  public boolean isClosed(String job) {
    return closings.isClosed(job);
  }

  /** Whether the stored statuses of its tasks are being read. */
  public boolean isHeld(String job) {
    return held.contains(job);
  }

  /** What the state of a job follows from. */
  public JobCounts tally(int job) {
    return world.tasks.tally(job, world.places.ofJob(job));
  }

  /**
   * The jobs that may have another state since they were taken: something of them started or ended,
   * was changed by hand, or something keeps them or does so no more.
   *
   * @param limit how many at most
   */
  public int[] takeTouched(int limit) {
    return world.tasks.takeTouched(limit);
  }

  /** Whether {@link #takeTouched} has left some. */
  public boolean isTouched() {
    return world.tasks.isTouched();
  }

  /** Finds the jobs in which nothing can move; costs what it is asked. */
  public StuckJobs stuckJobs() {
    return new StuckJobs(this);
  }

  /**
   * Another number, within one {@link #worldNumber}, whenever {@link #stuckJobs} may find others.
   */
  public long changes() {
    return world.tasks.changes();
  }

  // ---- queues

  /** All queues. Costs queues and jobs. */
  public List<QueueView> queues() {
    return QueueViews.of(world);
  }

  /** What all queues have used lately, those included that are not configured any more. */
  public List<QueueUsage> queueUsage() {
    return world.queues.usage(queueHistory);
  }

  /** Takes over what was known before a restart; nothing was held since. */
  public void restoreQueueUsage(Collection<QueueUsage> stored, long nowMillis) {
    at(nowMillis);
    stored.forEach(usage -> queueHistory.put(usage.queue(), usage.value(), usage.atMillis()));
    world.queues.restore(queueHistory);
    if (recorder != null) {
      recorder.recorded(new CoreEvent.QueuesRestored(List.copyOf(stored), nowMillis));
    }
  }

  // ---- limits

  /**
   * Gives a resource another limit than the configured one, on one node or on all of a level that
   * have no override of their own; it replaces an older one of the same. Kills nothing: where more
   * is in use nothing starts that needs the resource, until less is. What there is no level,
   * resource or node for is kept until there is. {@link #stepLimits} must follow.
   */
  public void override(LimitOverride override) {
    override(override.key(), override);
    if (recorder != null) {
      recorder.recorded(new CoreEvent.Overridden(override));
    }
  }

  /** Ends what {@link #override} began; {@link #stepLimits} must follow. */
  public void endOverride(LimitOverride.Key key) {
    override(key, null);
    if (recorder != null) {
      recorder.recorded(new CoreEvent.OverrideEnded(key));
    }
  }

  private void override(LimitOverride.Key key, @Nullable LimitOverride override) {
    world.override(key, override);
    if (migration != null) {
      migration.override(key, override);
    }
  }

  /** All overrides of limits, whether they mean something now or not. */
  public List<LimitOverride> overrides() {
    return List.copyOf(world.overrides.all());
  }

  /**
   * Brings overrides into effect.
   *
   * @param units as for {@link #step}
   * @return whether all are in effect
   */
  public boolean stepLimits(int units) {
    if (world.limits.isDone()) {
      return true;
    }
    world.limits.step(units, true);
    boolean done = world.limits.isDone();
    if (recorder != null) {
      recorder.recorded(new CoreEvent.LimitsStepped(units, done));
    }
    return done;
  }

  /** Slots of a resource on a node in all, as they are in effect. */
  public int limit(int node, int resource) {
    return world.ledger.limit(node, world.index.level(node), resource);
  }

  /** The same as configured, whatever operators say. */
  public int configuredLimit(int node, int resource) {
    return world.nodeLimits().of(node, resource);
  }

  /**
   * What is wrong with limits that node sources deliver, jobs that can never run for theirs, and
   * filters that are too slow for a worker.
   */
  public List<Problem> nodeProblems() {
    List<Problem> problems = new ArrayList<>(world.nodeLimits().problems());
    problems.addAll(world.neverFits().problems(world.overrides));
    problems.addAll(world.workers.problems(world.jobs));
    return problems;
  }

  /**
   * When tasks are to be killed next because more than a limit is in use; {@link Long#MAX_VALUE}:
   * nowhere is more in use, or nothing is to be killed for it.
   */
  public long nextOverLimitMillis() {
    return world.nextOverLimitMillis();
  }

  /** Begins to look where that is, and who holds slots there. */
  public OverLimitScan overLimits(long nowMillis) {
    return new OverLimitScan(this, nowMillis);
  }

  // ---- workers

  /**
   * The workers there are, in place of those named before; a shard at most once. Never called: no
   * task asks for a worker. With {@link WorkerRef#LOCAL} alone: all tasks run on the scheduler's
   * own host, which has the resources of the worker level, while filters and placement mean
   * nothing. Costs what has changed.
   *
   * @throws IllegalStateException when that says for the first time, after a configuration is in
   *     force, that there is a pool
   */
  public void workers(List<WorkerInfo> workers) {
    boolean local = workers.size() == 1 && workers.get(0).ref().isLocal();
    WorkerTable.Mode mode = local ? WorkerTable.Mode.LOCAL : WorkerTable.Mode.POOL;
    if (pool.mode() != mode) {
      if (world.jobs.count() > 0 || migration != null) {
        throw new IllegalStateException("the pool must be known before the configuration");
      }
      pool.setMode(mode);
    }
    BitSet gone = new BitSet();
    pool.pool().forEach(gone::set);
    for (WorkerInfo info : workers) {
      int worker = pool.number(info.ref().shard());
      gone.clear(worker);
      if (!isSame(pool.info(worker), info)) {
        setWorker(worker, info);
      } else {
        pool.setInfo(worker, info);
      }
    }
    for (int worker = gone.nextSetBit(0); worker >= 0; worker = gone.nextSetBit(worker + 1)) {
      setWorker(worker, null);
      pool.dropIfIdle(worker);
    }
    if (recorder != null) {
      recorder.recorded(new CoreEvent.WorkersNamed(workers));
    }
  }

  private void setWorker(int worker, @Nullable WorkerInfo info) {
    pool.setInfo(worker, info);
    world.workers.put(worker);
    if (migration != null) {
      migration.workerChanged(worker);
    }
  }

  /** Whether two say the same to placement. */
  private static boolean isSame(@Nullable WorkerInfo old, WorkerInfo next) {
    return old != null
        && old.takesTasks() == next.takesTasks()
        && old.maxTasks() == next.maxTasks()
        && old.host().equals(next.host())
        && old.address().equals(next.address())
        && old.physical().equals(next.physical());
  }

  /** How the workers are used: those of the pool and those that have left and still hold tasks. */
  public List<WorkerUtilization> workerUse() {
    List<WorkerUtilization> all = new ArrayList<>();
    for (int worker = 0; worker < pool.high(); worker++) {
      if (pool.isUsed(worker)) {
        all.add(
            new WorkerUtilization(
                pool.shard(worker), pool.runs(worker), world.workers.slots(worker)));
      }
    }
    return all;
  }

  /** The worker of a running task; null: it has none, or that one is not in the pool any more. */
  public @Nullable WorkerInfo runWorker(long run) {
    int worker = world.places.worker(runs.index(run));
    return worker < 0 ? null : pool.info(worker);
  }

  public JobProgress progress(int job) {
    return ProgressCounts.of(world, job);
  }

  /**
   * Whether nothing keeps the tasks of a job but their own status, those they depend on, and slots:
   * otherwise none of them counts as ready. Constant time.
   */
  public boolean mayStart(int job) {
    return world.mayStart(job);
  }

  /**
   * Another number whenever {@link #progress} may be another, within one {@link #worldNumber} and
   * with the same {@link #mayStart}.
   */
  public long countsRevision(int job) {
    return world.tasks.revision(job);
  }

  /** Another number whenever jobs and nodes have been numbered anew. */
  public long worldNumber() {
    return worlds;
  }

  /**
   * Counts per level (docs/design/bistro.md#histograms). The levels above the tasks cost what
   * changed since the last call, the first call for a job one pass.
   *
   * @param samples node names per bucket, at most
   */
  public Histogram histogram(int job, int samples) {
    return world.histograms.histogram(job, samples);
  }

  /**
   * Does a part of what a histogram costs, so that {@link #histogram} is quick afterwards.
   *
   * @param units about how many nodes to look at, at least 2
   * @return how many it looked at; less than {@code units}: the histogram will be quick
   */
  public long prepareHistogram(int job, int units) {
    return world.histograms.prepare(job, units);
  }

  /**
   * The failed tasks of a job by cause. Costs the number of causes, which is bounded.
   *
   * @param limit groups, at most
   * @param samples node names per group, at most
   */
  public FailureGroups failures(int job, int limit, int samples) {
    FailureIndex index = world.tasks.failures(job);
    SchedulingState in = world;
    FailureIndex.Tasks tasks =
        new FailureIndex.Tasks() {
          @Override
          public @Nullable TaskStatus status(int node) {
            return in.statuses.of(job, node);
          }

          @Override
          public String name(int node) {
            return in.topology.name(node);
          }
        };
    return new FailureGroups(
        jobName(job), now, index.total(), index.size(), index.largest(limit, samples, tasks));
  }

  // ---- tasks

  /**
   * Gives a task its status: loaded, forgiven, changed by hand, or the running one after its start.
   *
   * @param status null: never tried
   * @throws IllegalArgumentException for a running status of a task that does not run here ({@link
   *     #adopt} makes it run), and for any other of one that does ({@link #finish} ends it)
   */
  public void setStatus(int job, int node, @Nullable TaskStatus status) {
    boolean runs = StatusCodes.main(world.tasks.code(job, node)) == Main.RUNNING;
    if (runs != (status != null && status.main() == Main.RUNNING)) {
      throw new IllegalArgumentException(
          runs ? "the task is running" : "the task does not run here");
    }
    world.statuses.set(job, node, status, now);
    if (recorder != null) {
      recorder.recorded(new CoreEvent.StatusSet(job, node, status));
    }
  }

  /**
   * The status of a task. While it runs: the one given by {@link #setStatus}, or that of before its
   * start. Of a task that is plainly done only that much is kept.
   */
  public @Nullable TaskStatus status(int job, int node) {
    TaskStatus detail = world.statuses.of(job, node);
    return detail == null && StatusCodes.isPlainlyDone(world.tasks.code(job, node))
        ? PLAINLY_DONE
        : detail;
  }

  /** The status bits of a task as in histograms (docs/design/bistro.md#histograms). */
  public int bits(int job, int node) {
    return StatusCodes.bits(world.tasks.code(job, node));
  }

  /**
   * Finds the next task of a job in node order whose status is in a set.
   *
   * @param fromNode where to begin; below the job's level: at its first node
   * @param limit how many tasks to look at
   * @return the node; {@code -1} when there is none up to the end; otherwise {@code -2 - next}
   *     where {@code next} is the node to go on from
   */
  public int nextTask(int job, int fromNode, int limit, StatusFilter set) {
    int from = Math.max(fromNode, world.tasks.first(job));
    int end = world.tasks.end(job);
    int stop = (int) Math.min(end, (long) from + limit);
    for (int node = from; node < stop; node++) {
      if (set.has(world.tasks.code(job, node))) {
        return node;
      }
    }
    return stop >= end ? -1 : -2 - stop;
  }

  /**
   * Why a task is not running: all conditions that fail, by the same predicates that start tasks.
   * Where a node has several parents, those of the path on which fewest conditions fail.
   *
   * @throws io.espalier.core.api.RefusedException for an unknown job or node
   */
  public Explanation explain(String job, String node) {
    int number = world.jobs.find(job);
    int level = number < 0 ? -1 : world.jobs.levels[number];
    if (number < 0) {
      throw new RefusedException(RefusedException.Reason.UNKNOWN, "no job is called " + job);
    }
    int at = level < 0 ? -1 : topology().find(level, node);
    return at < 0
        ? OtherPartitionExplainer.explain(config().shard(), job, level, node)
        : Explainer.explain(world, number, at, gates(job));
  }

  private Explainer.Gates gates(String job) {
    return new Explainer.Gates(paused.contains(job), held.contains(job), closings.reasons(job));
  }

  /** Begins to count the waiting tasks of a job by what keeps them. */
  public WaitReasonScan waiting(int job) {
    return new WaitReasonScan(this::world, job, Explainer.gates(world, job, gates(jobName(job))));
  }

  /** Begins to look for the running tasks that hold slots in some places. */
  public ResourceHolderScan holders(ResourceHolderScan.Place... places) {
    return new ResourceHolderScan(this::world, places);
  }

  /**
   * Begins to count tasks in subtrees.
   *
   * @param job the only one to count; -1: all
   * @param byJob whether to tell jobs apart
   */
  public SubtreeCountScan counts(int job, boolean byJob) {
    return new SubtreeCountScan(this::world, job, byJob);
  }

  /**
   * The tasks on one node, nothing below it.
   *
   * @param job the only one to count; -1: all
   */
  public TaskCounts countsOf(int job, int node) {
    return SubtreeCountScan.of(world, job, node);
  }

  SchedulingState world() {
    return world;
  }

  RunningTasks runTable() {
    return runs;
  }

  // ---- rounds and running tasks

  /**
   * Starts what the limits allow, in the order of a policy. After a complete round no ready task
   * has room on any of its root paths.
   *
   * @param maxStarts ends the slice
   * @return whether the round is complete; if not, call again to go on with it
   */
  public boolean round(SchedulingPolicy policy, int maxStarts, PlacementListener sink) {
    for (int job : world.wholeJobs.takeChanged()) {
      updateGate(job);
    }
    Round current = round;
    if (current == null || current.world() != world) {
      current = new Round(world, runs, random, turns, this::start);
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
    world.rooms.roundBegins();
    policy.schedule(current);
    world.roundOver();
    boolean complete = current.isComplete();
    if (recorder != null) {
      recorder.recorded(new CoreEvent.RoundEnded(complete));
    }
    return complete;
  }

  /** A start, as it is recorded. */
  CoreEvent.Placed placement(long run) {
    int worker = world.places.worker(runs.index(run));
    return new CoreEvent.Placed(
        run, runJobName(run), runNodeName(run), worker < 0 ? "" : pool.shard(worker));
  }

  /**
   * Takes a task for running that was not started here: it holds its slots, fitting or not, on the
   * path that is least short of them, and on its worker, until it ends. Job and node need not be
   * known: then it is charged nothing but its place on the worker, is an orphan, and takes its
   * place in the tree with the change that brings them, so that it is not started a second time.
   *
   * @param worker where it runs, whether in the pool or not; {@link WorkerRef#LOCAL}: nowhere
   * @return the running task, for {@link #finish}
   * @throws IllegalArgumentException when the task is running; of a task whose job or node is not
   *     known the caller must see to that
   */
  public long adopt(String job, String node, WorkerRef worker) {
    int number = world.jobs.find(job);
    int level = number < 0 ? -1 : world.jobs.levels[number];
    boolean placed = job(number) != null && level >= 0 && level < topology().levels().worker();
    int at = placed ? topology().find(level, node) : -1;
    if (at >= 0 && StatusCodes.main(world.tasks.code(number, at)) == Main.RUNNING) {
      throw new IllegalArgumentException("the task is running");
    }
    int charged = worker.isLocal() ? -1 : pool.number(worker.shard());
    int run;
    if (at >= 0) {
      run = world.occupancy.adopt(number, at, charged);
    } else {
      run = world.occupancy.adoptOutside(number, charged);
      runs.setNames(run, new RunningTasks.NamedPath(List.of(), List.of(node)));
      runs.setJobName(run, job);
    }
    if (charged >= 0) {
      pool.started(charged);
    }
    world.places.setOrphan(run, world.whereabouts.isOrphan(run, node));
    if (migration != null) {
      migration.started(run);
    }
    if (recorder != null) {
      recorder.recorded(new CoreEvent.Adopted(job, node, worker, runs.id(run)));
    }
    return runs.id(run);
  }

  /**
   * Ends a running task and frees its slots.
   *
   * @param status its new status; null: never tried. Ignored when job or node are gone
   * @throws IllegalArgumentException when it is not running
   */
  public void finish(long run, @Nullable TaskStatus status) {
    int index = runs.index(run);
    if (status != null && status.main() == Main.RUNNING) {
      throw new IllegalArgumentException("a task cannot end as running");
    }
    if (migration != null) {
      migration.ending(index, status, now);
    }
    int worker = world.places.worker(index);
    world.occupancy.finish(index, status, now);
    runs.remove(index);
    if (worker >= 0) {
      pool.ended(worker);
    }
    if (recorder != null) {
      recorder.recorded(new CoreEvent.Finished(run, status));
    }
  }

  public int runningCount() {
    return runs.count();
  }

  public boolean isRunning(long run) {
    return runs.isRunning(run);
  }

  /** The running task of that job and node, or -1. */
  public long findRun(int job, int node) {
    int run = world.places.find(job, node);
    return run < 0 ? -1 : runs.id(run);
  }

  /** All running tasks, in no order; a new array. */
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

  /** The number of its job; -1 when it was adopted and no such job is known. */
  public int runJob(long run) {
    return world.places.job(runs.index(run));
  }

  /** The status of a running task, as {@link #status}, also where job or node are gone. */
  public @Nullable TaskStatus runStatus(long run) {
    return runs.status(runs.index(run));
  }

  /**
   * Gives a running task another status.
   *
   * @param status a running one
   */
  public void setRunStatus(long run, TaskStatus status) {
    if (status.main() != Main.RUNNING) {
      throw new IllegalArgumentException("not the status of a running task");
    }
    runs.setStatus(runs.index(run), status);
  }

  /** The number of its node, or -1 when the node is gone or no longer on the job's level. */
  public int runNode(long run) {
    return world.places.node(runs.index(run));
  }

  public String runJobName(long run) {
    return StateMigration.jobName(world, runs, runs.index(run));
  }

  public String runNodeName(long run) {
    return StateMigration.nodeName(world, runs, runs.index(run));
  }

  /**
   * The names of the nodes it was charged to, instance first, its own last. Only its own when it
   * was adopted while job or node were not known.
   */
  public List<String> runPath(long run) {
    return StateMigration.path(world, runs, runs.index(run)).nodes();
  }

  /**
   * What its node is in the place through which it runs, such as {@code replica}; where only a node
   * above it has a role there, that. Empty: neither, or not known.
   */
  public String runRole(long run) {
    return world.whereabouts.roleOf(runs.index(run));
  }

  /** The names of the levels of those nodes; empty where only its own is known. */
  public List<String> runLevels(long run) {
    return StateMigration.path(world, runs, runs.index(run)).levels();
  }

  /**
   * What it was charged when it started: node to resource to slots, in path order, its worker's
   * shard last.
   */
  public Map<String, Map<String, Integer>> resourcesByNode(long run) {
    int index = runs.index(run);
    ResourceCharges charges = StateMigration.charges(world, runs, index);
    RunningTasks.NamedPath path = StateMigration.path(world, runs, index);
    Map<String, Map<String, Integer>> byNode = new LinkedHashMap<>();
    for (int i = 0; i < path.levels().size(); i++) {
      Map<String, Integer> amounts = charges.onLevel(path.levels().get(i));
      if (!amounts.isEmpty()) {
        // Nodes of different levels may share a name; resources never do.
        byNode.computeIfAbsent(path.nodes().get(i), n -> new LinkedHashMap<>()).putAll(amounts);
      }
    }
    int worker = world.places.worker(index);
    Map<String, Integer> ofWorker = charges.onWorker();
    if (worker >= 0 && !ofWorker.isEmpty()) {
      // The scheduler's own host goes by the name of the instance.
      String shard = pool.shard(worker);
      byNode
          .computeIfAbsent(shard.isEmpty() ? topology().name(0) : shard, n -> new LinkedHashMap<>())
          .putAll(ofWorker);
    }
    return byNode;
  }

  /**
   * Running tasks that should not run: the job is gone, disabled or invalid, or the node is gone or
   * disabled on every path (docs/design/bistro.md#orphans). Filters make no orphans. After a change
   * those that {@link #stepOrphans} has found so far.
   */
  public long[] orphans() {
    int[] numbers = world.places.orphans();
    long[] all = new long[numbers.length];
    for (int i = 0; i < all.length; i++) {
      all[i] = runs.id(numbers[i]);
    }
    return all;
  }

  // ---- time

  private void at(long nowMillis) {
    now = Math.max(now, nowMillis);
    world.clock.at(nowMillis);
    world.queues.advance(now);
    world.over.at(now);
    if (migration != null) {
      migration.next().over.at(now);
    }
  }

  /**
   * Says what time it is, and ends the back-offs and the waits for a start's turn that are over.
   *
   * @param limit how many at most
   * @return whether all that are over were ended
   */
  public boolean advance(long nowMillis, int limit) {
    at(nowMillis);
    boolean done = world.waits.advance(now, limit);
    if (recorder != null) {
      recorder.recorded(new CoreEvent.Advanced(nowMillis, limit, done));
    }
    return done;
  }

  /** When {@link #advance} has something to do next; {@link Long#MAX_VALUE}: never. */
  public long nextTimerMillis() {
    return world.waits.nextMillis();
  }

  // ---- figures

  /** Slots left of a resource on a node, negative when over-committed. */
  public int free(int node, int resource) {
    return world.ledger.free(node, world.index.level(node), resource);
  }

  /** How many jobs have to wait before another of their tasks may start. */
  public int jobsHeldByRate() {
    return world.caps.heldCount();
  }

  /** How many nodes have to wait before another task may start below them. */
  public int nodesHeldByRate() {
    return world.rates.heldCount();
  }

  /** The nodes that are kept free for tasks that have been waiting for long, in no order. */
  public List<Reservation> reservations() {
    return world.reservations == null ? List.of() : world.reservations.answers().all();
  }

  /** Room in queues and on workers that is kept for jobs that have been waiting for long. */
  public List<CapacityReservation> keptRoom() {
    return world.rooms.kept();
  }

  /** Whom a node is kept free for; null: nobody. */
  public @Nullable Reservation reservation(int node) {
    return world.reservations == null
        ? null
        : world.reservations.answers().of(node, world.index.level(node));
  }

  /** How many nodes are kept free. */
  public int reservedNodes() {
    return world.reservations == null ? 0 : world.reservations.held().size();
  }

  /** How many slots idle because they are kept free. */
  public long reservedSlots() {
    return world.reservations == null ? 0 : world.reservations.held().idleSlots();
  }

  /** The highest use of each resource of the levels that have nodes, since the core was made. */
  public List<PeakUsage> peaks() {
    return peaks.of(world);
  }

  /**
   * How many words of the index were evaluated or scanned, and places over their limit looked at,
   * so far: the measure of its cost.
   */
  public long work() {
    return pastWork + world.work() + (migration == null ? 0 : migration.next().work());
  }

  /**
   * Computes everything that is kept up to date from scratch and compares: for tests and for
   * hunting defects. Costs a pass over all jobs and nodes.
   *
   * @throws IllegalStateException names the first difference
   */
  public void verify() {
    new InvariantChecker(world, runs).run();
  }

  /** Memory of the index and the task table in bytes, statuses of tried tasks left out. */
  public long byteSize() {
    return world.byteSize();
  }
}
