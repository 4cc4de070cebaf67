package io.espalier.testkit.cluster;

import io.espalier.core.api.Command;
import io.espalier.core.api.view.BrakeView;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.call.CallbackSigner;
import io.espalier.core.config.task.KillRequest;
import io.espalier.core.loop.LoopInput;
import io.espalier.core.loop.LoopOptions;
import io.espalier.core.loop.RestoredState;
import io.espalier.core.loop.SchedulerLoop;
import io.espalier.core.loop.state.LoopPorts;
import io.espalier.core.protocol.HealthCheck;
import io.espalier.core.protocol.Heartbeat;
import io.espalier.core.protocol.HeartbeatResponse;
import io.espalier.core.protocol.LeadershipTerm;
import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.core.protocol.ProvenTurn;
import io.espalier.core.protocol.RunId;
import io.espalier.core.protocol.SchedulerOutput;
import io.espalier.core.protocol.SchedulerProtocol;
import io.espalier.core.protocol.SchedulerProtocol.Past;
import io.espalier.core.protocol.WorkBatch;
import io.espalier.core.protocol.WorkResponse;
import io.espalier.core.running.Assignment;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.Round;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.core.status.StatusParser;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.StatusRow;
import io.espalier.json.JsonReader;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** One leadership of a scheduler, from take-over to end. */
final class SimulatedLeader implements SchedulerOutput, TaskRunner {
  private static final int MOST_MESSAGES = 50;

  /** The most starts in a batch. */
  private static final int FULL_BATCH = 256;

  private final SimulatedScheduler process;
  private final SimulatedCluster cluster;
  private final String name;
  final SimulatedStore.Connection connection;
  final SchedulerProtocol side;
  final SchedulerLoop loop;
  private final SchedulingCore core;
  private final long epoch;

  /** The answers of brakes that are not known as durable: starts before them may be under way. */
  private final Map<Brake.Key, CompletableFuture<BrakeView>> unanswered = new HashMap<>();

  /** The answers to the latest command on each brake that is set. */
  private final Map<Brake.Key, CompletableFuture<BrakeView>> latest = new HashMap<>();

  /** When the loop last released a brake; that need not be durable yet. */
  private final Map<Brake.Key, Long> released = new HashMap<>();

  private final ArrayDeque<LongConsumer> deferred = new ArrayDeque<>();
  private final ArrayDeque<LoopInput> inputs = new ArrayDeque<>();

  /**
   * The loop and the protocol side have threads of their own and exchange messages in these queues.
   */
  private final ArrayDeque<Runnable> toSide = new ArrayDeque<>();

  private final ArrayDeque<LoopInput> toLoop = new ArrayDeque<>();
  private final Set<RunId> known = new HashSet<>();
  private final List<RunId> tooEarly = new ArrayList<>();
  private final Map<WorkerRef, List<LaunchSpec>> again = new HashMap<>();
  boolean opened;
  private final ProtocolTimers timers;
  private final Past past;
  private final ProvenTurn<Long> turn;
  private final @Nullable SimulatedPoller poller;
  private boolean outwaited;
  private boolean waitsSafely;
  private boolean inTurn;

  /** The session of the lock. */
  final long session;

  long validUntil;

  SimulatedLeader(
      SimulatedScheduler process,
      long epoch,
      long session,
      long validUntil,
      ProtocolTimers timers,
      Past past) {
    this.process = process;
    this.cluster = process.cluster;
    this.name = process.name;
    this.epoch = epoch;
    this.session = session;
    this.validUntil = validUntil;
    this.timers = timers;
    this.past = past;
    connection = cluster.store.new Connection(process, epoch);
    side =
        new SchedulerProtocol(
            new LeadershipTerm(epoch, cluster.store.id(), this::leads), timers, past, this);
    poller =
        cluster.probe == null ? null : new SimulatedPoller(process, cluster.probe, inputs::add);
    turn = new ProvenTurn<>(new Side(), toSide, MOST_MESSAGES);
    core = new SchedulingCore(epoch);
    loop =
        new SchedulerLoop(
            core,
            Map.of("roundrobin", new InTurn()),
            new StatusParser(JsonReader::parse),
            new LoopPorts(
                this,
                connection,
                events -> {},
                this::published,
                (message, job, node) ->
                    cluster.trace(() -> "warning: " + message + " " + job + " " + node),
                deferred::add,
                LoopPorts.Notifications.NONE),
            new LoopOptions(epoch, "scheduler", "scheduler", 0, 1, new CallbackSigner("key")));
  }

  private boolean leads() {
    return validUntil == Long.MAX_VALUE || process.neverEnds() || process.proofNow() < validUntil;
  }

  /** Answers a heartbeat; the time until its worker is lost counts from now. */
  HeartbeatResponse heartbeat(Heartbeat heartbeat) {
    long early = cluster.has(ProtocolBug.LEASE_FORGOTTEN_EARLY) ? timers.marginMillis() : 0;
    HeartbeatResponse answer = side.heartbeat(heartbeat, process.localNow() - early);
    if (past == Past.NEW && cluster.has(ProtocolBug.EARLIER_SCHEDULER_IGNORED)) {
      side.endSafeWait(process.localNow());
    }
    return answer;
  }

  /** Posts a message to the thread that owns the protocol side. */
  void toSide(Runnable message) {
    toSide.add(message);
  }

  /** The two steps that this thread alternates between. */
  private final class Side implements ProvenTurn.Half<Long> {
    @Override
    public Long now() {
      return process.localNow();
    }

    @Override
    public void handled() {}

    @Override
    public long step() {
      return side.step(turn.now());
    }

    @Override
    public void failed(RuntimeException mistake) {
      throw mistake;
    }
  }

  /** Continues a turn; another thread may act before its end. */
  private OptionalLong goOn() {
    OptionalLong done = OptionalLong.empty();
    while (done.isEmpty() && cluster.random.nextInt(16) > 0) {
      if (!inTurn) {
        inTurn = true;
      } else if (process.suspendedInTurn()) {
        return done;
      }
      done = turn.advance();
      inTurn = done.isEmpty();
    }
    return done;
  }

  void open(List<StatusRow> rows) {
    opened = true;
    cluster.invariants.mayBegin(key -> true);
    if (past == Past.UNKNOWN) {
      cluster.coverage.happened(SimulationEvent.SAFE_WAIT);
    }
    loop.restore(
        new RestoredState(
            cluster.store.pauses(),
            cluster.store.jobStates(),
            cluster.store.limits(),
            cluster.has(ProtocolBug.BRAKES_FORGOTTEN) ? List.of() : cluster.store.brakes(),
            cluster.store.rollouts(),
            cluster.store.quarantines(),
            List.of(),
            List.of(),
            cluster.store.cordons(),
            rows.stream().filter(row -> row.status().main() == TaskStatus.Main.RUNNING).toList(),
            List.of()));
    new SimulatedChanges(process, core, inputs::add, epoch).look();
    if (poller != null) {
      poller.ask();
    }
    process.poke();
  }

  private void published(SchedulerView view) {
    cluster.invariants.shown(
        cluster.has(ProtocolBug.SHOWN_BEFORE_DURABLE) ? loop.progress() : view.progress());
  }

  long step() {
    long now = process.localNow();
    for (RunId run : tooEarly) {
      side.recorded(run, now);
    }
    tooEarly.clear();
    while (!deferred.isEmpty()) {
      inputs.add(new LoopInput.Deferred(deferred.remove()));
    }
    takeSome();
    noteReleases(now);
    Duration pause = loop.runOnce(now, inputs);
    OptionalLong done = goOn();
    recordSafeWait();
    if (!outwaited && side.hasOutwaited()) {
      outwaited = true;
      process.safe(epoch);
      cluster.store.outwaited(epoch, timers.lostMillis());
    }
    if (done.isEmpty() || !deferred.isEmpty() || !toSide.isEmpty() || !toLoop.isEmpty()) {
      return 0;
    }
    long next = done.getAsLong();
    return Math.min(pause.toMillis(), next == Long.MAX_VALUE ? next : Math.max(0, next - now));
  }

  /** Records, as late as a scheduler may, that a worker has shown an earlier scheduler. */
  private void recordSafeWait() {
    if (past == Past.NEW && !waitsSafely && side.safeWaitEndsMillis() != 0) {
      waitsSafely = true;
      outwaited = false;
      cluster.coverage.happened(SimulationEvent.EARLIER_SCHEDULER_SHOWN);
      cluster.trace(() -> name + " waits safely: a worker has served an earlier scheduler");
      process.later(cluster.random.nextInt(1_000), () -> cluster.store.outwaits(epoch));
    }
  }

  /** A brake that is set after a release in the same turn is in force; one from before is not. */
  private void noteReleases(long now) {
    for (LoopInput input : inputs) {
      if (input instanceof LoopInput.Execute<?> execute) {
        if (execute.command() instanceof Command.ReleaseBrake release) {
          released.put(release.key(), now);
          latest.remove(release.key());
          cluster.invariants.mayBegin(release.key()::equals);
        } else if (execute.command() instanceof Command.SetBrake set) {
          cluster.invariants.mayBegin(set.brake().key()::equals);
          released.computeIfPresent(set.brake().key(), (key, at) -> Math.min(at, now - 1));
        }
      }
    }
  }

  /** Lets the other thread handle the messages, now or later. */
  private void takeSome() {
    while (!toLoop.isEmpty() && cluster.random.nextInt(16) > 0) {
      inputs.add(toLoop.remove());
    }
  }

  /** Sends an operator's command to the loop. */
  void execute(Command<?> command) {
    if (command instanceof Command.SetBrake set) {
      CompletableFuture<BrakeView> answer = new CompletableFuture<>();
      unanswered.put(set.brake().key(), answer);
      latest.put(set.brake().key(), answer);
      var unused =
          answer.thenAccept(
              view -> {
                if (view.durable()) {
                  unanswered.remove(set.brake().key(), answer);
                }
                boolean isKnown = view.durable() && view.unconfirmed().isEmpty();
                if (isKnown && stopsForGood(set) && latest.get(set.brake().key()) == answer) {
                  cluster.invariants.braked(set.brake().key());
                }
              });
      inputs.add(new LoopInput.Execute<>(set, answer));
      return;
    }
    inputs.add(new LoopInput.Execute<>(command, new CompletableFuture<>()));
  }

  private boolean stopsForGood(Command.SetBrake set) {
    return set.brake().millionths() == 0 && set.millis() == 0 && cluster.store.epoch() == epoch;
  }

  // ---- output of the protocol side

  @Override
  public void send(String address, WorkBatch newWork) {
    WorkBatch work = cluster.has(ProtocolBug.STARTS_SENT_AGAIN) ? withAgain(newWork) : newWork;
    if (work.starts().size() >= FULL_BATCH) {
      cluster.coverage.happened(SimulationEvent.BATCH_FULL);
    }
    work.starts().stream()
        .filter(launch -> !HealthCheck.is(launch.job()))
        .forEach(launch -> cluster.invariants.dispatched(RunId.of(launch)));
    SimulatedWorker.@Nullable Jvm to = cluster.jvmAt(address);
    work.settled().forEach(process::acknowledged);
    int workerHost = cluster.hostOf(address);
    SimulatedProcess peer = to == null ? cluster.nobody : to;
    cluster.call(
        process,
        process.host,
        peer,
        workerHost,
        timers.callMillis(),
        reply -> {
          SimulatedWorker.@Nullable Jvm there = cluster.jvmAt(address);
          if (there != null) {
            reply.accept(there.work(work));
          }
        },
        (WorkResponse answer) -> {
          if (process.isLedBy(this)) {
            toSide.add(
                () -> side.answered(work.worker(), bent(newWork, answer), process.localNow()));
            process.poke();
          }
        },
        reached -> {
          if (process.isLedBy(this)) {
            boolean arrived = reached && !cluster.has(ProtocolBug.TIMEOUT_MEANS_NOT_STARTED);
            if (cluster.has(ProtocolBug.STARTS_SENT_AGAIN)) {
              again.put(work.worker(), work.starts());
            }
            toSide.add(
                () ->
                    side.failed(
                        work.worker(), work.number(), arrived, "no answer", process.localNow()));
            process.poke();
          }
        });
  }

  private WorkBatch withAgain(WorkBatch work) {
    List<LaunchSpec> unanswered = again.remove(work.worker());
    if (unanswered == null) {
      return work;
    }
    return BuggyMessages.withStarts(work, unanswered);
  }

  private WorkResponse bent(WorkBatch work, WorkResponse answer) {
    if (answer.starts().size() > work.starts().size()) {
      return BuggyMessages.cutTo(answer, work.starts().size());
    }
    if (cluster.has(ProtocolBug.FULL_BATCH_CUT) && answer.starts().size() >= FULL_BATCH) {
      return BuggyMessages.lastRefused(answer);
    }
    if (answer.verdict() != WorkResponse.Verdict.OLD
        || !cluster.has(ProtocolBug.OLD_COPY_MEANS_REFUSED)) {
      return answer;
    }
    return BuggyMessages.doneWithNothing(answer, work);
  }

  @Override
  public void ended(TaskResult end) {
    cluster.trace(
        () -> name + " is told: " + RunId.of(end) + " " + end.kind() + " " + end.message());
    if (cluster.store.epoch() <= epoch) {
      // Of a deposed leader that was stopped for long, nothing can be committed any more.
      cluster.invariants.told(end, epoch);
    }
    if (end.kind() == TaskResult.Kind.LOST) {
      cluster.coverage.happened(SimulationEvent.TOLD_LOST);
    } else if (end.kind() == TaskResult.Kind.NOT_STARTED) {
      cluster.coverage.happened(SimulationEvent.TOLD_NEVER_STARTED);
    }
    known.remove(RunId.of(end));
    if (cluster.has(ProtocolBug.ACKNOWLEDGES_BEFORE_COMMIT)) {
      tooEarly.add(RunId.of(end));
    }
    toLoop.add(new LoopInput.TaskEnded(end));
    process.poke();
  }

  @Override
  public void late(TaskResult end) {
    cluster.trace(() -> name + " hears late: " + RunId.of(end) + " " + end.kind());
    cluster.coverage.happened(SimulationEvent.LATE_END);
    toLoop.add(new LoopInput.TaskEndedLate(end));
    process.poke();
  }

  @Override
  public void recalled(List<RunId> runs) {
    toLoop.add(new LoopInput.Recalled(runs.stream().map(RunId::invocation).toList()));
    process.poke();
  }

  @Override
  public void progress(RunId run, Progress progress) {}

  @Override
  public void usage(RunId run, ResourceUsage usage) {}

  @Override
  public void workers(List<WorkerInfo> workers) {
    cluster.trace(
        () ->
            name
                + " sees "
                + workers.stream().map(w -> w.ref().shard() + " " + w.state()).toList());
    toLoop.add(new LoopInput.Workers(workers));
    process.poke();
  }

  @Override
  public void newerEpoch(long heard) {
    process.heardOf(heard, epoch);
  }

  @Override
  public void warn(String message) {
    cluster.trace(() -> name + ": " + message);
  }

  // ---- output of the loop

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
      side.resume(List.of(), process.localNow());
      for (Assignment run : unconfirmed) {
        ended(
            TaskResult.lost(
                run.job(), run.node(), run.invocation(), "taken over", process.localNow()));
      }
      return;
    }
    for (Assignment run : unconfirmed) {
      cluster.coverage.happened(SimulationEvent.RUN_TAKEN_OVER);
      known.add(new RunId(run.job(), run.node(), run.invocation()));
    }
    toSide.add(() -> side.resume(unconfirmed, process.localNow()));
  }

  @Override
  public void start(LaunchSpec launch) {
    startBatch(List.of(launch));
  }

  @Override
  public void startBatch(List<LaunchSpec> members) {
    members.forEach(this::handedOver);
    // One message, so that they go to the worker together.
    toSide.add(() -> members.forEach(launch -> side.start(launch, process.localNow())));
  }

  private void handedOver(LaunchSpec launch) {
    if (epoch == cluster.store.epoch()) {
      // The store of a deposed leader knows more than that leader.
      List<Brake> inForce =
          cluster.store.brakes().stream()
              .filter(
                  brake ->
                      brake.sinceMillis() > released.getOrDefault(brake.key(), -1L)
                          && (!unanswered.containsKey(brake.key())
                              || launch.invocation().startMillis() >= brake.sinceMillis())
                          && (brake.untilMillis() == 0 || process.localNow() < brake.untilMillis()))
              .toList();
      cluster.invariants.handedOver(launch, inForce);
    }
    if (poller != null && cluster.plan.isProbed()) {
      cluster.invariants.placed(launch, poller.hadValue(launch.invocation().startMillis()));
    }
    known.add(RunId.of(launch));
  }

  @Override
  public boolean recall(List<LaunchSpec> launches) {
    List<RunId> runs = launches.stream().map(RunId::of).toList();
    toSide.add(() -> runs.forEach(side::recall));
    if (cluster.has(ProtocolBug.RECALL_CONFIRMED_UNHEARD)) {
      recalled(runs);
    }
    return true;
  }

  @Override
  public void cordons(List<WorkerCordon> cordons) {
    toSide.add(
        () ->
            side.cordons(
                shards(cordons, WorkerCordon.Kind.CORDON),
                shards(cordons, WorkerCordon.Kind.DRAIN),
                process.localNow()));
  }

  private static List<String> shards(List<WorkerCordon> cordons, WorkerCordon.Kind kind) {
    return cordons.stream().filter(h -> h.kind() == kind).map(WorkerCordon::shard).toList();
  }

  @Override
  public boolean kill(String job, String node, Invocation invocation, KillRequest how) {
    RunId run = new RunId(job, node, invocation);
    toSide.add(() -> side.kill(run, how, process.localNow()));
    return known.contains(run);
  }

  @Override
  public boolean mayBeAlive(String job, String node, Invocation invocation) {
    return known.contains(new RunId(job, node, invocation));
  }

  @Override
  public void recorded(TaskResult end) {
    if (cluster.has(ProtocolBug.DISPATCH_BEFORE_COMMIT)) {
      // This bug affects only starts.
      connection.whenDurable(() -> side.recorded(RunId.of(end), process.localNow()));
      return;
    }
    toSide.add(() -> side.recorded(RunId.of(end), process.localNow()));
  }

  @Override
  public void close() {}

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
}
