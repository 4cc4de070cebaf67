package io.espalier.core.loop;

import io.espalier.core.api.Query;
import io.espalier.core.api.view.JobEta;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.api.view.WaitingReasons;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.loop.command.BrakeCommands;
import io.espalier.core.loop.command.LimitOverrideCommands;
import io.espalier.core.loop.command.PauseRegistry;
import io.espalier.core.loop.command.TaskKiller;
import io.espalier.core.loop.command.WorkerPool;
import io.espalier.core.loop.health.HealthLimits;
import io.espalier.core.loop.notify.Outbox;
import io.espalier.core.loop.notify.ProblemEvents;
import io.espalier.core.loop.query.QueryQueue;
import io.espalier.core.loop.rollout.RolloutTracker;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.loop.state.LoopPorts;
import io.espalier.core.loop.state.LoopStats;
import io.espalier.core.loop.state.SlicedWork;
import io.espalier.core.loop.state.Throughput;
import io.espalier.core.loop.watch.CheckpointWriter;
import io.espalier.core.loop.watch.DeadlineRisks;
import io.espalier.core.loop.watch.JobAdmission;
import io.espalier.core.loop.watch.JobDeadlines;
import io.espalier.core.loop.watch.JobStateTracker;
import io.espalier.core.loop.watch.JobVerifications;
import io.espalier.core.loop.watch.NeverStarts;
import io.espalier.core.loop.watch.OverLimitEnforcer;
import io.espalier.core.loop.watch.Quarantines;
import io.espalier.core.loop.watch.QueueUsageRecorder;
import io.espalier.core.loop.watch.StartsInFlight;
import io.espalier.core.loop.watch.Throttles;
import io.espalier.core.loop.watch.WindowGates;
import io.espalier.core.notification.NotifierView;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.running.TaskResult;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.core.scheduling.query.NextAttempt;
import io.espalier.core.scheduling.query.PeakUsage;
import io.espalier.core.status.StatusParser;
import io.espalier.core.status.store.StoreTransaction;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The scheduler loop (docs/design/design.md#the-loop): takes inputs, starts the tasks that the
 * limits allow, records the changes in the store, hands the started tasks to the runner and
 * publishes the view.
 *
 * <p><b>Threads.</b> The loop has none of its own. A single owner thread calls all methods, above
 * all {@link #runOnce}, to which it hands the queue of {@link LoopInput}s: other threads only put
 * inputs into that queue. They take effect in a step, so that everything in a step happens at the
 * same instant. {@link #stats} alone is for any thread.
 *
 * <p><b>Order of a start.</b> A task is first charged and set running in the core, then recorded in
 * the store, and handed to the runner only when that commit completes. After a crash the store
 * therefore knows every invocation that may be alive. The loop never waits for the store.
 *
 * <p><b>Slices.</b> Work that grows with the number of tasks, jobs or inputs is cut into slices; a
 * step that leaves work to do returns a pause of zero. Inputs beyond the budget of a step wait for
 * the next step, in order. All changed jobs are evaluated before the next round.
 */
public final class SchedulerLoop {
  /** The minimum interval between two views, in milliseconds. */
  public static final long VIEW_MILLIS = 100;

  private static final int LIMIT_UNITS = 10_000;
  private static final int TIMERS_PER_SLICE = 1_000;
  private static final int INPUTS_PER_STEP = 500;
  private static final int CHORES_PER_STEP = 4;

  private final SchedulingCore core;
  private final LoopPorts ports;
  private final LiveTasks live = new LiveTasks();
  private final LoopEvents events;
  private final PauseRegistry pauses;
  private final LimitOverrideCommands limits;
  private final BrakeCommands brakes;
  private final Quarantines quarantines;
  private final QueueUsageRecorder queueSamples;
  private final Outbox outbox;
  private final ProblemEvents problems;
  private final Throughput throughput = new Throughput();
  private final QueryQueue queries;
  private final ViewPublisher views;
  private final TaskKiller kills;
  private final OverLimitEnforcer overLimits;
  private final WorkerPool pool;
  private final RunnerWatchdog watchdog;
  private final HealthLimits health;
  private final JobAdmission admission;
  private final JobVerifications verifications;
  private final JobStateTracker jobStates;
  private final RolloutTracker rollouts;
  private final CheckpointWriter checkpoints = new CheckpointWriter();
  private final StartsInFlight starting;
  private final LaunchFactory launches;
  private final UpdateApplier updates;
  private final InvocationRecovery recovery;
  private final InputParts parts;
  private final Committer committer;
  private final OperatorCommands commands;
  private final RoundSteps steps;
  private final StartRounds rounds;
  private final TimedStarts timedStarts;
  private final ArrayDeque<SlicedWork> chores = new ArrayDeque<>();
  private final List<Runnable> inspections = new ArrayList<>();
  private @Nullable RestoredState restored;
  private final String leader;
  private final long epoch;
  private boolean leads;
  private boolean stopping;
  private final LoopStats stats = new LoopStats();

  public SchedulerLoop(
      SchedulingCore core,
      Map<String, SchedulingPolicy> policies,
      StatusParser statusText,
      LoopPorts ports,
      LoopOptions options) {
    this.core = core;
    this.ports = ports;
    this.leader = options.name();
    this.epoch = options.epoch();
    this.events = new LoopEvents(options.firstEvent());
    this.starting = new StartsInFlight(core, ports.runner());
    this.admission = new JobAdmission(core);
    this.pauses = new PauseRegistry(core, events);
    this.limits = new LimitOverrideCommands(core, events);
    this.brakes =
        new BrakeCommands(core, live, ports.runner(), events, chores::add, this::viewChanged);
    this.verifications = new JobVerifications(core, live);
    this.jobStates = new JobStateTracker(core, events, verifications);
    WindowGates windows = new WindowGates(core, events, throughput, this::batch);
    this.health = new HealthLimits(core, events);
    this.quarantines = new Quarantines(core, events, this::batch);
    this.rollouts =
        new RolloutTracker(core, events, quarantines, live, health, this::batch, this::mayBegin);
    NeverStarts never = new NeverStarts(core, jobStates, this::waiting);
    this.pool = new WorkerPool(core, live, events, ports.runner(), options.name());
    this.views =
        new ViewPublisher(
            core,
            live,
            ports.runner().shard(),
            jobStates,
            throughput,
            pauses,
            brakes,
            windows,
            health,
            rollouts,
            quarantines,
            never,
            pool);
    this.kills = new TaskKiller(core, live, events, ports.runner());
    this.overLimits = new OverLimitEnforcer(core, live, kills, ports.warnings());
    this.watchdog = new RunnerWatchdog(core, live, kills, ports.runner(), this::put);
    this.launches = new LaunchFactory(core, live, pool, options, ports.warnings());
    this.updates = new UpdateApplier(core, live, events, jobStates, options.epoch());
    this.recovery = new InvocationRecovery(core, live);
    this.problems = new ProblemEvents(events);
    this.outbox = new Outbox(ports, this::batch, options.epoch());
    this.committer =
        new Committer(
            ports,
            events,
            jobStates,
            views,
            updates,
            throughput,
            core,
            outbox,
            starting,
            this::ended);
    SharedParts shared =
        new SharedParts(core, live, ports, events, jobStates, rollouts, views, committer);
    TaskCompletion completion =
        new TaskCompletion(
            shared,
            launches,
            verifications,
            statusText,
            throughput,
            quarantines,
            options.maxAttempts());
    TaskReports reports = new TaskReports(shared, updates, completion, checkpoints);
    this.commands =
        new OperatorCommands(
            shared,
            pauses,
            limits,
            brakes,
            health,
            quarantines,
            outbox,
            kills,
            pool,
            chores::add,
            reports::calledBack);
    this.steps =
        new RoundSteps(
            new JobDeadlines(core),
            windows,
            health,
            new Throttles(core, health, windows, brakes, live, kills, ports.runner()),
            rollouts,
            quarantines,
            starting,
            new DeadlineRisks(core, events, jobStates, ports.warnings(), this::eta),
            never);
    this.rounds =
        new StartRounds(
            shared, policies, steps, launches, throughput, quarantines, windows, stats, this::put);
    this.timedStarts = new TimedStarts(core, views, pauses, limits, brakes, steps);
    this.queries =
        new QueryQueue(
            core,
            live,
            throughput,
            starting,
            ports.runner().shard(),
            pool::view,
            limits::view,
            chores::add);
    this.parts =
        new InputParts(
            shared,
            commands,
            queries,
            throughput,
            brakes,
            updates,
            health,
            starting,
            recovery,
            completion,
            pool,
            reports,
            new JobForgetting(shared, updates, completion),
            new MovingSubtrees(core),
            chores::add,
            inspections::add,
            this::stop);
    this.queueSamples =
        new QueueUsageRecorder(core, this::started, usage -> committer.batch().queueUsage(usage));
  }

  // ---- inputs: see LoopInput

  /** Restores what outlived the earlier process; to be called before the first step. */
  public void restore(RestoredState stored) {
    pauses.restore(stored.pauses());
    jobStates.restore(stored.jobStates());
    limits.restore(stored.limits());
    brakes.restore(stored.brakes());
    rollouts.restore(stored.rollouts());
    quarantines.restore(stored.quarantines());
    pool.restore(stored.cordons());
    outbox.restore(stored.notifications());
    throughput.restore(stored.durations(), ports.warnings());
    restored = stored;
    views.changed();
  }

  /** Returns whether stored statuses are read, so that it is known which tasks are left. */
  private boolean mayBegin() {
    return !updates.underWay();
  }

  private void viewChanged() {
    views.changed();
  }

  private StoreTransaction.Builder batch() {
    return committer.batch();
  }

  /** Restores what takes effect at the instant of the first step. */
  private void restoreAt(RestoredState stored, long nowMillis) {
    if (!stored.queueUsage().isEmpty()) {
      core.restoreQueueUsage(stored.queueUsage(), nowMillis);
    }
    recovery.resume(stored.running(), ports.runner(), nowMillis);
  }

  private CompletionStage<JobEta> eta(String job) {
    return queries.eta(new Query.Eta(job, 0));
  }

  private CompletionStage<WaitingReasons> waiting(String job) {
    return queries.waiting(new Query.Waiting(job));
  }

  private void ended(TaskResult end, long nowMillis) {
    parts.ended(end, nowMillis);
  }

  void stop() {
    stopping = true;
    committer.stop();
    outbox.stop();
    queueSamples.take();
    throughput.changed().forEach(batch()::durations);
  }

  // ---- state, for the owner's thread

  /** The queries that are open. */
  public QueryQueue queries() {
    return queries;
  }

  /** Current progress of all configured jobs, by name. */
  public Map<String, JobProgress> progress() {
    return views.progress();
  }

  /** The back-off that ends first; empty as {@code TaskQueries.nextAttempt} says. */
  public Optional<NextAttempt> nextAttempt() {
    return Optional.ofNullable(core.tasks().nextAttempt());
  }

  /** Current states of all configured jobs, by name. */
  public Map<String, JobStateRecord> jobStates() {
    return jobStates.latest();
  }

  /** The peak usage of every resource so far. */
  public List<PeakUsage> peaks() {
    return core.capacity().peaks();
  }

  /** The names of the nodes on which tasks are live. */
  public Set<String> busyNodes() {
    Set<String> nodes = new HashSet<>();
    live.all().forEach(task -> nodes.add(task.key.node()));
    return nodes;
  }

  /** The number of live invocations. */
  public int liveCount() {
    return live.size();
  }

  /** The number of live invocations whose ends the runner will report. */
  public int awaitedCount() {
    return Math.max(0, live.size() - recovery.endless());
  }

  /** Statistics of this loop; any thread may read them. */
  public LoopStats stats() {
    return stats;
  }

  /** The number of tasks that this loop has started. */
  public long started() {
    return launches.count();
  }

  /**
   * Returns true when no task runs, none may start, none waits for a time, and everything is
   * durable: only another input could change that.
   */
  public boolean isQuiet() {
    return chores.isEmpty()
        && verifications.isIdle()
        && queries.isEmpty()
        && awaitedCount() == 0
        && !updates.underWay()
        && committer.isDurable()
        && !outbox.isSending()
        && rounds.isOver()
        && admission.isCurrent()
        && !steps.isOpening()
        && !timedStarts.areAhead();
  }

  /** How often roll-outs were evaluated so far. */
  long evaluationsOfRollouts() {
    return rollouts.evaluations();
  }

  // ---- the step

  /**
   * Performs one step of the loop: takes a limited number of inputs from the queue, in order, and
   * does a slice of each kind of work.
   *
   * @param inputs used by the owner only; what remains waits for the next step
   * @return the longest time to sleep before the next step, unless an input arrives
   */
  public Duration runOnce(long nowMillis, Queue<LoopInput> inputs) {
    core.setClock(nowMillis);
    if (restored != null) {
      restoreAt(restored, nowMillis);
      restored = null;
    }
    for (int left = Math.min(inputs.size(), INPUTS_PER_STEP); left > 0; left--) {
      inputs.remove().apply(parts, nowMillis);
    }
    boolean more = !inputs.isEmpty();
    pauses.step(nowMillis, this::resumed);
    limits.step(nowMillis, key -> committer.batch().endLimit(key));
    commands.step(nowMillis);
    more |= updates.step(nowMillis, row -> committer.changed(row, nowMillis));
    if (updates.tookForce()) {
      recovery.configured(
          end -> put(end), task -> kills.insist(task, false, "it is cancelled", nowMillis));
      pool.configured();
      brakes.configured(nowMillis);
      steps.configured(nowMillis);
      outbox.configured(core.config());
      leads(nowMillis);
      kills.recheck();
      views.inForce(updates.nodesAtMillis());
      views.error("statuses", updates.problem());
      throughput.retain(core.config().jobs().keySet());
    }
    more |= updates.hasConfig() && steps.step(nowMillis, views);
    more |= !core.advance(nowMillis, TIMERS_PER_SLICE);
    more |= !core.stepLimits(LIMIT_UNITS);
    more |= !core.stepOrphans(LIMIT_UNITS);
    more |= stepChores(nowMillis);
    more |= verifications.step(row -> committer.changed(row, nowMillis));
    committer.updateJobStates(nowMillis);
    if (updates.hasConfig() && admission.step()) {
      views.error("capacity", admission.problem());
      views.changed();
      committer.updateJobStates(nowMillis);
    }
    more |= queries.step(nowMillis);
    more |= !stopping && updates.hasConfig() && rounds.step(nowMillis);
    committer.updateJobStates(nowMillis);
    more |= updates.hasConfig() && (core.isTouched() || !admission.isCurrent());
    judgeStuck(nowMillis, more);
    if (!stopping && updates.hasConfig()) {
      more |= kills.checkOrphans(nowMillis);
      views.error("orphans", kills.problem());
      more |= overLimits.step(nowMillis);
    }
    checkpoints.step(nowMillis, task -> committer.checkpoint(task, nowMillis));
    more |= watchdog.step(nowMillis, views);
    queueSamples.step(nowMillis, stats);
    if (updates.hasConfig() && problems.isDue(nowMillis)) {
      problems.step(views.problemsNow(), nowMillis);
    }
    outbox.step(nowMillis);
    var unused = committer.commit();
    stats.now(live.size(), chores.size());
    List<NotifierView> notifiers = outbox.changes();
    if (notifiers != null) {
      stats.notifiers(notifiers);
      views.error("receivers", outbox.problem(nowMillis));
    }
    stats.heldByRate(core.capacity().jobsHeldByRate(), core.capacity().nodesHeldByRate());
    stats.heldByCapacity(admission.waiting());
    steps.stats(stats);
    stats.reserved(core.capacity().reservedNodes(), core.capacity().reservedSlots(), nowMillis);
    views.step(nowMillis, committer, ports.views());
    inspections.forEach(Runnable::run);
    inspections.clear();
    return more ? Duration.ZERO : untilNext(nowMillis, views.nextMillis());
  }

  /** Records, once, that this scheduler leads. */
  private void leads(long nowMillis) {
    if (!leads) {
      leads = true;
      events.add(
          nowMillis,
          EventKind.LEADER_CHANGED,
          Json.object().put("leader", leader).put("epoch", epoch).build());
    }
  }

  /** Checks for stuck jobs, only when nothing else is left to do: a stuck job stays stuck. */
  private void judgeStuck(long nowMillis, boolean more) {
    if (!more
        && judgesStuck()
        && jobStates.judgeStuck(nowMillis, live.size() > 0, committer::jobState)) {
      views.changed();
    }
  }

  private boolean judgesStuck() {
    return !stopping && updates.hasConfig() && !updates.underWay();
  }

  private void resumed(String job) {
    committer.batch().resume(job);
    jobStates.pauseEnded(job);
    views.changed();
  }

  private Duration untilNext(long nowMillis, long viewAtMillis) {
    long next = Math.min(core.nextTimerMillis(), viewAtMillis);
    next = Math.min(next, Math.min(kills.nextMillis(), overLimits.nextMillis()));
    next = Math.min(next, Math.min(watchdog.nextMillis(), checkpoints.nextMillis()));
    next = judgesStuck() ? Math.min(next, jobStates.nextMillis()) : next;
    next = Math.min(next, queueSamples.nextMillis());
    next = Math.min(next, Math.min(pauses.nextMillis(), limits.nextMillis()));
    next = Math.min(next, Math.min(commands.nextMillis(), outbox.nextMillis()));
    next = updates.hasConfig() ? Math.min(next, steps.nextMillis()) : next;
    next = Math.min(next, rounds.nextMillis(nowMillis));
    // Whatever is due now may name any instant of the past.
    return next <= nowMillis ? Duration.ZERO : Duration.ofMillis(next - nowMillis);
  }

  private boolean stepChores(long nowMillis) {
    for (int left = Math.min(chores.size(), CHORES_PER_STEP); left > 0; left--) {
      SlicedWork chore = chores.remove();
      if (!chore.step(nowMillis)) {
        chores.add(chore);
      }
    }
    return chores.stream().anyMatch(chore -> !chore.waits());
  }

  /** Puts the end of a task, which nobody reports, into the queue. */
  private void put(TaskResult end) {
    ports.owner().accept(now -> ended(end, now));
  }

  /**
   * The durability of the steps so far, for answers that a crash must not take back.
   *
   * @return a stage that completes, on any thread, once everything done in the steps so far is
   *     durable
   */
  public CompletionStage<Void> durable() {
    return committer.written();
  }
}
