package io.espalier.testkit.cluster;

import io.espalier.core.config.KillRequest;
import io.espalier.core.loop.LoopOptions;
import io.espalier.core.loop.LoopPorts;
import io.espalier.core.loop.PreparedChange;
import io.espalier.core.loop.SchedulerLoop;
import io.espalier.core.protocol.HealthCheck;
import io.espalier.core.protocol.Heartbeat;
import io.espalier.core.protocol.HeartbeatAnswer;
import io.espalier.core.protocol.Report;
import io.espalier.core.protocol.ReportAnswer;
import io.espalier.core.protocol.RunId;
import io.espalier.core.protocol.SchedulerOutput;
import io.espalier.core.protocol.SchedulerSide;
import io.espalier.core.protocol.Work;
import io.espalier.core.protocol.WorkAnswer;
import io.espalier.core.running.Assignment;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.Launch;
import io.espalier.core.running.Progress;
import io.espalier.core.running.TaskEnd;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.running.Usage;
import io.espalier.core.running.WorkerHold;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.Change;
import io.espalier.core.scheduling.Round;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.core.status.StatusRow;
import io.espalier.core.status.StatusText;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.json.JsonReader;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A scheduler process, restarted when it dies: production loop, core and protocol side behind a
 * clock of its own. With an election it leads only while it holds the lock.
 */
final class SimulatedScheduler extends SimulatedProcess {
  /** After all hosts of workers. */
  final int host;

  private final SimulatedClock clock;
  private @Nullable Leader leader;
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
      jump = cluster.random.nextInt(60_000) - 30_000;
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
            takeOver(Long.MAX_VALUE);
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
    Leader old = leader;
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

  boolean isLeader() {
    return isUp() && leader != null;
  }

  /** Asks for the lock again and again; the lock service knows true time. */
  private void contend() {
    long sent = localNow();
    boolean holds = !isCutOff() && cluster.acquire(this);
    later(
        2 + cluster.random.nextInt(20),
        () -> {
          Leader mine = leader;
          // By the own clock, from the moment of asking, and less for its drift.
          long until = sent + SimulatedCluster.LOCK_MILLIS * 95 / 100;
          if (mine == null && holds && localNow() < until) {
            takeOver(until);
          } else if (mine != null && holds) {
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

  private void takeOver(long validUntil) {
    long epoch = cluster.store.openEpoch();
    cluster.trace(() -> name + " takes over with epoch " + epoch);
    Leader mine = new Leader(epoch, validUntil);
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
    Leader mine = leader;
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
    Leader mine = leader;
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
    Leader mine = leader;
    if (mine == null) {
      return new ReportAnswer(report.number(), false, List.of());
    }
    ReportAnswer answer = mine.side.report(report, localNow());
    answer.settled().forEach(this::acknowledged);
    poke();
    return answer;
  }

  private void acknowledged(RunId run) {
    cluster.invariants.acknowledged(run, cluster.store.row(new TaskKey(run.job(), run.node())));
  }

  /** An operator kills a task, whichever. */
  void killSomething() {
    Leader mine = leader;
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
    Leader mine = leader;
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
      mine.loop.hold(shard, kind, "simulated");
    }
    poke();
  }

  String describe() {
    Leader mine = leader;
    if (mine == null) {
      return name + (isUp() ? " stands by; " : " is down; ");
    }
    return name
        + " leads, "
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

  /** What there is between a take-over and the end of this leadership. */
  private final class Leader implements SchedulerOutput, TaskRunner {
    private final SimulatedStore.Connection connection;
    private final SchedulerSide side;
    private final SchedulingCore core;
    private final SchedulerLoop loop;
    private final long epoch;
    private final ArrayDeque<Runnable> inbox = new ArrayDeque<>();

    /** The loop and the protocol side have threads of their own: what they tell each other. */
    private final ArrayDeque<Runnable> toSide = new ArrayDeque<>();

    private final ArrayDeque<Runnable> toLoop = new ArrayDeque<>();
    private final Set<RunId> known = new HashSet<>();
    private final List<RunId> tooEarly = new ArrayList<>();
    private final Map<WorkerRef, List<Launch>> again = new HashMap<>();
    private boolean opened;
    private long validUntil;

    Leader(long epoch, long validUntil) {
      this.epoch = epoch;
      this.validUntil = validUntil;
      connection = cluster.store.new Connection(SimulatedScheduler.this, epoch);
      side =
          new SchedulerSide(
              epoch,
              cluster.plan.timers(),
              cluster.plan.durable() ? SchedulerSide.Past.KNOWN : SchedulerSide.Past.UNKNOWN,
              this);
      if (!cluster.has(ProtocolBug.DEPOSED_LEADER_ANSWERS)) {
        side.leadershipValidUntil(validUntil);
      }
      core = new SchedulingCore(epoch);
      loop =
          new SchedulerLoop(
              core,
              Map.of("roundrobin", new InTurn()),
              new StatusText(JsonReader::parse),
              new LoopPorts(
                  this,
                  connection,
                  events -> {},
                  view -> {},
                  (message, job, node) ->
                      cluster.trace(() -> "warning: " + message + " " + job + " " + node),
                  inbox::add),
              new LoopOptions(epoch, "scheduler", 0, 1));
    }

    private void open(List<StatusRow> rows) {
      opened = true;
      if (!cluster.plan.durable()) {
        cluster.coverage.happened(Happening.SAFE_WAIT);
      }
      loop.restoreHolds(cluster.store.holds());
      loop.restoreRunning(
          rows.stream().filter(row -> row.status().main() == TaskStatus.Main.RUNNING).toList());
      Change change = core.prepare(cluster.plan.config(), cluster.plan.topology());
      loop.change(new PreparedChange(change, rows, localNow()));
      poke();
    }

    private long step() {
      long now = localNow();
      for (RunId run : tooEarly) {
        side.recorded(run, now);
      }
      tooEarly.clear();
      while (!inbox.isEmpty()) {
        inbox.remove().run();
      }
      take(toLoop);
      Duration pause = loop.runOnce(now);
      take(toSide);
      long next = side.step(now);
      if (!inbox.isEmpty() || !toSide.isEmpty() || !toLoop.isEmpty()) {
        return 0;
      }
      return Math.min(pause.toMillis(), next == Long.MAX_VALUE ? next : Math.max(0, next - now));
    }

    /** The other thread comes to it now, or later. */
    private void take(ArrayDeque<Runnable> messages) {
      while (!messages.isEmpty() && cluster.random.nextInt(16) > 0) {
        messages.remove().run();
      }
    }

    // ---- what the protocol side wants

    @Override
    public void send(String address, Work newWork) {
      Work work = cluster.has(ProtocolBug.STARTS_SENT_AGAIN) ? withAgain(newWork) : newWork;
      work.starts().stream()
          .filter(launch -> !HealthCheck.is(launch.job()))
          .forEach(launch -> cluster.invariants.dispatched(RunId.of(launch)));
      SimulatedWorker.@Nullable Jvm to = cluster.jvmAt(address);
      work.settled().forEach(SimulatedScheduler.this::acknowledged);
      int workerHost = cluster.hostOf(address);
      SimulatedProcess peer = to == null ? cluster.nobody : to;
      cluster.call(
          SimulatedScheduler.this,
          host,
          peer,
          workerHost,
          cluster.plan.timers().callMillis(),
          () -> {
            SimulatedWorker.@Nullable Jvm there = cluster.jvmAt(address);
            return there == null ? null : there.work(work);
          },
          answer -> {
            if (leader == this) {
              side.answered(work.worker(), bent(newWork, answer), localNow());
              poke();
            }
          },
          reached -> {
            if (leader == this) {
              boolean arrived = reached && !cluster.has(ProtocolBug.TIMEOUT_MEANS_NOT_STARTED);
              if (cluster.has(ProtocolBug.STARTS_SENT_AGAIN)) {
                again.put(work.worker(), work.starts());
              }
              side.failed(work.worker(), work.number(), arrived, "no answer", localNow());
              poke();
            }
          });
    }

    private Work withAgain(Work work) {
      List<Launch> unanswered = again.remove(work.worker());
      if (unanswered == null) {
        return work;
      }
      List<Launch> starts = new ArrayList<>(work.starts());
      starts.addAll(unanswered);
      return new Work(
          work.epoch(),
          work.session(),
          work.worker(),
          work.number(),
          starts,
          work.orders(),
          work.asks(),
          work.settled());
    }

    private WorkAnswer bent(Work work, WorkAnswer answer) {
      if (answer.starts().size() > work.starts().size()) {
        return new WorkAnswer(
            answer.number(),
            answer.verdict(),
            answer.epoch(),
            answer.starts().subList(0, work.starts().size()),
            answer.asked());
      }
      if (answer.verdict() != WorkAnswer.Verdict.OLD
          || !cluster.has(ProtocolBug.OLD_COPY_MEANS_REFUSED)) {
        return answer;
      }
      return new WorkAnswer(
          answer.number(),
          WorkAnswer.Verdict.DONE,
          answer.epoch(),
          work.starts().stream()
              .map(start -> WorkAnswer.StartAnswer.refused("not acted on", 0))
              .toList(),
          work.asks().stream().map(ask -> WorkAnswer.RunState.NOT_RUNNING).toList());
    }

    @Override
    public void ended(TaskEnd end) {
      cluster.trace(
          () -> name + " is told: " + RunId.of(end) + " " + end.kind() + " " + end.message());
      cluster.invariants.told(end, epoch);
      if (end.kind() == TaskEnd.Kind.LOST) {
        cluster.coverage.happened(Happening.TOLD_LOST);
      } else if (end.kind() == TaskEnd.Kind.NOT_STARTED) {
        cluster.coverage.happened(Happening.TOLD_NEVER_STARTED);
      }
      known.remove(RunId.of(end));
      if (cluster.has(ProtocolBug.ACKNOWLEDGES_BEFORE_COMMIT)) {
        tooEarly.add(RunId.of(end));
      }
      toLoop.add(() -> loop.taskEnded(end));
      poke();
    }

    @Override
    public void late(TaskEnd end) {
      cluster.trace(() -> name + " hears late: " + RunId.of(end) + " " + end.kind());
      cluster.coverage.happened(Happening.LATE_END);
    }

    @Override
    public void progress(RunId run, Progress progress) {}

    @Override
    public void usage(RunId run, Usage usage) {}

    @Override
    public void workers(List<WorkerInfo> workers) {
      cluster.trace(
          () ->
              name
                  + " sees "
                  + workers.stream().map(w -> w.ref().shard() + " " + w.state()).toList());
      toLoop.add(() -> loop.workers(workers));
      poke();
    }

    @Override
    public void warn(String message) {
      cluster.trace(() -> name + ": " + message);
    }

    // ---- what the loop wants

    @Override
    public String name() {
      return "remote";
    }

    @Override
    public String shard() {
      return "scheduler";
    }

    @Override
    public boolean outlivesScheduler() {
      return true;
    }

    @Override
    public void open(TaskListener listener) {}

    @Override
    public void resume(List<Assignment> unconfirmed) {
      if (cluster.has(ProtocolBug.NO_TAKEOVER_WAIT)) {
        side.resume(List.of(), localNow());
        for (Assignment run : unconfirmed) {
          ended(TaskEnd.lost(run.job(), run.node(), run.invocation(), "taken over", localNow()));
        }
        return;
      }
      for (Assignment run : unconfirmed) {
        cluster.coverage.happened(Happening.RUN_TAKEN_OVER);
        known.add(new RunId(run.job(), run.node(), run.invocation()));
      }
      toSide.add(() -> side.resume(unconfirmed, localNow()));
    }

    @Override
    public void start(Launch launch) {
      known.add(RunId.of(launch));
      toSide.add(() -> side.start(launch, localNow()));
    }

    @Override
    public void holds(List<WorkerHold> holds) {
      toSide.add(
          () ->
              side.holds(
                  shards(holds, WorkerHold.Kind.CORDON),
                  shards(holds, WorkerHold.Kind.DRAIN),
                  localNow()));
    }

    private static List<String> shards(List<WorkerHold> holds, WorkerHold.Kind kind) {
      return holds.stream().filter(h -> h.kind() == kind).map(WorkerHold::shard).toList();
    }

    @Override
    public boolean kill(String job, String node, Invocation invocation, KillRequest how) {
      RunId run = new RunId(job, node, invocation);
      toSide.add(() -> side.kill(run, how, localNow()));
      return known.contains(run);
    }

    @Override
    public boolean mayBeAlive(String job, String node, Invocation invocation) {
      return known.contains(new RunId(job, node, invocation));
    }

    @Override
    public void recorded(TaskEnd end) {
      if (cluster.has(ProtocolBug.DISPATCH_BEFORE_COMMIT)) {
        // Only starts are too early with this bug.
        connection.whenDurable(() -> side.recorded(RunId.of(end), localNow()));
        return;
      }
      toSide.add(() -> side.recorded(RunId.of(end), localNow()));
    }

    @Override
    public void close() {}
  }

  private static final class InTurn implements SchedulingPolicy {
    @Override
    public String name() {
      return "roundrobin";
    }

    @Override
    public void schedule(Round round) {
      while (!round.isOver()) {
        round.placeOne(round.nextInTurn());
      }
    }
  }

  /** A worker as calls name it, for traces. */
  static String nameOf(WorkerRef ref) {
    return ref.shard() + "." + ref.instance();
  }
}
