package io.espalier.testkit.cluster;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.protocol.Heartbeat;
import io.espalier.core.protocol.HeartbeatResponse;
import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.core.protocol.Report;
import io.espalier.core.protocol.ReportResponse;
import io.espalier.core.protocol.RunId;
import io.espalier.core.protocol.WorkBatch;
import io.espalier.core.protocol.WorkResponse;
import io.espalier.core.protocol.WorkerDescription;
import io.espalier.core.protocol.WorkerOutput;
import io.espalier.core.protocol.WorkerProtocol;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerRef;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The successive worker processes on one host; each drives a {@link WorkerProtocol}. */
final class SimulatedWorker {
  private static final int LOOK_AGAIN = 50;
  private static final int BOOT_AGAIN = 200;

  /** The most ends in a report. */
  private static final int FULL_REPORT = 500;

  private final SimulatedCluster cluster;
  final SimulatedHost host;
  final String shard;
  private Jvm jvm;

  SimulatedWorker(SimulatedCluster cluster, SimulatedHost host, String shard) {
    this.cluster = cluster;
    this.host = host;
    this.shard = shard;
    this.jvm = new Jvm(0);
  }

  String address() {
    return "host" + host.number + ":" + shard;
  }

  Jvm jvm() {
    return jvm;
  }

  /** Starts a new process on the same data directory, after killing what the previous one left. */
  void boot() {
    if (jvm.isUp()) {
      return;
    }
    if (host.isAsleep()) {
      host.later(1, this::boot);
      return;
    }
    if (cluster.store.isIgnorant()) {
      // Assumption: a worker that knows of the lost store is heard before any other.
      cluster.timeline.after(BOOT_AGAIN, this::boot);
      return;
    }
    jvm = new Jvm(1 + cluster.random.nextInt(Integer.MAX_VALUE));
    jvm.begin();
    jvm.poke();
    List<Long> before = host.vouchedFor();
    host.entered(jvm.ref.instance());
    cluster.trace(() -> jvm.name + " boots as instance " + jvm.ref.instance());
    if (cluster.has(ProtocolBug.JOURNAL_IGNORED)) {
      Jvm mine = jvm;
      jvm.later(
          1,
          () -> {
            mine.side.cleared(before, host.now());
            mine.poke();
          });
      return;
    }
    jvm.clear(before);
  }

  void crash() {
    if (jvm.isUp()) {
      cluster.trace(() -> jvm.name + " is killed");
      jvm.crash();
      host.workerDied();
    }
  }

  /** An operator starts a process again that a scheduler refuses because of its store. */
  private void startAgain(Jvm refused) {
    if (refused == jvm) {
      crash();
      boot();
    }
  }

  /** The store is lost: a process that does not know it is not to be heard before the others. */
  void storeLost() {
    if (jvm.isUp() && jvm.side.epoch() == 0) {
      crash();
      boot();
    }
  }

  void crashHost() {
    cluster.trace(() -> "host " + host.number + " loses power");
    jvm.crash();
    host.crash();
  }

  /** Returns whether it has a session, and nothing is left to do or to report. */
  boolean isIdle() {
    return !jvm.isUp()
        || (jvm.side.session() != 0 && jvm.side.running() == 0 && jvm.side.unsettled() == 0);
  }

  /** Returns whether nothing runs. */
  boolean isStopped() {
    return !jvm.isUp() || jvm.side.running() == 0;
  }

  /** One worker process. */
  final class Jvm extends SimulatedProcess implements WorkerOutput {
    final WorkerRef ref;
    final WorkerProtocol side;
    private final Map<RunId, SimulatedTask> tasks = new HashMap<>();

    /** The tasks that the processes of their batches have not begun. */
    private final Map<RunId, SimulatedBatch> unbegun = new HashMap<>();

    /** The tasks that may still be recalled: the JVM has not come to start them. */
    private final Set<RunId> unstarted = new HashSet<>();

    private final Map<Long, Long> sentAt = new HashMap<>();
    private int target;
    private boolean poked;
    private long wake;
    private long stopAtHeartbeat;
    private long stopAtWork;
    private long diesAtStart;
    private ProtocolTimers timers = cluster.plan.timers();

    Jvm(long instance) {
      super(SimulatedWorker.this.cluster, "worker " + shard);
      ref = new WorkerRef(shard, instance);
      side =
          new WorkerProtocol(
              ref,
              WorkerDescription.of("host" + host.number)
                  .address(address())
                  .capabilities(Set.of(WorkerDescription.RECALL))
                  .build(),
              this);
    }

    private void clear(List<Long> before) {
      List.copyOf(host.tasks().values()).forEach(SimulatedTask::killOnce);
      boolean blind = cluster.random.nextInt(3) == 0;
      if (blind) {
        cluster.coverage.happened(SimulationEvent.LOOK_FAILED);
      }
      boolean gone =
          host.tasks().values().stream().noneMatch(SimulatedTask::isFound)
              && !host.startsAreUnderWay();
      if (blind ? !cluster.has(ProtocolBug.UNSEEN_MEANS_GONE) : !gone) {
        later(LOOK_AGAIN, () -> clear(before));
        return;
      }
      side.cleared(before, host.now());
      poke();
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
      long pause = side.step(host.now());
      if (pause == Long.MAX_VALUE) {
        return;
      }
      long at = host.clock().trueTime(host.clock().local(cluster.now()) + Math.max(1, pause));
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

    /** The supervisor has verified that the last process of a task is dead. */
    void ended(TaskResult end) {
      RunId run = RunId.of(end);
      if (tasks.remove(run) != null || unbegun.remove(run) != null) {
        side.ended(end, host.now());
        poke();
      }
    }

    /** Handles a batch. */
    WorkResponse work(WorkBatch work) {
      WorkBatch seen = work;
      if (cluster.has(ProtocolBug.SESSION_IGNORED)) {
        seen =
            BuggyMessages.addressed(
                work, tasks.keySet(), side.epoch(), side.session(), work.number());
      } else if (cluster.has(ProtocolBug.EPOCH_IGNORED)) {
        seen =
            BuggyMessages.addressed(
                work, tasks.keySet(), side.epoch(), work.session(), work.number());
      } else if (cluster.has(ProtocolBug.NO_FENCE)) {
        seen =
            BuggyMessages.addressed(
                work,
                tasks.keySet(),
                work.epoch(),
                work.session(),
                Long.MAX_VALUE / 2 + cluster.next());
      }
      WorkResponse answer = side.work(seen, host.now());
      count(answer);
      poke();
      if (stopNow(stopAtWork)) {
        cluster.coverage.happened(SimulationEvent.WORKER_STOPPED_AFTER_WORK);
      }
      stopAtWork = 0;
      return new WorkResponse(
          work.number(), answer.verdict(), answer.epoch(), answer.starts(), answer.asked());
    }

    private void count(WorkResponse answer) {
      switch (answer.verdict()) {
        case STALE -> cluster.coverage.happened(SimulationEvent.STALE_BATCH_REFUSED);
        case OLD -> cluster.coverage.happened(SimulationEvent.OLD_BATCH_REFUSED);
        case DONE -> {
          if (answer.starts().stream().anyMatch(start -> !start.accepted())) {
            cluster.coverage.happened(SimulationEvent.START_REFUSED);
          }
          if (answer.asked().contains(WorkResponse.RunState.NOT_RUNNING)) {
            cluster.coverage.happened(SimulationEvent.FOUND_NOT_RUNNING);
          }
        }
      }
    }

    // ---- output

    @Override
    public void send(Heartbeat sent) {
      Heartbeat heartbeat = bent(sent);
      sentAt.put(heartbeat.number(), cluster.now());
      SimulatedScheduler to = cluster.scheduler(target);
      cluster.call(
          this,
          host.number,
          to,
          to.host,
          timers.callMillis(),
          reply -> to.heartbeat(heartbeat, reply),
          (HeartbeatResponse answer) -> {
            HeartbeatResponse heard = bent(answer);
            if (heard.verdict() != HeartbeatResponse.Verdict.ACCEPTED) {
              cluster.trace(() -> name + " hears " + heard.verdict() + " " + heard.message());
            }
            count(heard);
            if (heard.verdict() == HeartbeatResponse.Verdict.REFUSED
                && !sent.storeId().isEmpty()
                && !sent.storeId().equals(heard.storeId())) {
              cluster.timeline.after(cluster.random.nextInt(3_000), () -> startAgain(this));
            }
            if (heard.verdict() == HeartbeatResponse.Verdict.NOT_LEADER) {
              target++;
            }
            side.heartbeatAnswered(heard, host.now());
            poke();
          },
          reached -> {
            if (!cluster.has(ProtocolBug.ONE_SCHEDULER_TRIED)) {
              target++;
            }
            side.heartbeatFailed(heartbeat.number(), host.now());
            poke();
          });
      if (stopNow(stopAtHeartbeat)) {
        cluster.coverage.happened(SimulationEvent.WORKER_STOPPED_AFTER_HEARTBEAT);
        if (cluster.random.nextBoolean()) {
          // The answer waits for the worker, and is the last message that it receives for a long
          // time.
          cluster.timeline.after(stopAtHeartbeat, () -> cluster.cutOff(host.number));
        }
      }
      stopAtHeartbeat = 0;
    }

    private void count(HeartbeatResponse answer) {
      switch (answer.verdict()) {
        case REGISTER_AGAIN -> cluster.coverage.happened(SimulationEvent.REGISTERED_AGAIN);
        case STOP_ALL -> cluster.coverage.happened(SimulationEvent.STOPPED_BY_SCHEDULER);
        case REFUSED -> cluster.coverage.happened(SimulationEvent.REGISTRATION_REFUSED);
        default -> {}
      }
    }

    /** Stops the process at the worst moment: with a heartbeat or a start under way. */
    void stopAtNext(boolean heartbeat, long millis) {
      stopAtHeartbeat = heartbeat ? millis : stopAtHeartbeat;
      stopAtWork = heartbeat ? stopAtWork : millis;
    }

    /** Kills the process at the worst moment: with a start under way. */
    void dieAtNextStart(long bootsAfter) {
      diesAtStart = bootsAfter;
    }

    private boolean stopNow(long millis) {
      if (millis > 0) {
        cluster.trace(() -> name + " is stopped for " + millis);
        stop(millis);
      }
      return millis > 0;
    }

    private Heartbeat bent(Heartbeat heartbeat) {
      if (heartbeat.session() != 0 || !cluster.has(ProtocolBug.REPLACED_UNVERIFIED)) {
        return heartbeat;
      }
      List<Long> cleared = new ArrayList<>(heartbeat.cleared());
      cleared.addAll(cluster.instancesElsewhere(SimulatedWorker.this));
      return BuggyMessages.clearing(heartbeat, cleared);
    }

    private HeartbeatResponse bent(HeartbeatResponse answer) {
      long more = 0;
      if (cluster.has(ProtocolBug.LEASE_FROM_ANSWER)) {
        Long sent = sentAt.get(answer.number());
        more = sent == null ? 0 : cluster.now() - sent;
      } else if (cluster.has(ProtocolBug.LEASE_LONGER_THAN_WAIT)) {
        more = cluster.plan.timers().lostMillis();
      }
      sentAt.remove(answer.number());
      if (more == 0) {
        return answer;
      }
      return BuggyMessages.withLongerLease(answer, more);
    }

    @Override
    public void send(Report report) {
      SimulatedScheduler to = cluster.scheduler(target);
      report.ends().forEach(cluster.invariants::reported);
      if (report.ends().size() >= FULL_REPORT) {
        cluster.coverage.happened(SimulationEvent.REPORT_FULL);
      }
      cluster.call(
          this,
          host.number,
          to,
          to.host,
          timers.callMillis(),
          reply -> to.report(report, reply),
          (ReportResponse answer) -> {
            side.reportAnswered(answer, host.now());
            poke();
          },
          reached -> {
            side.reportFailed(report.number(), host.now());
            poke();
          });
    }

    @Override
    public void start(LaunchSpec launch) {
      start(
          List.of(launch),
          () -> {
            SimulatedTask task = new SimulatedTask(cluster, host, this, launch, null);
            began(task);
            return task;
          });
    }

    @Override
    public void startBatch(List<LaunchSpec> members) {
      cluster.coverage.happened(SimulationEvent.BATCH_STARTED);
      cluster.trace(() -> name + " has a batch of " + members.stream().map(RunId::of).toList());
      SimulatedBatch batch = new SimulatedBatch(cluster, host, this, members);
      members.forEach(launch -> unbegun.put(RunId.of(launch), batch));
      start(members, () -> Objects.requireNonNull(batch.begin()));
    }

    private void start(List<LaunchSpec> launches, Supplier<SimulatedTask> process) {
      launches.forEach(launch -> unstarted.add(RunId.of(launch)));
      boolean isSlow = cluster.isBraked() && cluster.random.nextInt(4) == 0;
      // It takes a while until there is a process, and the JVM may be stopped in between.
      later(
          1 + cluster.random.nextInt(isSlow ? 2_000 : 10),
          () -> {
            List<LaunchSpec> begin =
                launches.stream().filter(launch -> unstarted.remove(RunId.of(launch))).toList();
            if (begin.isEmpty()) {
              return;
            }
            if (host.lets()) {
              begin.forEach(launch -> cluster.invariants.begins(RunId.of(launch)));
              // From here on the JVM is not needed: the child executes its program.
              host.startUnderWay(process);
              if (diesAtStart > 0) {
                long boots = diesAtStart;
                diesAtStart = 0;
                cluster.timeline.after(0, SimulatedWorker.this::crash);
                cluster.timeline.after(boots, SimulatedWorker.this::boot);
              }
              return;
            }
            cluster.coverage.happened(SimulationEvent.GUARD_REFUSED_START);
            for (LaunchSpec launch : begin) {
              boolean isWithdrawn = launches.size() > 1 && unbegun.remove(RunId.of(launch)) == null;
              if (!isWithdrawn) {
                side.ended(
                    TaskResult.notStarted(
                        launch.job(),
                        launch.node(),
                        launch.invocation(),
                        "the guard forbids it",
                        0),
                    host.now());
              }
            }
            poke();
          });
    }

    /** A process begins a task. */
    void began(SimulatedTask task) {
      unbegun.remove(task.run);
      tasks.put(task.run, task);
    }

    @Override
    public void kill(RunId run, KillRequest how) {
      SimulatedTask task = tasks.get(run);
      SimulatedBatch batch = unbegun.get(run);
      if (task != null) {
        task.stop(how);
      } else if (batch != null && batch.withdraw(run)) {
        cluster.coverage.happened(SimulationEvent.BATCH_TASK_WITHDRAWN);
        unstarted.remove(run);
        TaskResult end =
            TaskResult.of(run.job(), run.node(), run.invocation(), TaskResult.Kind.KILLED);
        later(1 + cluster.random.nextInt(20), () -> ended(end));
      } else {
        later(20, () -> killLate(run, how));
      }
    }

    private void killLate(RunId run, KillRequest how) {
      SimulatedTask task = tasks.get(run);
      if (task != null) {
        task.stop(how);
      }
    }

    @Override
    public void recall(RunId run) {
      if (!unstarted.contains(run)) {
        return;
      }
      cluster.coverage.happened(SimulationEvent.START_RECALLED);
      if (!cluster.has(ProtocolBug.RECALLED_BEGINS)) {
        unstarted.remove(run);
        SimulatedBatch batch = unbegun.remove(run);
        if (batch != null) {
          batch.recall(run);
        }
      }
      later(
          1 + cluster.random.nextInt(20),
          () -> {
            side.ended(
                TaskResult.notStarted(
                    run.job(), run.node(), run.invocation(), "it was recalled", 0),
                host.now());
            poke();
          });
    }

    @Override
    public void extend(RunId run, long millis) {}

    @Override
    public void stopAll(long killWaitMillis) {
      List<SimulatedTask> all = new ArrayList<>(host.tasks().values());
      cluster.trace(() -> name + " stops " + host.tasks().keySet());
      cluster.coverage.happened(SimulationEvent.LEASE_RAN_OUT);
      all.forEach(SimulatedTask::term);
      later(
          killWaitMillis,
          () -> {
            all.forEach(SimulatedTask::kill);
            if (side.running() > 0 && side.session() == 0) {
              // Kill tasks that were just about to start when the stop began.
              List.copyOf(host.tasks().values()).forEach(SimulatedTask::kill);
            }
          });
    }

    @Override
    public void guard(io.espalier.core.protocol.ClockReading since, long killAfterMillis) {
      host.guard(since, killAfterMillis);
    }

    @Override
    public void drained() {
      cluster.trace(() -> name + " is drained and ends");
      cluster.coverage.happened(SimulationEvent.WORKER_DRAINED);
      crash();
      host.workerDied();
      cluster.timeline.after(500 + cluster.random.nextInt(3_000), SimulatedWorker.this::boot);
    }

    @Override
    public void warn(String message) {
      cluster.trace(() -> name + ": " + message);
    }
  }

  @Nullable Jvm upJvm() {
    return jvm.isUp() ? jvm : null;
  }
}
