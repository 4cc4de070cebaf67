package io.espalier.testkit.cluster;

import io.espalier.core.protocol.Heartbeat;
import io.espalier.core.protocol.HeartbeatAnswer;
import io.espalier.core.protocol.Report;
import io.espalier.core.protocol.ReportAnswer;
import io.espalier.core.protocol.RunId;
import io.espalier.core.running.WorkerHold;
import io.espalier.core.status.StatusRow;
import io.espalier.core.status.TaskKey;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A scheduler process, restarted when it dies: production loop, core and protocol side behind a
 * clock of its own. With an election it leads only while it holds the lock.
 */
final class SimulatedScheduler extends SimulatedProcess {
  /** After all hosts of workers. */
  final int host;

  private final SimulatedClock clock;
  private @Nullable SimulatedLeader leader;
  private long jump;
  private boolean diesInTransaction;
  private boolean poked;
  private long wake;

  SimulatedScheduler(SimulatedCluster cluster, String name, int host, SimulatedClock clock) {
    super(cluster, name);
    this.host = host;
    this.clock = clock;
  }

  /** Starts the process. */
  void boot() {
    if (isUp()) {
      return;
    }
    begin();
    diesInTransaction = false;
    if (cluster.random.nextInt(4) == 0) {
      // A process takes the wall clock once, at its start.
      jump = cluster.random.nextInt(60_000) - 30_000L;
      cluster.coverage.happened(Happening.SCHEDULER_CLOCK_JUMPED);
    }
    poked = false;
    wake = 0;
    if (cluster.plan.elected()) {
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

  /** Has it killed at the worst of moments: with its next transaction under way. */
  void dieInTransaction() {
    diesInTransaction = true;
  }

  /** A transaction is under way, for a millisecond at least. */
  void transacts() {
    if (diesInTransaction) {
      diesInTransaction = false;
      cluster.coverage.happened(Happening.SCHEDULER_KILLED);
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

  long localNow() {
    return clock.local(cluster.now()) + jump;
  }

  /** From the lock service and the store. */
  boolean isCutOff() {
    return cluster.network.isCut(host, host);
  }

  boolean isLedBy(SimulatedLeader which) {
    return leader == which;
  }

  /** Asks for the lock again and again; the lock service knows true time. */
  private void contend() {
    long sent = localNow();
    long session = isCutOff() ? 0 : cluster.acquire(this);
    later(
        2 + cluster.random.nextInt(20),
        () -> {
          SimulatedLeader mine = leader;
          // By the own clock, from the moment of asking, and less for its drift.
          long until = sent + SimulatedCluster.LOCK_MILLIS * 95 / 100;
          if (mine == null && session != 0 && localNow() < until) {
            takeOver(session, until);
          } else if (mine != null
              && session != 0
              && session != mine.session
              && !cluster.has(ProtocolBug.DEPOSED_LEADER_ANSWERS)) {
            // Another may have led in between: this one is a candidate like any other.
            cluster.coverage.happened(Happening.LEADERSHIP_INTERRUPTED);
            die("it has the lock again, and had lost it");
            return;
          } else if (mine != null && session != 0) {
            mine.validUntil = until;
            if (!cluster.has(ProtocolBug.DEPOSED_LEADER_ANSWERS)) {
              mine.side.leadershipValidUntil(until);
            }
          } else if (mine != null
              && localNow() > mine.validUntil
              && !cluster.has(ProtocolBug.DEPOSED_LEADER_ANSWERS)) {
            cluster.coverage.happened(Happening.LEADERSHIP_RAN_OUT);
            die("its leadership has run out");
            return;
          }
          later(SimulatedCluster.LOCK_MILLIS / 5, this::contend);
        });
  }

  private void takeOver(long session, long validUntil) {
    long epoch = cluster.store.openEpoch();
    cluster.trace(() -> name + " takes over with epoch " + epoch);
    SimulatedLeader mine = new SimulatedLeader(this, epoch, session, validUntil);
    leader = mine;
    List<StatusRow> rows = cluster.store.rows();
    // Loading takes a while; the rows are those of a moment after the epoch was raised.
    later(5 + cluster.random.nextInt(300), () -> mine.open(rows));
  }

  // ---- steps

  /** Has a step done soon. */
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

  HeartbeatAnswer heartbeat(Heartbeat heartbeat) {
    SimulatedLeader mine = leader;
    if (mine == null) {
      return new HeartbeatAnswer(
          heartbeat.number(),
          HeartbeatAnswer.Verdict.NOT_LEADER,
          0,
          0,
          0,
          cluster.plan.timers(),
          false,
          "standby");
    }
    HeartbeatAnswer answer = mine.side.heartbeat(heartbeat, localNow());
    poke();
    return answer;
  }

  ReportAnswer report(Report report) {
    SimulatedLeader mine = leader;
    if (mine == null) {
      return new ReportAnswer(report.number(), false, List.of());
    }
    ReportAnswer answer = mine.side.report(report, localNow());
    answer.settled().forEach(this::acknowledged);
    poke();
    return answer;
  }

  void acknowledged(RunId run) {
    cluster.invariants.acknowledged(run, cluster.store.row(new TaskKey(run.job(), run.node())));
  }

  /** An operator kills a task, whichever. */
  void killSomething() {
    SimulatedLeader mine = leader;
    RunId run = cluster.invariants.anyLive(cluster.random);
    if (mine != null && mine.opened && run != null) {
      cluster.trace(() -> "an operator kills " + run);
      cluster.coverage.happened(Happening.TASK_KILLED);
      mine.loop.kill(run.job(), run.node());
      poke();
    }
  }

  /** An operator holds a shard, or lets it go when {@code kind} is null. */
  void hold(String shard, WorkerHold.@Nullable Kind kind) {
    SimulatedLeader mine = leader;
    if (mine == null || !mine.opened) {
      return;
    }
    cluster.trace(() -> "an operator says of " + shard + ": " + (kind == null ? "release" : kind));
    if (kind == null) {
      cluster.coverage.happened(Happening.SHARD_RELEASED);
      mine.loop.release(shard, "simulated");
    } else {
      cluster.coverage.happened(
          kind == WorkerHold.Kind.DRAIN ? Happening.SHARD_DRAINED : Happening.SHARD_CORDONED);
      mine.loop.hold(shard, kind, "", "simulated");
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
            : " for " + (mine.validUntil - localNow()) + " ms, ")
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
