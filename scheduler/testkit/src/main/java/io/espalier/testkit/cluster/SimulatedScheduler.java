package io.espalier.testkit.cluster;

import io.espalier.core.api.Command;
import io.espalier.core.protocol.Heartbeat;
import io.espalier.core.protocol.HeartbeatResponse;
import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.core.protocol.Report;
import io.espalier.core.protocol.ReportResponse;
import io.espalier.core.protocol.RunId;
import io.espalier.core.protocol.SchedulerProtocol.Past;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.store.StatusRow;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A scheduler process, restarted when it dies: production loop, core and protocol side behind a
 * clock of its own. With an election it leads only while it holds the lock.
 */
final class SimulatedScheduler extends SimulatedProcess {
  /** Numbered after all worker hosts. */
  final int host;

  private final SimulatedClock clock;
  private @Nullable SimulatedLeader leader;
  private long jump;
  private boolean diesInTransaction;
  private boolean poked;
  private long wake;
  private final int number;
  private long asleepSoFar;
  private long asleepUntil;
  private long suspendInTurn;
  private long bootedAt;

  /** What its data directory knows of the store. */
  private final Mark mark = new Mark();

  /** What a data directory, or the group that elects, knows of a store. */
  static final class Mark {
    /** The highest epoch seen. */
    private long epoch;

    /**
     * The store was set back: written before the epoch is raised, deleted once the safe wait is
     * over.
     */
    private boolean setBack;

    private void add(long seen, boolean isSetBack) {
      epoch = Math.max(epoch, seen);
      setBack |= isSetBack;
    }
  }

  SimulatedScheduler(
      SimulatedCluster cluster, String name, int number, int host, SimulatedClock clock) {
    super(cluster, name);
    this.number = number;
    this.host = host;
    this.clock = clock;
  }

  /** Starts the process. */
  void boot() {
    if (isUp()) {
      return;
    }
    if (isAsleep()) {
      cluster.timeline.at(asleepUntil + 1, this::boot);
      return;
    }
    begin();
    bootedAt = proofNow();
    suspendInTurn = 0;
    diesInTransaction = false;
    if (cluster.random.nextInt(4) == 0) {
      // A process reads the wall clock once, at its start.
      jump = cluster.random.nextInt(60_000) - 30_000L;
      cluster.coverage.happened(SimulationEvent.SCHEDULER_CLOCK_JUMPED);
    }
    poked = false;
    wake = 0;
    if (cluster.plan.schedulers() > 1) {
      contend();
    } else {
      reachStore();
    }
  }

  private void reachStore() {
    later(
        5 + cluster.random.nextInt(200),
        () -> {
          if (isCutOff()) {
            reachStore();
          } else {
            takeOver(0, Long.MAX_VALUE);
          }
        });
  }

  /** Kills the process at the worst moment: while its next transaction is under way. */
  void dieInTransaction() {
    diesInTransaction = true;
  }

  /** A transaction is under way, for at least a millisecond. */
  void transacts() {
    if (diesInTransaction) {
      diesInTransaction = false;
      cluster.coverage.happened(SimulationEvent.SCHEDULER_KILLED);
      cluster.timeline.after(0, () -> die("killed in a transaction"));
    }
  }

  void die(String why) {
    if (!isUp()) {
      return;
    }
    cluster.trace(() -> name + " ends: " + why);
    crash();
    SimulatedLeader old = leader;
    leader = null;
    if (old != null) {
      old.connection.end();
    }
    cluster.timeline.after(200 + cluster.random.nextInt(5_000), this::boot);
  }

  /** Returns the time of its timers' clock, which stops while the host is suspended. */
  long localNow() {
    return clock.local(cluster.now() - asleepSoFar) + jump;
  }

  /** Returns the time of its proofs' clock, which counts suspension. */
  long proofNow() {
    return clock.local(cluster.now());
  }

  boolean isAsleep() {
    return cluster.now() < asleepUntil;
  }

  boolean isLeading() {
    return leader != null;
  }

  /** Returns whether this process started after that instant and so does not know of it. */
  boolean isNewSince(long proofTime) {
    return proofTime < bootedAt;
  }

  /** Suspends its host. */
  void suspend(long millis) {
    if (isUp() && !isAsleep()) {
      cluster.trace(() -> name + " is suspended for " + millis);
      cluster.coverage.happened(SimulationEvent.SCHEDULER_SUSPENDED);
      asleepUntil = cluster.now() + millis;
      asleepSoFar += millis;
      stop(millis);
    }
  }

  /** Suspends its host at the worst moment: between two messages of one turn. */
  void suspendInTurn(long millis) {
    suspendInTurn = millis;
  }

  /**
   * Marks the gap between two messages of a turn.
   *
   * @return true if the host was suspended just now
   */
  boolean suspendedInTurn() {
    long millis = suspendInTurn;
    if (millis == 0) {
      return false;
    }
    suspendInTurn = 0;
    cluster.coverage.happened(SimulationEvent.SCHEDULER_SUSPENDED_IN_TURN);
    suspend(millis);
    // Inputs that arrived meanwhile are handled before the turn continues.
    poked = true;
    cluster.timeline.at(
        asleepUntil,
        () -> {
          poked = false;
          poke();
        });
    return true;
  }

  /**
   * Returns the timers it was started with, extended to wait for the leases of the previous leader.
   */
  ProtocolTimers timers(long earlierLeaseMillis) {
    ProtocolTimers own = cluster.plan.timers(number);
    if (earlierLeaseMillis > own.takeoverMillis()) {
      cluster.coverage.happened(SimulationEvent.OTHER_TIMERS_FOLLOWED);
    }
    return cluster.has(ProtocolBug.OWN_LEASE_OUTWAITED) ? own : own.outwaiting(earlierLeaseMillis);
  }

  /** A worker knows a later epoch than that of this leadership. */
  void heardOf(long newer, long own) {
    if (cluster.store.epoch() <= own) {
      mark.add(newer, false);
      cluster.groupMark().add(newer, false);
    }
    cluster.timeline.after(0, () -> die("a worker has heard of epoch " + newer));
  }

  /** No task of an earlier leadership than this one can be alive any more. */
  void safe(long epoch) {
    mark.setBack = false;
    if (cluster.groupMark().epoch <= epoch) {
      cluster.groupMark().setBack = false;
    }
  }

  /** The data directory is lost, with what it knows of the store. */
  void forgetStore() {
    mark.epoch = 0;
    mark.setBack = false;
    cluster.groupMark().epoch = 0;
    cluster.groupMark().setBack = false;
  }

  /** Returns whether it is cut off from the lock service and the store. */
  boolean isCutOff() {
    return cluster.network.isCut(host, host);
  }

  boolean isLedBy(SimulatedLeader which) {
    return leader == which;
  }

  /** Requests the lock repeatedly; the lock service knows true time. */
  private void contend() {
    long sent = proofNow();
    long session = isCutOff() ? 0 : cluster.acquire(this);
    later(
        2 + cluster.random.nextInt(20),
        () -> {
          SimulatedLeader mine = leader;
          // By the own clock, from the moment of the request, less an allowance for its drift.
          long until = sent + SimulatedCluster.LOCK_MILLIS * 95 / 100;
          if (mine == null && session != 0 && proofNow() < until) {
            takeOver(session, until);
          } else if (mine != null && session != 0 && session != mine.session && !neverEnds()) {
            // Another may have led in between, so this one is an ordinary candidate.
            cluster.coverage.happened(SimulationEvent.LEADERSHIP_INTERRUPTED);
            noticed("it has the lock again, and had lost it");
            return;
          } else if (mine != null && session != 0) {
            mine.validUntil = until;
          } else if (mine != null && proofNow() > mine.validUntil && !neverEnds()) {
            cluster.coverage.happened(SimulationEvent.LEADERSHIP_RAN_OUT);
            noticed("its leadership has run out");
            return;
          }
          later(SimulatedCluster.LOCK_MILLIS / 5, this::contend);
        });
  }

  /**
   * Ends the leadership a moment later: this runs on another thread than the one that answers
   * workers.
   */
  private void noticed(String why) {
    later(1 + cluster.random.nextInt(100), () -> die(why));
  }

  /** A known bug: it continues to lead without proof. */
  boolean neverEnds() {
    return cluster.has(ProtocolBug.DEPOSED_LEADER_ANSWERS)
        || (cluster.plan.owned() && cluster.has(ProtocolBug.OWNER_UNPROVED));
  }

  private void takeOver(long session, long validUntil) {
    ProtocolTimers own = cluster.plan.timers(number);
    Mark group = cluster.groupMark();
    mark.add(group.epoch, group.setBack);
    if (cluster.store.epoch() < mark.epoch && !cluster.has(ProtocolBug.SET_BACK_UNNOTICED)) {
      mark.setBack = true;
      group.setBack = true;
    }
    boolean alone = cluster.has(ProtocolBug.TOKENS_FROM_THE_STORE_ALONE);
    long earlierLease = cluster.store.leaseMillis();
    long epoch = cluster.store.openEpoch(alone ? 0 : mark.epoch + 1, own.lostMillis());
    mark.add(epoch, false);
    cluster.trace(() -> name + " takes over with epoch " + epoch);
    Past past = Past.UNKNOWN;
    if (mark.setBack || !cluster.plan.durable()) {
      cluster.store.outwaits(epoch);
    } else {
      past = cluster.store.past();
    }
    SimulatedLeader mine =
        new SimulatedLeader(this, epoch, session, validUntil, timers(earlierLease), past);
    leader = mine;
    List<StatusRow> rows = cluster.store.rows();
    // Loading takes a while; the rows are from a moment after the epoch was raised.
    later(
        5 + cluster.random.nextInt(300),
        () -> {
          // Nothing was started in this epoch before.
          group.add(epoch, false);
          mine.open(rows);
        });
  }

  // ---- steps

  /** Schedules a step soon. */
  void poke() {
    if (!poked) {
      poked = true;
      later(
          1 + cluster.random.nextInt(3),
          () -> {
            poked = false;
            step();
          });
    }
  }

  private void step() {
    SimulatedLeader mine = leader;
    if (mine == null || !mine.opened) {
      return;
    }
    long pause = mine.step();
    if (pause == Long.MAX_VALUE || !isUp()) {
      return;
    }
    long at = clock.trueTime(clock.local(cluster.now()) + Math.max(1, pause));
    if (wake <= cluster.now() || at < wake) {
      wake = at;
      later(
          at - cluster.now(),
          () -> {
            if (wake == at) {
              wake = 0;
              step();
            }
          });
    }
  }

  // ---- calls of workers

  void heartbeat(Heartbeat heartbeat, Consumer<HeartbeatResponse> reply) {
    SimulatedLeader mine = leader;
    if (mine == null) {
      reply.accept(
          new HeartbeatResponse(
              heartbeat.number(),
              HeartbeatResponse.Verdict.NOT_LEADER,
              0,
              0,
              0,
              cluster.plan.timers(number),
              false,
              "standby",
              ""));
      return;
    }
    mine.toSide(() -> reply.accept(mine.heartbeat(heartbeat)));
    poke();
  }

  void report(Report report, Consumer<ReportResponse> reply) {
    SimulatedLeader mine = leader;
    if (mine == null) {
      reply.accept(new ReportResponse(report.number(), false, List.of()));
      return;
    }
    mine.toSide(
        () -> {
          ReportResponse answer = mine.side.report(report, localNow());
          answer.settled().forEach(this::acknowledged);
          reply.accept(answer);
        });
    poke();
  }

  void acknowledged(RunId run) {
    cluster.invariants.acknowledged(run, cluster.store.row(new TaskKey(run.job(), run.node())));
  }

  /** An operator kills some task. */
  void killSomething() {
    SimulatedLeader mine = leader;
    RunId run = cluster.invariants.anyLive(cluster.random);
    if (mine != null && mine.opened && run != null) {
      cluster.trace(() -> "an operator kills " + run);
      cluster.coverage.happened(SimulationEvent.TASK_KILLED);
      mine.execute(new Command.Kill(run.job(), run.node(), "", ""));
      poke();
    }
  }

  /** An operator sends a command to the leader. */
  void command(Command<?> what) {
    SimulatedLeader mine = leader;
    if (mine != null && mine.opened) {
      mine.execute(what);
      poke();
    }
  }

  /** An operator cordons or drains a shard, or releases it when {@code kind} is null. */
  void cordon(String shard, WorkerCordon.@Nullable Kind kind) {
    SimulatedLeader mine = leader;
    if (mine == null || !mine.opened) {
      return;
    }
    cluster.trace(() -> "an operator says of " + shard + ": " + (kind == null ? "release" : kind));
    if (kind == null) {
      cluster.coverage.happened(SimulationEvent.SHARD_RELEASED);
      mine.execute(new Command.Uncordon(shard, "", "simulated"));
    } else {
      cluster.coverage.happened(
          kind == WorkerCordon.Kind.DRAIN
              ? SimulationEvent.SHARD_DRAINED
              : SimulationEvent.SHARD_CORDONED);
      mine.execute(new Command.Cordon(shard, kind, "", "simulated"));
    }
    poke();
  }

  String describe() {
    SimulatedLeader mine = leader;
    if (mine == null) {
      return name + (isUp() ? " stands by; " : " is down; ");
    }
    return name
        + " leads"
        + (mine.validUntil == Long.MAX_VALUE
            ? ", "
            : " for " + (mine.validUntil - proofNow()) + " ms, ")
        + mine.loop.liveCount()
        + " live, "
        + mine.loop.progress()
        + ", unconfirmed "
        + mine.side.unconfirmed()
        + ", saturated "
        + mine.connection.isSaturated()
        + ", workers "
        + mine.side.workers()
        + "; ";
  }
}
