package io.espalier.core.protocol;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.protocol.HeartbeatResponse.Verdict;
import io.espalier.core.running.Assignment;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.Throttle;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The scheduler's half of the protocol: tracks the workers and their runs, decides what to send to
 * them, and when an invocation may be declared dead.
 *
 * <p><b>Use.</b> A single owner calls all methods. Responses to calls of workers are return values;
 * everything else goes to the {@link SchedulerOutput}. Only {@link #step} sends work, so the owner
 * passes in all its inputs and then calls {@code step}, which builds the batches.
 *
 * <p><b>Time.</b> {@code nowMillis} comes from one clock that never goes back and does not jump:
 * epoch milliseconds at the start of the process plus the monotonic time since.
 *
 * <p><b>Cost.</b> The cost of an input depends on what it changes, never on the number of workers
 * or tasks. Only the list of workers is rebuilt when a worker changes, at most once per step.
 */
public final class SchedulerProtocol {
  /**
   * A heartbeat whose epoch is further ahead than this is not taken as evidence of a newer leader.
   */
  private static final long PLAUSIBLE_EPOCHS = 1_000_000;

  private static final long LEADERSHIP_LOOK_MILLIS = 200;

  private final LeadershipTerm term;
  private final ProtocolTimers timers;
  private final SchedulerOutput out;
  private final WorkerRegistry pool = new WorkerRegistry();
  private final TrackedRuns runs;
  private final WorkerHealth states;
  private final RegistrationHandler registrations;
  private final WorkDispatcher batches;
  private final Refusals refusals = new Refusals();

  private Past past;
  private boolean open;
  private long openedAt;
  private boolean overtaken;
  private long takeoverEnds;
  private boolean takeoverOver;
  private Set<String> cordoned = Set.of();
  private Set<String> drained = Set.of();

  /** What is known of the time before this scheduler. */
  public enum Past {
    /** The store knows every invocation that may be alive: no wait. */
    KNOWN,
    /**
     * As far as is known the store is new, and its own leaderships are all that there were: no wait
     * at first. The wait of {@link #UNKNOWN} begins when a worker shows that there was an earlier
     * scheduler: by another store that it served, or, if it names none, by an epoch or an
     * invocation.
     */
    NEW,
    /**
     * Invocations that the store does not know may be alive: no worker gets tasks until {@link
     * ProtocolTimers#takeoverMillis} have passed, and a worker with tasks must stop them first.
     */
    UNKNOWN
  }

  /**
   * Creates the protocol; {@link #resume} opens it.
   *
   * @throws IllegalArgumentException when the timers have problems
   */
  public SchedulerProtocol(
      LeadershipTerm term, ProtocolTimers timers, Past past, SchedulerOutput out) {
    if (!timers.problems().isEmpty()) {
      throw new IllegalArgumentException("unfit timers: " + timers.problems());
    }
    this.term = term;
    this.timers = timers;
    this.past = past;
    this.out = out;
    this.runs = new TrackedRuns(out);
    this.states = new WorkerHealth(term.epoch(), timers, past != Past.UNKNOWN, pool, runs);
    this.registrations = new RegistrationHandler(term, timers, past, pool, runs, states, out);
    this.batches = new WorkDispatcher(term.epoch(), timers, pool, runs, states, out);
  }

  /**
   * Opens the protocol: before this, the scheduler answers every call of a worker with {@code
   * NOT_LEADER}. The wait for unconfirmed invocations starts here, so the epoch must have been
   * raised before.
   *
   * @param unconfirmed invocations recorded as started without an end
   * @throws IllegalStateException when it is already open
   */
  public void resume(List<Assignment> unconfirmed, long nowMillis) {
    if (open) {
      throw new IllegalStateException("resumed twice");
    }
    open = true;
    openedAt = nowMillis;
    outwaitEarlierLeases(nowMillis);
    if (past == Past.UNKNOWN) {
      states.unsafeUntil(takeoverEnds);
    }
    unconfirmed.forEach(runs::resume);
  }

  private void outwaitEarlierLeases(long nowMillis) {
    takeoverEnds = nowMillis + timers.takeoverMillis();
    registrations.earlierLeasesEnd(takeoverEnds);
  }

  /**
   * Ends the wait of {@link Past#UNKNOWN} at once, by an operator's command: nothing proves that
   * the tasks of an earlier scheduler are dead. Has no effect when there is no such wait.
   */
  public void endSafeWait(long nowMillis) {
    if (past == Past.UNKNOWN && open && !takeoverOver) {
      out.warn("the safe wait is left early, as the configuration says");
      takeoverEnds = Math.min(takeoverEnds, nowMillis);
    }
  }

  /**
   * Checks the leadership again each time it matters: this process may have been stopped since the
   * last check.
   */
  private boolean leads() {
    return open && !overtaken && term.leads().getAsBoolean();
  }

  /** Sets the global options of task processes, which health checks use. */
  public void healthCheckOptions(SubprocessOptions options) {
    states.checkOptions(options);
  }

  /** Replaces the shards that get no new tasks, and those among them that are draining. */
  public void cordons(
      Collection<String> newCordoned, Collection<String> newDrained, long nowMillis) {
    Set<String> oldDrained = drained;
    cordoned = Set.copyOf(newCordoned);
    drained = Set.copyOf(newDrained);
    states.drained(drained);
    for (RemoteWorker worker : pool.ofShards(oldDrained, drained)) {
      states.review(worker, nowMillis);
    }
    pool.changed();
  }

  // ---- heartbeats

  /** Registers a worker or renews its lease. */
  public HeartbeatResponse heartbeat(Heartbeat heartbeat, long nowMillis) {
    if (!leads()) {
      return registrations.answer(
          heartbeat, Verdict.NOT_LEADER, "not the leader, or not yet ready");
    }
    if (past == Past.NEW && registrations.showsEarlierScheduler(heartbeat)) {
      beginSafeWait(heartbeat.worker(), nowMillis);
    }
    if (term.isForeign(heartbeat.storeId())) {
      return refused(
          heartbeat,
          Verdict.REFUSED,
          "it has served status store "
              + heartbeat.storeId()
              + ", this scheduler serves "
              + term.storeId()
              + "; start the worker again if it is to change over",
          nowMillis);
    }
    if (heartbeat.epoch() > term.epoch()) {
      return ofNewerEpoch(heartbeat, nowMillis);
    }
    return registrations.heartbeat(heartbeat, nowMillis);
  }

  private HeartbeatResponse ofNewerEpoch(Heartbeat heartbeat, long nowMillis) {
    String message =
        "of epoch " + term.epoch() + ", and one of epoch " + heartbeat.epoch() + " has led since";
    if (term.storeId().isEmpty()
        || heartbeat.storeId().isEmpty()
        || heartbeat.epoch() - term.epoch() > PLAUSIBLE_EPOCHS) {
      // Its store, if it has one, cannot be known, so it is no evidence.
      return refused(heartbeat, Verdict.NOT_LEADER, message, nowMillis);
    }
    overtaken = true;
    out.newerEpoch(heartbeat.epoch());
    return registrations.answer(heartbeat, Verdict.NOT_LEADER, message);
  }

  private HeartbeatResponse refused(
      Heartbeat heartbeat, Verdict verdict, String why, long nowMillis) {
    if (refusals.add(heartbeat.worker().shard(), why, nowMillis + timers.lostMillis())) {
      out.warn("worker " + heartbeat.worker().shard() + " is refused: " + why);
    }
    return registrations.answer(heartbeat, verdict, why);
  }

  /**
   * Why no worker gets tasks, and which workers were refused recently and why; if there is neither,
   * that there is no worker although all have had the time to register.
   */
  public Optional<String> problem(long nowMillis) {
    if (overtaken) {
      return Optional.of("a worker has heard of a later leader than this one: nothing is started");
    }
    Optional<String> refused = refusals.told(nowMillis);
    if (safeWaitEndsMillis() != 0) {
      return Optional.of(
          "safe wait until "
              + Instant.ofEpochMilli(takeoverEnds)
              + ": nothing is started, because tasks of an earlier scheduler may be alive"
              + refused.map(also -> "; " + also).orElse(""));
    }
    return refused.isPresent() || !isDeserted(nowMillis)
        ? refused
        : Optional.of("no worker is connected: no task can start");
  }

  private boolean isDeserted(long nowMillis) {
    return open && nowMillis >= openedAt + timers.lostMillis() && pool.isDeserted();
  }

  /**
   * Begins the safe wait late, because there was an earlier scheduler after all: returns the tasks
   * that were not sent yet as not started.
   */
  private void beginSafeWait(WorkerRef because, long nowMillis) {
    past = Past.UNKNOWN;
    outwaitEarlierLeases(nowMillis);
    takeoverOver = false;
    states.unsafeUntil(takeoverEnds);
    String why = "worker " + because.shard() + " has served an earlier scheduler";
    out.warn(why + ", and the new status store knows nothing about it: safe wait");
    for (RemoteWorker worker : List.copyOf(pool.all())) {
      for (TrackedRun run : List.copyOf(worker.runs)) {
        if (run.state == TrackedRun.State.QUEUED) {
          worker.unqueue(run);
          worker.forget(run);
          runs.notStarted(run, "safe wait: " + why, 0);
        }
      }
      states.review(worker, nowMillis);
    }
  }

  // ---- reports

  /** Accepts ends and returns those that are settled. */
  public ReportResponse report(Report report, long nowMillis) {
    if (!leads()
        || term.isForeign(report.storeId())
        || report.ends().stream().anyMatch(end -> end.invocation().epoch() > term.epoch())) {
      return new ReportResponse(report.number(), false, List.of());
    }
    // Before the ends: what a task has said last is the checkpoint of its next attempt.
    for (Report.ProgressOf progress : report.progress()) {
      if (runs.isLiveOn(progress.run(), report.worker())) {
        out.progress(progress.run(), progress.progress());
      }
    }
    List<RunId> settled = new ArrayList<>();
    for (TaskResult end : report.ends()) {
      if (HealthCheck.is(end.job())) {
        settled.add(RunId.of(end));
        states.checked(report.worker(), end, nowMillis);
      } else if (runs.reported(end, report.worker())) {
        settled.add(RunId.of(end));
      } else {
        RemoteWorker worker = pool.get(report.worker());
        TrackedRun run = runs.get(RunId.of(end));
        if (worker != null && run != null) {
          worker.forget(run);
        }
      }
    }
    for (Report.UsageOf usage : report.usage()) {
      if (runs.isLiveOn(usage.run(), report.worker())) {
        out.usage(usage.run(), usage.usage());
      }
    }
    return new ReportResponse(report.number(), true, settled);
  }

  /** Notes that the end of this invocation is durable. */
  public void recorded(RunId run, long nowMillis) {
    TrackedRun ended = runs.recorded(run);
    if (ended != null && ended.reported) {
      RemoteWorker worker = pool.get(ended.worker);
      if (worker != null && worker.hasSession()) {
        worker.settle(run);
        pool.dirty(worker);
      }
    }
  }

  // ---- work

  /** Starts a task; its row with this worker must be durable. */
  public void start(LaunchSpec launch, long nowMillis) {
    TrackedRun run = runs.start(launch);
    RemoteWorker worker = pool.get(launch.worker());
    if (worker == null || worker.state != WorkerInfo.State.HEALTHY) {
      String state = worker == null ? "gone" : worker.state + " " + worker.note;
      runs.notStarted(run, "worker " + launch.worker().shard() + " is " + state, 0);
      return;
    }
    worker.runs.add(run);
    worker.queue(run);
    pool.dirty(worker);
  }

  /**
   * Ends a call whose service has reported its end; its worker is told to let go of it. Has no
   * effect when its end is known here too.
   */
  public void letGo(RunId id, long nowMillis) {
    TrackedRun run = runs.live(id);
    if (run == null) {
      return;
    }
    RemoteWorker worker = pool.get(run.worker);
    if (worker != null) {
      boolean unused = worker.unqueue(run);
      worker.forget(run);
    }
    runs.letGo(run, nowMillis);
  }

  /**
   * Stops a task.
   *
   * @return true when this invocation is known and has not ended
   */
  public boolean kill(RunId id, KillRequest how, long nowMillis) {
    TrackedRun run = runs.live(id);
    if (run == null) {
      return false;
    }
    RemoteWorker worker = pool.get(run.worker);
    if (run.state == TrackedRun.State.QUEUED && worker != null) {
      worker.unqueue(run);
      worker.forget(run);
      runs.killed(run, nowMillis);
      return true;
    }
    order(run, new TaskCommand(run.id, ++run.lastOrder, how, 0));
    return true;
  }

  /**
   * Extends the time limits of a task.
   *
   * @return true when this invocation is known and has not ended
   */
  public boolean extend(RunId id, long millis, long nowMillis) {
    TrackedRun run = runs.live(id);
    if (run == null) {
      return false;
    }
    order(run, new TaskCommand(run.id, ++run.lastOrder, null, millis));
    return true;
  }

  /** Tells a task, unless it has ended, how fast to work, in place of what it was to be told. */
  public void throttle(RunId id, Throttle throttle) {
    TrackedRun run = runs.live(id);
    if (run != null) {
      run.orders.removeIf(order -> order.throttle() != null);
      order(run, TaskCommand.throttle(run.id, ++run.lastOrder, throttle));
    }
  }

  /**
   * Takes a start back: if it has not begun, it ends as never started. {@link
   * SchedulerOutput#recalled} follows once its worker has confirmed that, unless it ends before.
   */
  public void recall(RunId id) {
    TrackedRun run = runs.live(id);
    if (run == null) {
      return;
    }
    RemoteWorker worker = pool.get(run.worker);
    if (run.state == TrackedRun.State.QUEUED && worker != null) {
      worker.unqueue(run);
      worker.forget(run);
      runs.notStarted(run, "it was recalled before it was sent to its worker", 0);
      return;
    }
    order(run, TaskCommand.recall(run.id, ++run.lastOrder));
  }

  private void order(TrackedRun run, TaskCommand command) {
    run.orders.add(command);
    RemoteWorker worker = pool.get(run.worker);
    if (worker != null && worker.runs.contains(run)) {
      worker.deliverOrders(run);
      pool.dirty(worker);
    }
  }

  /** Handles the response to a batch. */
  public void answered(WorkerRef ref, WorkResponse answer, long nowMillis) {
    batches.answered(ref, answer, nowMillis);
  }

  /**
   * Handles a batch without a response.
   *
   * @param reached false when certainly not a byte of it was sent, such as after a refused
   *     connection
   */
  public void failed(WorkerRef ref, long number, boolean reached, String why, long nowMillis) {
    batches.failed(ref, number, reached, why, nowMillis);
  }

  // ---- time

  /**
   * Performs what is due and sends the collected work. To be called after inputs and at the
   * returned time.
   *
   * @return the latest time for the next call; {@link Long#MAX_VALUE}: only after an input
   */
  public long step(long nowMillis) {
    if (!leads()) {
      return untilLeadershipMayBeCertain(nowMillis);
    }
    boolean all = true;
    if (!takeoverOver && nowMillis >= takeoverEnds) {
      takeoverOver = true;
      states.safe();
      for (TrackedRun run : runs.allResumed()) {
        runs.lost(run, "no worker has confirmed it since the scheduler was restarted", nowMillis);
      }
      if (past == Past.UNKNOWN) {
        List.copyOf(pool.all()).forEach(worker -> states.review(worker, nowMillis));
      }
    }
    for (RemoteWorker worker = pool.due(nowMillis); worker != null; worker = pool.due(nowMillis)) {
      states.review(worker, nowMillis);
    }
    for (RemoteWorker worker : pool.takeDirty()) {
      if (leads()) {
        batches.send(worker, nowMillis);
      } else {
        pool.dirty(worker);
        all = false;
      }
      pool.arm(worker, states.nextFor(worker, nowMillis));
    }
    if (pool.takeChanged(nowMillis)) {
      out.workers(workers());
    }
    long next = Math.min(pool.nextDue(), takeoverOver ? Long.MAX_VALUE : takeoverEnds);
    return all ? next : Math.min(next, untilLeadershipMayBeCertain(nowMillis));
  }

  /** When to check the leadership again: no input announces that it is certain again. */
  private long untilLeadershipMayBeCertain(long nowMillis) {
    return open && !overtaken ? nowMillis + LEADERSHIP_LOOK_MILLIS : Long.MAX_VALUE;
  }

  // ---- queries

  /**
   * The whole pool, each shard once: includes recently lost workers, but not replaced workers whose
   * tasks have yet to end.
   */
  public List<WorkerInfo> workers() {
    List<WorkerInfo> infos = new ArrayList<>();
    for (RemoteWorker worker : pool.all()) {
      if (!worker.retired) {
        infos.add(worker.info(cordoned.contains(worker.ref.shard())));
      }
    }
    return infos;
  }

  /** Returns true when the invocation may be alive, or has an end that is not recorded yet. */
  public boolean mayBeAlive(RunId run) {
    return runs.knows(run);
  }

  /** When the wait of {@link Past#UNKNOWN} ends; 0: there is no wait. */
  public long safeWaitEndsMillis() {
    return past == Past.UNKNOWN && open && !takeoverOver ? takeoverEnds : 0;
  }

  /**
   * Returns true when nothing that earlier leaders started can be alive any more, unless confirmed.
   */
  public boolean hasOutwaited() {
    return takeoverOver;
  }

  /** The number of invocations of earlier leaders that no worker has confirmed yet. */
  public int unconfirmed() {
    return runs.resumedCount();
  }
}
