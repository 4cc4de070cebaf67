package io.espalier.core.protocol;

import io.espalier.core.config.KillRequest;
import io.espalier.core.config.SubprocessOptions;
import io.espalier.core.protocol.HeartbeatAnswer.Verdict;
import io.espalier.core.protocol.WorkAnswer.RunState;
import io.espalier.core.protocol.WorkAnswer.StartAnswer;
import io.espalier.core.running.Assignment;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.Launch;
import io.espalier.core.running.TaskEnd;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.OptionalInt;
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
  /** A lost worker is shown for so long. */
  private static final long SHOW_LOST_MILLIS = 15 * 60_000;

  /** After so many calls without an answer a worker gets no more tasks. */
  private static final int FAILED_CALLS = 2;

  private final long epoch;
  private final ProtocolTimers timers;
  private final Past past;
  private final SchedulerOutput out;
  private final Pool pool = new Pool();
  private final Runs runs;

  private boolean open;
  private long leaderUntil = Long.MAX_VALUE;
  private long takeoverEnds;
  private boolean takeoverOver;
  private SubprocessOptions checkOptions = SubprocessOptions.DEFAULT;
  private Set<String> cordoned = Set.of();
  private Set<String> drained = Set.of();
  private long sessions;
  private long batches;
  private long checks;

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
    checkOptions = options;
  }

  /** Shards that are to get no new tasks, and those among them to be drained: all of them. */
  public void holds(Collection<String> newCordoned, Collection<String> newDrained, long nowMillis) {
    Set<String> oldDrained = drained;
    cordoned = Set.copyOf(newCordoned);
    drained = Set.copyOf(newDrained);
    for (RemoteWorker worker : pool.ofShards(oldDrained, drained)) {
      review(worker, nowMillis);
    }
    pool.changed();
  }

  // ---- heartbeats

  /** Registers a worker, or renews its lease. */
  public HeartbeatAnswer heartbeat(Heartbeat heartbeat, long nowMillis) {
    if (!leads(nowMillis) || heartbeat.epoch() > epoch) {
      return answer(heartbeat, Verdict.NOT_LEADER, "not the leader, or not yet ready");
    }
    OptionalInt version = Versions.OURS.common(heartbeat.facts().versions());
    if (version.isEmpty()) {
      String message =
          "no common protocol version: worker "
              + heartbeat.worker().shard()
              + " speaks "
              + heartbeat.facts().versions()
              + ", the scheduler "
              + Versions.OURS;
      out.warn(message);
      return answer(heartbeat, Verdict.REFUSED, message);
    }
    RemoteWorker worker = pool.get(heartbeat.worker());
    if (worker != null && heartbeat.number() < worker.lastHeartbeat) {
      return answer(heartbeat, Verdict.REFUSED, "overtaken by a later heartbeat");
    }
    if (heartbeat.session() == 0) {
      boolean copy =
          worker != null && worker.hasSession() && heartbeat.number() == worker.registeredBy;
      worker = copy ? worker : register(heartbeat, worker, nowMillis);
      if (worker == null) {
        return refusal(heartbeat, nowMillis);
      }
    } else if (worker == null) {
      return answer(heartbeat, Verdict.REGISTER_AGAIN, "not registered here");
    } else if (worker.retired || worker.isLost()) {
      return answer(heartbeat, Verdict.STOP_ALL, "taken for lost or replaced");
    } else if (worker.session != heartbeat.session()) {
      return answer(heartbeat, Verdict.REGISTER_AGAIN, "this session has ended");
    }
    refresh(worker, heartbeat, nowMillis);
    return new HeartbeatAnswer(
        heartbeat.number(),
        Verdict.ACCEPTED,
        epoch,
        worker.session,
        version.getAsInt(),
        timers,
        drained.contains(worker.ref.shard()),
        "");
  }

  private HeartbeatAnswer answer(Heartbeat to, Verdict verdict, String message) {
    return new HeartbeatAnswer(to.number(), verdict, epoch, 0, 0, timers, false, message);
  }

  private void refresh(RemoteWorker worker, Heartbeat heartbeat, long nowMillis) {
    worker.lastHeartbeat = heartbeat.number();
    worker.lastSeen = nowMillis;
    worker.lostAt = nowMillis + timers.lostMillis();
    worker.draining = heartbeat.draining();
    worker.healthy = heartbeat.healthy();
    worker.ownNote = heartbeat.note();
    if (!worker.facts.equals(heartbeat.facts())) {
      worker.facts = heartbeat.facts();
      pool.changed();
    }
    review(worker, nowMillis);
  }

  /** The worker with its new session; null: it cannot be registered. */
  private @Nullable RemoteWorker register(
      Heartbeat heartbeat, @Nullable RemoteWorker known, long nowMillis) {
    WorkerRef ref = heartbeat.worker();
    RemoteWorker holder = pool.ofShard(ref.shard());
    if ((known != null && known.retired)
        || (past == Past.UNKNOWN && heartbeat.runs().stream().anyMatch(run -> !runs.knows(run)))) {
      return null;
    }
    if (holder != null && holder != known && !mayReplace(holder, heartbeat, nowMillis)) {
      return null;
    }
    for (long instance : heartbeat.cleared()) {
      clear(new WorkerRef(ref.shard(), instance), nowMillis);
    }
    if (holder != null && holder != known && pool.get(holder.ref) == holder && !holder.isLost()) {
      holder.retired = true;
      holder.endSession();
      out.warn("worker " + ref.shard() + " is replaced; its tasks are waited for");
      review(holder, nowMillis);
    }
    RemoteWorker worker = known != null ? known : new RemoteWorker(ref, heartbeat.facts());
    pool.put(worker);
    worker.endSession();
    worker.session = ++sessions;
    worker.registeredBy = heartbeat.number();
    worker.failedCalls = 0;
    worker.retryAt = Long.MIN_VALUE;
    worker.nextCheck = nowMillis;
    worker.lastGood = Long.MIN_VALUE;
    worker.checkNote = "";
    set(worker, WorkerInfo.State.NEW, "", nowMillis);
    takeStock(worker, heartbeat, nowMillis);
    return worker;
  }

  /** Whether a newcomer may have the shard name of a worker that is there. */
  private boolean mayReplace(RemoteWorker holder, Heartbeat newcomer, long nowMillis) {
    return holder.isLost()
        || newcomer.cleared().contains(holder.ref.instance())
        || nowMillis >= holder.lastSeen + timers.unhealthyMillis();
  }

  private HeartbeatAnswer refusal(Heartbeat heartbeat, long nowMillis) {
    if (!heartbeat.runs().isEmpty()) {
      return answer(heartbeat, Verdict.STOP_ALL, "its tasks are not known here, or it is replaced");
    }
    RemoteWorker holder = pool.ofShard(heartbeat.worker().shard());
    return answer(
        heartbeat,
        Verdict.REFUSED,
        holder == null
            ? "it was replaced"
            : "worker "
                + holder.ref.shard()
                + " is another process, at "
                + holder.facts.address()
                + ", heard of "
                + (nowMillis - holder.lastSeen)
                + " ms ago");
  }

  /** That process has ended and its tasks are verified dead. */
  private void clear(WorkerRef gone, long nowMillis) {
    String why = "its worker was restarted";
    for (Run run : runs.resumedOn(gone)) {
      runs.lost(run, why, nowMillis);
    }
    RemoteWorker worker = pool.get(gone);
    if (worker != null) {
      lose(worker, why, nowMillis);
      pool.remove(worker);
    }
  }

  /** Settles what the old session left open: what is not said to run must be asked for. */
  private void takeStock(RemoteWorker worker, Heartbeat heartbeat, long nowMillis) {
    worker.runs.addAll(runs.resumedOn(worker.ref));
    Set<RunId> said = Set.copyOf(heartbeat.runs());
    for (Run run : List.copyOf(worker.runs)) {
      if (run.state == Run.State.QUEUED) {
        continue;
      }
      if (said.contains(run.id)) {
        confirm(worker, run);
      } else {
        run.askPause = timers.askFirstMillis();
        worker.ask(run, nowMillis);
      }
    }
    for (RunId stranger : heartbeat.runs()) {
      if (!runs.isLiveOn(stranger, worker.ref) && !HealthCheck.is(stranger.job())) {
        out.warn("worker " + worker.ref.shard() + " runs what it should not: " + stranger);
        worker.order(
            new Order(stranger, Long.MAX_VALUE, new KillRequest(KillRequest.Method.KILL, 0), 0));
      }
    }
    pool.dirty(worker);
  }

  private static void confirm(RemoteWorker worker, Run run) {
    worker.unsure.remove(run);
    run.state = Run.State.RUNNING;
    run.wasConfirmed = true;
    worker.deliverOrders(run);
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
        checked(report.worker(), end, nowMillis);
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

  private void checked(WorkerRef ref, TaskEnd end, long nowMillis) {
    RemoteWorker worker = pool.get(ref);
    if (worker == null || worker.check == null || !worker.check.id.equals(RunId.of(end))) {
      return;
    }
    if (HealthCheck.isGood(end)) {
      worker.lastGood = nowMillis;
      worker.checkNote = "";
    } else {
      worker.checkNote = "health check failed: " + (end.message() == null ? end : end.message());
    }
    worker.check = null;
    worker.nextCheck = worker.checkedAt + timers.healthCheckMillis();
    review(worker, nowMillis);
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
    RemoteWorker worker = pool.get(ref);
    RemoteWorker.Batch batch = worker == null ? null : worker.underWay;
    if (worker == null || batch == null || batch.number() != answer.number()) {
      return;
    }
    if (answer.verdict() != WorkAnswer.Verdict.DONE
        || answer.starts().size() != batch.starts().size()
        || answer.asked().size() != batch.asks().size()) {
      failed(ref, answer.number(), true, "refused as " + answer.verdict(), nowMillis);
      return;
    }
    worker.underWay = null;
    worker.failedCalls = 0;
    worker.retryAt = Long.MIN_VALUE;
    for (int i = 0; i < batch.starts().size(); i++) {
      started(worker, batch.starts().get(i), answer.starts().get(i), nowMillis);
    }
    for (int i = 0; i < batch.asks().size(); i++) {
      asked(worker, batch.asks().get(i), answer.asked().get(i), nowMillis);
    }
    batch.ordered().forEach(worker::ordersArrived);
    review(worker, nowMillis);
    pool.dirty(worker);
  }

  private void started(RemoteWorker worker, Run run, StartAnswer answer, long nowMillis) {
    if (run.state != Run.State.SENT) {
      return;
    }
    if (answer.accepted()) {
      confirm(worker, run);
    } else if (run.isHealthCheck()) {
      worker.check = null;
      worker.checkNote = "health check refused: " + answer.reason();
      worker.nextCheck = nowMillis + timers.healthCheckMillis();
    } else {
      worker.forget(run);
      runs.notStarted(run, answer.reason(), answer.retryAfterMillis());
    }
  }

  private void asked(RemoteWorker worker, Run run, RunState state, long nowMillis) {
    if (run.state != Run.State.UNSURE) {
      return;
    }
    if (state != RunState.NOT_RUNNING) {
      confirm(worker, run);
      return;
    }
    worker.forget(run);
    if (run.wasConfirmed) {
      runs.lost(run, "its worker does not know it any more", nowMillis);
    } else {
      runs.notStarted(run, "it never reached its worker", 0);
    }
  }

  /**
   * A batch was not answered.
   *
   * @param reached false: for certain not a byte of it was sent, such as connection refused
   */
  public void failed(WorkerRef ref, long number, boolean reached, String why, long nowMillis) {
    RemoteWorker worker = pool.get(ref);
    RemoteWorker.Batch batch = worker == null ? null : worker.underWay;
    if (worker == null || batch == null || batch.number() != number) {
      return;
    }
    worker.underWay = null;
    worker.retryAt = nowMillis + pause(worker.failedCalls++);
    worker.callNote = "cannot be reached: " + why;
    if (worker.check == null) {
      // Finds out whether it can be reached again.
      worker.nextCheck = Math.min(worker.nextCheck, worker.retryAt);
    }
    for (Run run : batch.starts()) {
      if (run.state != Run.State.SENT) {
        continue;
      }
      if (run.isHealthCheck()) {
        worker.check = null;
        worker.nextCheck = worker.retryAt;
      } else if (reached) {
        run.askPause = timers.askFirstMillis();
        worker.ask(run, worker.retryAt);
      } else {
        worker.forget(run);
        runs.notStarted(run, worker.callNote, timers.askFirstMillis());
      }
    }
    for (Run run : batch.asks()) {
      if (run.state == Run.State.UNSURE) {
        run.askPause = Math.min(timers.askMaxMillis(), run.askPause * 2);
        worker.ask(run, nowMillis + run.askPause);
      }
    }
    batch.ordered().keySet().forEach(worker::deliverOrders);
    review(worker, nowMillis);
    pool.dirty(worker);
  }

  private long pause(int failures) {
    return Math.min(timers.askMaxMillis(), timers.askFirstMillis() << Math.min(failures, 16));
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
      for (Run run : runs.allResumed()) {
        runs.lost(run, "no worker has confirmed it since the scheduler was restarted", nowMillis);
      }
      if (past == Past.UNKNOWN) {
        List.copyOf(pool.all()).forEach(worker -> review(worker, nowMillis));
      }
    }
    for (RemoteWorker worker = pool.due(nowMillis); worker != null; worker = pool.due(nowMillis)) {
      review(worker, nowMillis);
    }
    for (RemoteWorker worker : pool.takeDirty()) {
      send(worker, nowMillis);
      pool.arm(worker, nextFor(worker, nowMillis));
    }
    if (pool.takeChanged()) {
      out.workers(workers());
    }
    return Math.min(pool.nextDue(), takeoverOver ? Long.MAX_VALUE : takeoverEnds);
  }

  private void send(RemoteWorker worker, long nowMillis) {
    if (worker.hasSession()
        && worker.underWay == null
        && nowMillis >= worker.retryAt
        && worker.hasWork(nowMillis)) {
      out.send(worker.facts.address(), worker.take(epoch, ++batches, nowMillis));
    }
  }

  /** When something happens to that worker by itself. */
  private long nextFor(RemoteWorker worker, long nowMillis) {
    if (worker.isLost()) {
      return worker.since + SHOW_LOST_MILLIS;
    }
    long next = worker.lostAt;
    if (worker.retired) {
      return next;
    }
    if (nowMillis < worker.lastSeen + timers.unhealthyMillis()) {
      next = Math.min(next, worker.lastSeen + timers.unhealthyMillis());
    }
    if (worker.lastGood != Long.MIN_VALUE
        && nowMillis < worker.lastGood + timers.healthGapMillis()) {
      next = Math.min(next, worker.lastGood + timers.healthGapMillis());
    }
    if (worker.check != null) {
      next = Math.min(next, worker.checkedAt + timers.healthCheckTimeoutMillis());
    }
    if (worker.underWay == null) {
      if (worker.check == null) {
        next = Math.min(next, Math.max(worker.retryAt, worker.nextCheck));
      }
      if (worker.hasWork(nowMillis)) {
        next = Math.min(next, worker.retryAt);
      } else if (!worker.unsure.isEmpty()) {
        next = Math.min(next, Math.max(worker.retryAt, worker.unsure.first().askAt));
      }
    }
    return next;
  }

  /** Brings a worker's state up to date, and has it looked after by this step. */
  private void review(RemoteWorker worker, long nowMillis) {
    pool.dirty(worker);
    if (worker.isLost()) {
      if (nowMillis >= worker.since + SHOW_LOST_MILLIS) {
        pool.remove(worker);
      }
      return;
    }
    if (nowMillis >= worker.lostAt) {
      lose(worker, "nothing was heard of it for " + timers.lostMillis() + " ms", nowMillis);
      return;
    }
    if (worker.hasSession()) {
      check(worker, nowMillis);
    }
    String wrong = wrongWith(worker, nowMillis);
    boolean safe = past == Past.KNOWN || takeoverOver;
    if (worker.draining || drained.contains(worker.ref.shard())) {
      set(worker, WorkerInfo.State.DRAINING, wrong, nowMillis);
    } else if (worker.retired) {
      set(worker, WorkerInfo.State.UNHEALTHY, "replaced by another process", nowMillis);
    } else if (worker.lastGood == Long.MIN_VALUE || !safe) {
      String waits =
          safe
              ? "waits for its first health check"
              : "safe wait until "
                  + Instant.ofEpochMilli(takeoverEnds)
                  + ": tasks of an earlier scheduler may be alive";
      set(worker, WorkerInfo.State.NEW, wrong.isEmpty() ? waits : wrong, nowMillis);
    } else {
      set(
          worker,
          wrong.isEmpty() ? WorkerInfo.State.HEALTHY : WorkerInfo.State.UNHEALTHY,
          wrong,
          nowMillis);
    }
  }

  private String wrongWith(RemoteWorker worker, long nowMillis) {
    if (!worker.healthy) {
      return worker.ownNote.isEmpty() ? "says that it is not healthy" : worker.ownNote;
    }
    if (nowMillis >= worker.lastSeen + timers.unhealthyMillis()) {
      return "nothing was heard of it for " + timers.unhealthyMillis() + " ms";
    }
    if (worker.failedCalls >= FAILED_CALLS) {
      return worker.callNote;
    }
    if (!worker.checkNote.isEmpty()) {
      return worker.checkNote;
    }
    if (worker.lastGood != Long.MIN_VALUE
        && nowMillis >= worker.lastGood + timers.healthGapMillis()) {
      return "no good health check for " + timers.healthGapMillis() + " ms";
    }
    return "";
  }

  private void check(RemoteWorker worker, long nowMillis) {
    if (worker.check != null && nowMillis >= worker.checkedAt + timers.healthCheckTimeoutMillis()) {
      worker.unqueue(worker.check);
      worker.check = null;
      worker.checkNote =
          "health check did not end within " + timers.healthCheckTimeoutMillis() + " ms";
      worker.nextCheck = nowMillis;
    }
    if (worker.check == null
        && worker.underWay == null
        && nowMillis >= worker.nextCheck
        && nowMillis >= worker.retryAt) {
      Launch launch =
          HealthCheck.launch(
              worker.ref,
              new Invocation(epoch, ++checks, nowMillis),
              checkOptions,
              timers.healthCheckTimeoutMillis());
      worker.check = runs.unfollowed(launch);
      worker.checkedAt = nowMillis;
      worker.queue(worker.check);
    }
  }

  private void lose(RemoteWorker worker, String why, long nowMillis) {
    worker.endSession();
    set(worker, WorkerInfo.State.LOST, why, nowMillis);
    for (Run run : List.copyOf(worker.runs)) {
      worker.unqueue(run);
      worker.forget(run);
      if (run.state == Run.State.QUEUED) {
        runs.notStarted(run, "its worker was lost: " + why, 0);
      } else {
        runs.lost(run, why, nowMillis);
      }
    }
    if (worker.retired) {
      pool.remove(worker);
    }
  }

  private void set(RemoteWorker worker, WorkerInfo.State state, String note, long nowMillis) {
    if (worker.state != state || worker.since == 0) {
      worker.state = state;
      worker.since = nowMillis;
      pool.changed();
    }
    if (!worker.note.equals(note)) {
      pool.changed();
    }
    worker.note = note;
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
