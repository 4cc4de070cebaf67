package io.espalier.core.protocol;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.protocol.HeartbeatResponse.Verdict;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.TaskResult.Kind;
import io.espalier.core.running.Throttle;
import io.espalier.core.running.WorkerRef;
import java.util.ArrayList;
import java.util.List;

/** A worker's half of the protocol, the messages it sends and what it does with tasks. */
abstract class WorkerProtocolFixture implements WorkerOutput {
  static final ProtocolTimers TIMERS = ProtocolTimers.BALANCED;
  static final WorkerRef SELF = new WorkerRef("w1", 11);
  static final KillRequest TERM = KillRequest.DEFAULT;

  final List<Heartbeat> heartbeats = new ArrayList<>();
  final List<Report> reports = new ArrayList<>();
  final List<LaunchSpec> started = new ArrayList<>();
  final List<String> done = new ArrayList<>();
  String storeId = "";
  final WorkerProtocol side = new WorkerProtocol(SELF, facts(3), this);
  long now = 5_000_000;
  long wall = 9_000_000;
  long epoch = 4;
  long session = 77;
  long batches;
  long sequence;

  static WorkerDescription facts(int maxTasks) {
    return WorkerDescription.of("host").address("w1:1").maxTasks(maxTasks).build();
  }

  @Override
  public void send(Heartbeat heartbeat) {
    heartbeats.add(heartbeat);
  }

  @Override
  public void send(Report report) {
    reports.add(report);
  }

  @Override
  public void start(LaunchSpec launch) {
    started.add(launch);
  }

  @Override
  public void startBatch(List<LaunchSpec> members) {
    done.add("batch " + members.stream().map(LaunchSpec::node).toList());
    started.addAll(members);
  }

  @Override
  public void letGo(RunId run) {
    done.add("let go " + run.node());
  }

  @Override
  public void kill(RunId run, KillRequest how) {
    done.add("kill " + run.node());
  }

  @Override
  public void recall(RunId run) {
    done.add("recall " + run.node());
  }

  @Override
  public void extend(RunId run, long millis) {
    done.add("extend " + run.node() + " " + millis);
  }

  @Override
  public void throttle(RunId run, Throttle throttle) {
    done.add("throttle " + run.node() + " " + throttle.line().strip());
  }

  @Override
  public void stopAll(long killWaitMillis) {
    done.add("stop all");
  }

  @Override
  public void guard(ClockReading since, long killAfterMillis) {
    done.add("guard " + (since.monotonicMillis() + killAfterMillis - 5_000_000));
  }

  @Override
  public void drained() {
    done.add("drained");
  }

  @Override
  public void warn(String message) {
    done.add("warn " + message);
  }

  ClockReading now() {
    return new ClockReading(now, now, wall + now);
  }

  void step() {
    side.step(now());
  }

  void after(long millis) {
    now += millis;
    step();
  }

  Heartbeat lastHeartbeat() {
    return heartbeats.get(heartbeats.size() - 1);
  }

  HeartbeatResponse answer(Verdict verdict) {
    return answer(verdict, TIMERS);
  }

  HeartbeatResponse answer(Verdict verdict, ProtocolTimers timers) {
    return new HeartbeatResponse(
        lastHeartbeat().number(),
        verdict,
        epoch,
        verdict == Verdict.ACCEPTED ? session : 0,
        1,
        timers,
        false,
        "because",
        storeId);
  }

  void hears(Verdict verdict) {
    side.heartbeatAnswered(answer(verdict), now());
    step();
  }

  void registered() {
    side.cleared(List.of(3L), now());
    step();
    hears(Verdict.ACCEPTED);
  }

  LaunchSpec launch(String node) {
    return SchedulerWorld.launch(node, new Invocation(epoch, ++sequence, now), SELF);
  }

  WorkBatch batch(List<LaunchSpec> starts, List<TaskCommand> orders, List<RunId> asks) {
    return new WorkBatch(epoch, session, SELF, ++batches, starts, orders, asks, List.of());
  }

  WorkResponse starts(LaunchSpec... launches) {
    return side.work(batch(List.of(launches), List.of(), List.of()), now());
  }

  TaskResult end(LaunchSpec launch, Kind kind) {
    return TaskResult.of(launch.job(), launch.node(), launch.invocation(), kind)
        .withRawStatus(kind == Kind.EXITED ? "done" : null)
        .withExit(0, null);
  }

  void ends(LaunchSpec launch, Kind kind) {
    side.ended(end(launch, kind), now());
    step();
  }
}
