package io.espalier.core.protocol;

import io.espalier.core.config.KillRequest;
import io.espalier.core.config.SubprocessOptions;
import io.espalier.core.protocol.HeartbeatAnswer.Verdict;
import io.espalier.core.running.Assignment;
import io.espalier.core.running.Launch;
import io.espalier.core.running.TaskEnd;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The scheduler's half of the protocol: which workers there are, what runs on them, what is to be
 * sent to them, and when an invocation may be taken for dead.
 *
 * <p><b>Use.</b> One owner calls everything. Answers to calls of workers are returned; everything
 * else goes to the {@link SchedulerOutput}. Work is only sent by {@link #step}, so the owner gives
 * all inputs it has and then calls {@code step}: that makes the batches.
 *
 * <p><b>Time.</b> {@code nowMillis} is one clock that never goes back and does not jump: epoch
 * milliseconds at the start of the process plus the monotonic time since.
 *
 * <p><b>Cost.</b> Of an input: what it changes, never the number of workers or tasks. Only the list
 * of workers is made anew when a worker changes, at most once per step.
 */
public final class SchedulerSide {
  private final long epoch;
  private final ProtocolTimers timers;
  private final Past past;
  private final SchedulerOutput out;
  private final Pool pool = new Pool();
  private final Runs runs;
  private final WorkerStates states;
  private final Registrations registrations;
  private final Batches batches;

  private boolean open;
  private long leaderUntil = Long.MAX_VALUE;
  private long takeoverEnds;
  private boolean takeoverOver;
  private Set<String> cordoned = Set.of();
  private Set<String> drained = Set.of();

  /** What came before this scheduler. */
  public enum Past {
    /** The store knows every invocation that may be alive: no wait. */
    KNOWN,
    /**
     * Invocations may be alive of which the store knows nothing: no worker gets tasks until {@link
     * ProtocolTimers#takeoverMillis} have passed, and one with tasks must stop them first.
     */
    UNKNOWN
  }

  /**
   * @param epoch of this leadership
   * @throws IllegalArgumentException when the timers have problems
   */
  public SchedulerSide(long epoch, ProtocolTimers timers, Past past, SchedulerOutput out) {
    if (!timers.problems().isEmpty()) {
      throw new IllegalArgumentException("unfit timers: " + timers.problems());
    }
    this.epoch = epoch;
    this.timers = timers;
    this.past = past;
    this.out = out;
    this.runs = new Runs(out);
    this.states = new WorkerStates(epoch, timers, past == Past.KNOWN, pool, runs);
    this.registrations = new Registrations(epoch, timers, past, pool, runs, states, out);
    this.batches = new Batches(epoch, timers, pool, runs, states, out);
  }

  /**
   * Opens: until then every call of a worker is answered {@code NOT_LEADER}. The wait for
   * unconfirmed invocations counts from here, so the epoch must have been raised before.
   *
   * @param unconfirmed recorded as started without an end
   * @throws IllegalStateException when it is open
   */
  public void resume(List<Assignment> unconfirmed, long nowMillis) {
    if (open) {
      throw new IllegalStateException("resumed twice");
    }
    open = true;
    takeoverEnds = nowMillis + timers.takeoverMillis();
    states.safeAt(takeoverEnds);
    unconfirmed.forEach(runs::resume);
  }

  /**
   * Leaves the wait of {@link Past#UNKNOWN} at once, by an operator's word: nobody knows whether
   * tasks of an earlier scheduler are alive. Without that wait nothing changes.
   */
  public void endSafeWait(long nowMillis) {
    if (past == Past.UNKNOWN && open && !takeoverOver) {
      out.warn("the safe wait is left early, as the configuration says");
      takeoverEnds = Math.min(takeoverEnds, nowMillis);
    }
  }

  /**
   * Until when leadership is certain; first {@link Long#MAX_VALUE}. After it nothing is answered or
   * sent.
   */
  public void leadershipValidUntil(long untilMillis) {
    leaderUntil = untilMillis;
  }

  private boolean leads(long nowMillis) {
    return open && nowMillis < leaderUntil;
  }

  /** The global options of task processes, for health checks. */
  public void healthCheckOptions(SubprocessOptions options) {
    states.checkOptions(options);
  }

  /** Shards that are to get no new tasks, and those among them to be drained: all of them. */
  public void holds(Collection<String> newCordoned, Collection<String> newDrained, long nowMillis) {
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

  /** Registers a worker, or renews its lease. */
  public HeartbeatAnswer heartbeat(Heartbeat heartbeat, long nowMillis) {
    if (!leads(nowMillis)) {
      return registrations.answer(
          heartbeat, Verdict.NOT_LEADER, "not the leader, or not yet ready");
    }
    if (heartbeat.epoch() > epoch) {
      return registrations.answer(
          heartbeat,
          Verdict.NOT_LEADER,
          "of epoch " + epoch + ", and one of epoch " + heartbeat.epoch() + " has led since");
    }
    return registrations.heartbeat(heartbeat, nowMillis);
  }

  // ---- reports

  /** Takes in ends, and says which are settled. */
  public ReportAnswer report(Report report, long nowMillis) {
    if (!leads(nowMillis)
        || report.ends().stream().anyMatch(end -> end.invocation().epoch() > epoch)) {
      return new ReportAnswer(report.number(), false, List.of());
    }
    List<RunId> settled = new ArrayList<>();
    for (TaskEnd end : report.ends()) {
      if (HealthCheck.is(end.job())) {
        settled.add(RunId.of(end));
        states.checked(report.worker(), end, nowMillis);
      } else if (runs.reported(end, report.worker())) {
        settled.add(RunId.of(end));
      } else {
        RemoteWorker worker = pool.get(report.worker());
        Run run = runs.get(RunId.of(end));
        if (worker != null && run != null) {
          worker.forget(run);
        }
      }
    }
    for (Report.ProgressOf progress : report.progress()) {
      if (runs.isLiveOn(progress.run(), report.worker())) {
        out.progress(progress.run(), progress.progress());
      }
    }
    for (Report.UsageOf usage : report.usage()) {
      if (runs.isLiveOn(usage.run(), report.worker())) {
        out.usage(usage.run(), usage.usage());
      }
    }
    return new ReportAnswer(report.number(), true, settled);
  }

  /** The end of this invocation is durable. */
  public void recorded(RunId run, long nowMillis) {
    Run ended = runs.recorded(run);
    if (ended != null && ended.reported) {
      RemoteWorker worker = pool.get(ended.worker);
      if (worker != null && worker.hasSession()) {
        worker.settle(run);
        pool.dirty(worker);
      }
    }
  }

  // ---- work

  /** Starts a task; its row with this worker is durable. */
  public void start(Launch launch, long nowMillis) {
    Run run = runs.start(launch);
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
   * @return whether this invocation is known and has not ended
   */
  public boolean kill(RunId id, KillRequest how, long nowMillis) {
    Run run = runs.live(id);
    if (run == null) {
      return false;
    }
    RemoteWorker worker = pool.get(run.worker);
    if (run.state == Run.State.QUEUED && worker != null) {
      worker.unqueue(run);
      worker.forget(run);
      runs.killed(run, nowMillis);
      return true;
    }
    order(run, worker, how, 0);
    return true;
  }

  /**
   * @return whether this invocation is known and has not ended
   */
  public boolean extend(RunId id, long millis, long nowMillis) {
    Run run = runs.live(id);
    if (run == null) {
      return false;
    }
    order(run, pool.get(run.worker), null, millis);
    return true;
  }

  private void order(
      Run run, @Nullable RemoteWorker worker, @Nullable KillRequest how, long millis) {
    run.orders.add(new Order(run.id, ++run.lastOrder, how, millis));
    if (worker != null && worker.runs.contains(run)) {
      worker.deliverOrders(run);
      pool.dirty(worker);
    }
  }

  /** A batch was answered. */
  public void answered(WorkerRef ref, WorkAnswer answer, long nowMillis) {
    batches.answered(ref, answer, nowMillis);
  }

  /**
   * A batch was not answered.
   *
   * @param reached false: for certain not a byte of it was sent, such as connection refused
   */
  public void failed(WorkerRef ref, long number, boolean reached, String why, long nowMillis) {
    batches.failed(ref, number, reached, why, nowMillis);
  }

  // ---- time

  /**
   * Does what is due and sends what has collected; to be called after inputs and when its time has
   * come.
   *
   * @return when it is to be called next at the latest; {@link Long#MAX_VALUE}: not before an input
   */
  public long step(long nowMillis) {
    if (!leads(nowMillis)) {
      return Long.MAX_VALUE;
    }
    if (!takeoverOver && nowMillis >= takeoverEnds) {
      takeoverOver = true;
      states.safe();
      for (Run run : runs.allResumed()) {
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
      batches.send(worker, nowMillis);
      pool.arm(worker, states.nextFor(worker, nowMillis));
    }
    if (pool.takeChanged()) {
      out.workers(workers());
    }
    return Math.min(pool.nextDue(), takeoverOver ? Long.MAX_VALUE : takeoverEnds);
  }

  // ---- questions

  /**
   * The whole pool as of now, each shard once: also who was lost not long ago, not who was replaced
   * and is waited for.
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

  /** Whether the invocation may be alive, or has an end that is not recorded yet. */
  public boolean mayBeAlive(RunId run) {
    return runs.knows(run);
  }

  /** When the wait of {@link Past#UNKNOWN} ends; 0: there is none. */
  public long safeWaitEndsMillis() {
    return past == Past.UNKNOWN && open && !takeoverOver ? takeoverEnds : 0;
  }

  /** Invocations of an earlier leader that no worker has confirmed yet. */
  public int unconfirmed() {
    return runs.resumedCount();
  }
}
