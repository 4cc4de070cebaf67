package io.espalier.core.protocol;

import io.espalier.core.pace.Jitter;
import io.espalier.core.protocol.HeartbeatResponse.Verdict;
import io.espalier.core.protocol.WorkResponse.RunState;
import io.espalier.core.protocol.WorkResponse.StartAnswer;
import io.espalier.core.running.LaunchGroups;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerRef;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The worker's half of the protocol: manages its lease, decides what it may start and must stop,
 * and tracks the ends that are not yet acknowledged.
 *
 * <p><b>Use.</b> A single owner calls all methods, and {@link #step} after inputs and when it is
 * due. {@link #work} returns its response; everything else goes to the {@link WorkerOutput}.
 *
 * <p><b>Lease.</b> Once a heartbeat is accepted, the lease counts from the moment that heartbeat
 * was handed out for sending. {@link ProtocolTimers#stopMillis} before its end the worker stops all
 * its tasks, and it registers again only when the last of them is verified dead.
 *
 * <p><b>Cost.</b> The cost of an input depends on what it changes, never on the number of running
 * tasks.
 */
public final class WorkerProtocol {
  private static final int LOST_PAUSE_MILLIS = 1_000;

  private final WorkerRef self;
  private final WorkerOutput out;
  private final List<Long> cleared = new ArrayList<>();
  private final WorkerRuns running;
  private final ReportOutbox reports;

  /** Keeps the workers of one scheduler from calling it at one instant. */
  private final Jitter pauses;

  private WorkerDescription facts;
  private ProtocolTimers timers = ProtocolTimers.BALANCED;
  private Phase phase = Phase.CLEARING;
  private boolean healthy = true;
  private String note = "";
  private String refusal = "";
  private boolean drainAsked;
  private boolean drainOrdered;
  private boolean drainedTold;

  /** The store whose schedulers this process serves for its whole life; empty: none so far. */
  private String storeId = "";

  private long epoch;
  private long session;

  /** The newest batch of work handled in this session: older ones are ignored. */
  private long fence;

  /** When the newest accepted heartbeat was sent; null: there is no lease. */
  private @Nullable ClockReading leaseSince;

  private long heartbeats;
  private @Nullable Sent sent;
  private long nextHeartbeat = Long.MIN_VALUE;

  /** Whether the connection was lost while a heartbeat was on its way, so that another follows. */
  private boolean lost;

  private int failedHeartbeats;

  private enum Phase {
    /** Tasks of earlier processes may be alive. */
    CLEARING,
    /** It has no session; its tasks, if any, continue within the lease. */
    REGISTERING,
    REGISTERED,
    /** It stops its tasks and starts nothing. */
    STOPPING
  }

  /** A heartbeat that is not answered yet. */
  private record Sent(long number, ClockReading at, boolean registers) {}

  /**
   * @param self shard and random instance of this process
   */
  public WorkerProtocol(WorkerRef self, WorkerDescription facts, WorkerOutput out) {
    this.self = self;
    this.facts = facts;
    this.out = out;
    this.running = new WorkerRuns(out);
    this.pauses = new Jitter(self.instance());
    this.reports = new ReportOutbox(self, out, pauses);
  }

  /**
   * Notes that all tasks left by earlier processes on this data directory are verified dead: from
   * now on the worker may register. Must not be called while one of them cannot be verified.
   *
   * @param instances instances of those processes, from the journal; they have certainly ended
   */
  public void cleared(Collection<Long> instances, ClockReading now) {
    cleared.addAll(instances);
    if (phase == Phase.CLEARING) {
      phase = Phase.REGISTERING;
      nextHeartbeat = now.monotonicMillis();
    }
  }

  /** Updates the worker's description of itself. */
  public void facts(WorkerDescription newFacts) {
    facts = newFacts;
  }

  /**
   * Notes whether the worker can run tasks, as far as it can tell.
   *
   * @param why why not; empty when healthy
   */
  public void health(boolean isHealthy, String why) {
    healthy = isHealthy;
    note = why;
  }

  /** Stops accepting tasks; {@link WorkerOutput#drained} follows once there is nothing left. */
  public void drain(ClockReading now) {
    drainAsked = true;
    // Tell the scheduler at once, so that it sends nothing more.
    nextHeartbeat = Math.min(nextHeartbeat, now.monotonicMillis());
  }

  // ---- heartbeats

  /**
   * Notes that the scheduler may have moved: tries again at once, regardless of earlier failures.
   */
  public void schedulerMoved(ClockReading now) {
    failedHeartbeats = 0;
    nextHeartbeat = Math.min(nextHeartbeat, now.monotonicMillis());
  }

  /**
   * The connection to the scheduler has ended, and with it the way of the scheduler to this worker:
   * a heartbeat opens another one.
   */
  public void connectionLost(ClockReading now) {
    if (sent != null) {
      // Its answer may have arrived before the connection ended.
      lost = true;
    } else if (failedHeartbeats == 0) {
      heartbeatAfterLoss(now);
    }
  }

  private void heartbeatAfterLoss(ClockReading now) {
    lost = false;
    nextHeartbeat =
        Math.min(nextHeartbeat, now.monotonicMillis() + pauses.shorten(LOST_PAUSE_MILLIS, 1));
  }

  public void heartbeatAnswered(HeartbeatResponse answer, ClockReading now) {
    Sent heartbeat = sent;
    if (heartbeat == null || heartbeat.number() != answer.number()) {
      return;
    }
    if (isForeign(answer)) {
      refused(
          "the scheduler serves status store "
              + answer.storeId()
              + ", this worker has served "
              + storeId
              + "; start it again if it is to change over");
      heartbeatFailed(answer.number(), now);
      return;
    }
    if (answer.verdict() == Verdict.NOT_LEADER || answer.epoch() < epoch) {
      // A deposed leader must neither prolong the lease nor stop tasks.
      heartbeatFailed(answer.number(), now);
      return;
    }
    sent = null;
    failedHeartbeats = 0;
    if (storeId.isEmpty() && !answer.storeId().isEmpty()) {
      // Whatever the verdict: an epoch means nothing without its store.
      storeId = answer.storeId();
      reports.storeId(storeId);
    }
    if (answer.epoch() > epoch) {
      // The scheduler that gave us our session no longer leads.
      epoch = answer.epoch();
      // Another scheduler numbers its orders from 1.
      running.resetOrders();
      endSession();
    }
    nextHeartbeat =
        session == 0 && !heartbeat.registers()
            ? now.monotonicMillis()
            : heartbeat.at().monotonicMillis() + timers.heartbeatMillis();
    if (answer.verdict() != Verdict.REFUSED) {
      refusal = "";
    }
    switch (answer.verdict()) {
      case ACCEPTED -> accepted(heartbeat, answer, now);
      case REGISTER_AGAIN -> {
        endSession();
        nextHeartbeat = now.monotonicMillis();
      }
      case STOP_ALL -> {
        endSession();
        stopAll("the scheduler says: " + answer.message());
      }
      case REFUSED -> refused(answer.message());
      case NOT_LEADER -> throw new IllegalStateException("handled above");
    }
    if (lost) {
      heartbeatAfterLoss(now);
    }
  }

  /**
   * Returns true for a response from another store: its epochs cannot be compared, and its verdicts
   * are ignored.
   */
  private boolean isForeign(HeartbeatResponse answer) {
    return !storeId.isEmpty() && !answer.storeId().isEmpty() && !answer.storeId().equals(storeId);
  }

  private void refused(String why) {
    if (!why.equals(refusal)) {
      refusal = why;
      out.warn("not registered: " + refusal);
    }
  }

  private void accepted(Sent heartbeat, HeartbeatResponse answer, ClockReading now) {
    if (!answer.timers().equals(timers) && !answer.timers().problems().isEmpty()) {
      out.warn("the scheduler's timers are unfit: " + answer.timers().problems());
      return;
    }
    if (heartbeat.registers()) {
      session = answer.session();
      fence = 0;
      if (phase == Phase.REGISTERING) {
        phase = Phase.REGISTERED;
      }
      reports.sendAllAgain(now.monotonicMillis());
    } else if (answer.session() != session || session == 0) {
      return;
    }
    timers = answer.timers();
    drainOrdered = answer.drain();
    nextHeartbeat =
        heartbeat.at().monotonicMillis()
            + pauses.shorten(timers.heartbeatMillis(), Jitter.OF_PERIODS);
    leaseSince = heartbeat.at();
    out.guard(heartbeat.at(), timers.guardAfterMillis());
  }

  private void endSession() {
    session = 0;
    if (phase == Phase.REGISTERED) {
      phase = Phase.REGISTERING;
    }
  }

  /** Notes that a heartbeat got no response, whether it arrived or not. */
  public void heartbeatFailed(long number, ClockReading now) {
    if (sent == null || sent.number() != number) {
      return;
    }
    sent = null;
    // A worker without a session can only wait; short pauses let a restarted scheduler find it
    // soon.
    int doublings = Math.min(failedHeartbeats++, session == 0 ? 2 : 16);
    long most = Math.min(timers.heartbeatMillis(), timers.reportFirstMillis() << doublings);
    nextHeartbeat = now.monotonicMillis() + pauses.shorten(most, Jitter.OF_RETRIES);
  }

  private void sendHeartbeat(ClockReading now) {
    boolean registers = session == 0;
    heartbeats++;
    sent = new Sent(heartbeats, now, registers);
    lost = false;
    nextHeartbeat = now.monotonicMillis() + timers.heartbeatMillis();
    out.send(
        new Heartbeat(
            self,
            heartbeats,
            epoch,
            session,
            facts,
            drainAsked,
            healthy,
            phase == Phase.STOPPING ? "stops its tasks" : note,
            running.count(),
            reports.unsettled(),
            registers ? running.all() : List.of(),
            registers ? cleared : List.of(),
            storeId));
  }

  // ---- work

  /** Handles a batch, or states why it is ignored. */
  public WorkResponse work(WorkBatch work, ClockReading now) {
    if (!work.worker().equals(self)
        || work.epoch() != epoch
        || session == 0
        || work.session() != session) {
      return WorkResponse.not(work.number(), WorkResponse.Verdict.STALE, epoch);
    }
    if (work.number() <= fence) {
      return WorkResponse.not(work.number(), WorkResponse.Verdict.OLD, epoch);
    }
    fence = work.number();
    for (RunId run : work.settled()) {
      if (running.has(run)) {
        running.letGo(run);
      } else {
        reports.settled(run);
      }
    }
    List<StartAnswer> starts = new ArrayList<>(work.starts().size());
    LaunchGroups groups = new LaunchGroups(out::start, out::startBatch);
    for (LaunchSpec launch : work.starts()) {
      starts.add(start(launch, groups, now));
    }
    groups.end();
    for (TaskCommand order : work.orders()) {
      running.carryOut(order);
    }
    List<RunState> asked = new ArrayList<>(work.asks().size());
    for (RunId run : work.asks()) {
      asked.add(
          running.has(run)
              ? RunState.RUNNING
              : reports.holds(run) ? RunState.ENDED : RunState.NOT_RUNNING);
    }
    return new WorkResponse(work.number(), WorkResponse.Verdict.DONE, epoch, starts, asked);
  }

  private StartAnswer start(LaunchSpec launch, LaunchGroups groups, ClockReading now) {
    boolean check = HealthCheck.is(launch.job());
    if (phase != Phase.REGISTERED || leaseAge(now) >= timers.stopAfterMillis()) {
      return StartAnswer.refused("the worker's lease is about to end", WorkerRuns.REFUSED_MILLIS);
    }
    if (!check && isDraining()) {
      return StartAnswer.refused("the worker is draining", WorkerRuns.BUSY_MILLIS);
    }
    if (!check && !healthy) {
      return StartAnswer.refused("the worker is not healthy: " + note, WorkerRuns.BUSY_MILLIS);
    }
    StartAnswer answer = running.add(launch, facts.maxTasks());
    if (answer.accepted()) {
      groups.add(launch);
    }
    return answer;
  }

  // ---- what tasks do

  /**
   * Notes that a task has ended and all its processes are verified dead. Exactly once per start.
   */
  public void ended(TaskResult end, ClockReading now) {
    RunId run = RunId.of(end);
    if (!running.ended(run)) {
      out.warn("an end of a task that does not run here: " + run);
      return;
    }
    boolean byUs =
        phase == Phase.STOPPING && end.kind() == TaskResult.Kind.KILLED && end.stopReason() == null;
    reports.ended(
        run, byUs ? end.withStopReason(StopReason.LEASE_LOST) : end, now.monotonicMillis());
  }

  /** Notes the progress of a task; the newest replaces older ones. None is known after its end. */
  public void progress(RunId run, Progress progress) {
    if (running.has(run)) {
      reports.progress(run, progress);
    }
  }

  /** Notes the usage of a task; the newest replaces older ones. */
  public void usage(RunId run, ResourceUsage usage) {
    reports.usage(run, usage);
  }

  public void reportAnswered(ReportResponse answer, ClockReading now) {
    reports.answered(answer, timers, now.monotonicMillis());
  }

  public void reportFailed(long number, ClockReading now) {
    reports.failed(number, timers, now.monotonicMillis());
  }

  // ---- time

  /**
   * Sends and does what is due.
   *
   * @return the longest time until the next call, in milliseconds
   */
  public long step(ClockReading now) {
    if (hasLease() && leaseAge(now) >= timers.stopAfterMillis()) {
      leaseSince = null;
      stopAll("no scheduler has answered for " + timers.stopAfterMillis() + " ms");
    }
    if (phase == Phase.STOPPING && running.isEmpty()) {
      phase = Phase.REGISTERING;
      endSession();
      nextHeartbeat = now.monotonicMillis();
    }
    boolean silent = phase == Phase.CLEARING || (phase == Phase.STOPPING && session == 0);
    if (!silent && sent == null && nextHeartbeat <= now.monotonicMillis()) {
      sendHeartbeat(now);
    }
    long nextReport = reports.step(timers, now.monotonicMillis());
    if (isDraining() && running.isEmpty() && reports.unsettled() == 0 && !drainedTold) {
      drainedTold = true;
      out.drained();
    }
    long next = nextReport;
    if (!silent && sent == null) {
      next = Math.min(next, nextHeartbeat - now.monotonicMillis());
    }
    if (hasLease()) {
      next = Math.min(next, timers.stopAfterMillis() - leaseAge(now));
    }
    return Math.max(0, next);
  }

  private boolean hasLease() {
    return leaseSince != null && phase != Phase.STOPPING;
  }

  /** The age of the lease; a worker without a lease has one too old for anything. */
  private long leaseAge(ClockReading now) {
    return leaseSince == null ? Long.MAX_VALUE : now.millisSince(leaseSince);
  }

  /**
   * Stops all tasks although the lease is valid, because nothing would kill them if this process
   * froze.
   *
   * @param why reason for the log
   */
  public void giveUp(String why) {
    if (phase != Phase.STOPPING && !running.isEmpty()) {
      stopAll(why);
    }
  }

  private void stopAll(String why) {
    phase = Phase.STOPPING;
    if (!running.isEmpty()) {
      out.warn("stops " + running.count() + " tasks: " + why);
      out.stopAll(timers.killWaitMillis());
    }
  }

  private boolean isDraining() {
    return drainAsked || drainOrdered;
  }

  /** The number of running tasks. */
  public int running() {
    return running.count();
  }

  /** The number of ends not yet acknowledged. */
  public int unsettled() {
    return reports.unsettled();
  }

  /** The session that work must name; 0: none. */
  public long session() {
    return session;
  }

  /** The newest epoch known. */
  public long epoch() {
    return epoch;
  }

  /** Why the worker gets no tasks, for the log and the status page; empty when it gets tasks. */
  public String state() {
    return switch (phase) {
      case CLEARING -> "verifies that tasks of earlier processes are dead";
      case REGISTERING -> refusal.isEmpty() ? "registers" : "not registered: " + refusal;
      case STOPPING -> "stops its tasks";
      case REGISTERED -> isDraining() ? "draining" : healthy ? "" : note;
    };
  }
}
