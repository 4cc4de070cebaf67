package io.espalier.core.protocol;

import io.espalier.core.running.Assignment;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/** A scheduler's side whose every word is kept, with workers that say what the test says. */
final class SchedulerWorld implements SchedulerOutput {
  static final ProtocolTimers TIMERS = ProtocolTimers.BALANCED;
  static final long EPOCH = 5;

  final SchedulerProtocol side;
  final List<WorkBatch> sent = new ArrayList<>();
  final List<TaskResult> ends = new ArrayList<>();
  final List<TaskResult> late = new ArrayList<>();

  /** Progress and ends, in order. */
  final List<String> said = new ArrayList<>();

  /** The nodes of tasks whose start was confirmed. */
  final List<String> started = new ArrayList<>();

  /** The nodes of tasks whose recall was confirmed. */
  final List<String> recalled = new ArrayList<>();

  final List<String> warnings = new ArrayList<>();
  final List<Long> heard = new ArrayList<>();
  boolean leads = true;

  /** Leadership ends with the batch of that number. */
  int leadsUntilSent = Integer.MAX_VALUE;

  int published;
  long now = 1_000_000;
  private long heartbeats = 10;
  private long sequence;

  SchedulerWorld() {
    this(SchedulerProtocol.Past.KNOWN);
  }

  SchedulerWorld(SchedulerProtocol.Past past) {
    this(past, "");
  }

  SchedulerWorld(SchedulerProtocol.Past past, String storeId) {
    this(past, storeId, TIMERS);
  }

  SchedulerWorld(SchedulerProtocol.Past past, String storeId, ProtocolTimers timers) {
    side =
        new SchedulerProtocol(
            new LeadershipTerm(EPOCH, storeId, () -> leads && sent.size() < leadsUntilSent),
            timers,
            past,
            this);
  }

  static SchedulerWorld open() {
    SchedulerWorld world = new SchedulerWorld();
    world.side.resume(List.of(), world.now);
    return world;
  }

  // ---- output

  @Override
  public void send(String address, WorkBatch work) {
    sent.add(work);
  }

  @Override
  public void ended(TaskResult end) {
    ends.add(end);
    said.add("end of " + end.node());
  }

  @Override
  public void late(TaskResult end) {
    late.add(end);
  }

  @Override
  public void started(RunId run) {
    started.add(run.node());
  }

  @Override
  public void recalled(List<RunId> runs) {
    runs.forEach(run -> recalled.add(run.node()));
  }

  @Override
  public void progress(RunId run, Progress progress) {
    said.add("progress of " + run.node() + " to " + progress.cursor());
  }

  @Override
  public void usage(RunId run, ResourceUsage usage) {}

  @Override
  public void workers(List<WorkerInfo> workers) {
    published++;
  }

  @Override
  public void newerEpoch(long epoch) {
    heard.add(epoch);
  }

  @Override
  public void warn(String message) {
    warnings.add(message);
  }

  // ---- workers

  static WorkerRef ref(String shard, long instance) {
    return new WorkerRef(shard, instance);
  }

  /** A copy of a heartbeat with another epoch, description and store. */
  static Heartbeat heartbeat(Heartbeat of, long epoch, WorkerDescription facts, String storeId) {
    return new Heartbeat(
        of.worker(),
        of.number(),
        epoch,
        of.session(),
        facts,
        of.draining(),
        of.healthy(),
        of.note(),
        of.running(),
        of.unsettled(),
        of.runs(),
        of.cleared(),
        storeId);
  }

  static WorkerDescription facts(WorkerRef ref, Versions versions) {
    return WorkerDescription.of("host")
        .address(ref.shard() + ":1")
        .versions(versions)
        .capabilities(Set.of(WorkerDescription.RECALL))
        .build();
  }

  Heartbeat hello(WorkerRef ref, List<RunId> runs, List<Long> cleared) {
    return new Heartbeat(
        ref,
        ++heartbeats,
        0,
        0,
        facts(ref, Versions.OURS),
        false,
        true,
        "",
        runs.size(),
        0,
        runs,
        cleared,
        "");
  }

  Heartbeat beat(WorkerRef ref, long session) {
    return beat(ref, session, true, false, facts(ref, Versions.OURS));
  }

  Heartbeat beat(
      WorkerRef ref, long session, boolean healthy, boolean draining, WorkerDescription facts) {
    return new Heartbeat(
        ref,
        ++heartbeats,
        EPOCH,
        session,
        facts,
        draining,
        healthy,
        healthy ? "" : "disk full",
        0,
        0,
        List.of(),
        List.of(),
        "");
  }

  HeartbeatResponse says(Heartbeat heartbeat) {
    HeartbeatResponse answer = side.heartbeat(heartbeat, now);
    side.step(now);
    return answer;
  }

  /** Registered, checked and healthy; returns its session. */
  long healthy(WorkerRef ref) {
    long session = says(hello(ref, List.of(), List.of())).session();
    passCheck(ref);
    return session;
  }

  /** The health check that is under way is accepted, runs and is good. */
  void passCheck(WorkerRef ref) {
    WorkBatch work = last();
    accept(work);
    LaunchSpec check = work.starts().get(0);
    report(ref, end(check, TaskResult.Kind.EXITED, "done"));
    side.step(now);
  }

  WorkBatch last() {
    return sent.get(sent.size() - 1);
  }

  void accept(WorkBatch work) {
    answer(work, WorkResponse.StartAnswer.ACCEPTED, WorkResponse.RunState.RUNNING);
  }

  void answer(WorkBatch work, WorkResponse.StartAnswer starts, WorkResponse.RunState asks) {
    side.answered(
        work.worker(),
        new WorkResponse(
            work.number(),
            WorkResponse.Verdict.DONE,
            EPOCH,
            IntStream.range(0, work.starts().size()).mapToObj(i -> starts).toList(),
            IntStream.range(0, work.asks().size()).mapToObj(i -> asks).toList()),
        now);
    side.step(now);
  }

  void fail(WorkBatch work, boolean reached) {
    side.failed(work.worker(), work.number(), reached, "timed out", now);
    side.step(now);
  }

  ReportResponse report(WorkerRef ref, TaskResult... ends) {
    ReportResponse answer =
        side.report(new Report(ref, ++heartbeats, List.of(ends), List.of(), List.of(), ""), now);
    side.step(now);
    return answer;
  }

  WorkerInfo.State state(String shard) {
    return info(shard).state();
  }

  WorkerInfo info(String shard) {
    return side.workers().stream()
        .filter(worker -> worker.ref().shard().equals(shard))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no worker " + shard + ": " + side.workers()));
  }

  void after(long millis) {
    now += millis;
    side.step(now);
  }

  // ---- tasks

  LaunchSpec launch(String node, WorkerRef worker) {
    return launch(node, new Invocation(EPOCH, ++sequence, now), worker);
  }

  static LaunchSpec launch(String node, Invocation invocation, WorkerRef worker) {
    return LaunchSpec.of("job", node, invocation).worker(worker).build();
  }

  /** Started and accepted. */
  LaunchSpec runs(String node, WorkerRef worker) {
    LaunchSpec launch = launch(node, worker);
    side.start(launch, now);
    side.step(now);
    accept(last());
    return launch;
  }

  static Assignment assignment(String node, long sequence, WorkerRef worker) {
    return new Assignment("job", node, new Invocation(EPOCH - 1, sequence, 7), worker);
  }

  static RunId id(Assignment a) {
    return new RunId(a.job(), a.node(), a.invocation());
  }

  static TaskResult end(LaunchSpec launch, TaskResult.Kind kind, String status) {
    return end(RunId.of(launch), kind, status);
  }

  static TaskResult end(RunId run, TaskResult.Kind kind, String status) {
    return TaskResult.of(run.job(), run.node(), run.invocation(), kind)
        .withRawStatus(status)
        .withExit(0, null);
  }
}
