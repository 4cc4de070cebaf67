package io.espalier.core.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.CallSpec;
import io.espalier.core.config.task.KillRequest;
import io.espalier.core.json.Json;
import io.espalier.core.protocol.HeartbeatResponse.Verdict;
import io.espalier.core.protocol.WorkResponse.RunState;
import io.espalier.core.running.Call;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.TaskResult.Kind;
import io.espalier.core.running.Throttle;
import io.espalier.core.running.WorkerRef;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The half of a worker. W numbers: docs/workers-conformance.md. */
class WorkerProtocolTest implements WorkerOutput {
  private static final ProtocolTimers TIMERS = ProtocolTimers.BALANCED;
  private static final WorkerRef SELF = new WorkerRef("w1", 11);
  private static final KillRequest TERM = KillRequest.DEFAULT;

  private final List<Heartbeat> heartbeats = new ArrayList<>();
  private final List<Report> reports = new ArrayList<>();
  private final List<LaunchSpec> started = new ArrayList<>();
  private final List<String> done = new ArrayList<>();
  private String storeId = "";
  private final WorkerProtocol side = new WorkerProtocol(SELF, facts(3), this);
  private long now = 5_000_000;
  private long wall = 9_000_000;
  private long epoch = 4;
  private long session = 77;
  private long batches;
  private long sequence;

  private static WorkerDescription facts(int maxTasks) {
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

  private ClockReading now() {
    return new ClockReading(now, now, wall + now);
  }

  private void step() {
    side.step(now());
  }

  private void after(long millis) {
    now += millis;
    step();
  }

  private Heartbeat lastHeartbeat() {
    return heartbeats.get(heartbeats.size() - 1);
  }

  private HeartbeatResponse answer(Verdict verdict) {
    return answer(verdict, TIMERS);
  }

  private HeartbeatResponse answer(Verdict verdict, ProtocolTimers timers) {
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

  private void hears(Verdict verdict) {
    side.heartbeatAnswered(answer(verdict), now());
    step();
  }

  private void registered() {
    side.cleared(List.of(3L), now());
    step();
    hears(Verdict.ACCEPTED);
  }

  private LaunchSpec calls(String node) {
    Invocation invocation = new Invocation(epoch, ++sequence, now);
    CallSpec spec = new CallSpec("fake", Json.Obj.EMPTY, false, Duration.ofSeconds(1));
    Call call =
        Call.of(
            spec,
            "job",
            0,
            invocation,
            1,
            List.of("host"),
            List.of(node),
            new InvocationLimits(0, 0, 0));
    return LaunchSpec.of("job", node, invocation).worker(SELF).call(call).build();
  }

  private LaunchSpec launch(String node) {
    return SchedulerWorld.launch(node, new Invocation(epoch, ++sequence, now), SELF);
  }

  private WorkBatch batch(List<LaunchSpec> starts, List<TaskCommand> orders, List<RunId> asks) {
    return new WorkBatch(epoch, session, SELF, ++batches, starts, orders, asks, List.of());
  }

  private WorkResponse starts(LaunchSpec... launches) {
    return side.work(batch(List.of(launches), List.of(), List.of()), now());
  }

  private TaskResult end(LaunchSpec launch, Kind kind) {
    return TaskResult.of(launch.job(), launch.node(), launch.invocation(), kind)
        .withRawStatus(kind == Kind.EXITED ? "done" : null)
        .withExit(0, null);
  }

  private void ends(LaunchSpec launch, Kind kind) {
    side.ended(end(launch, kind), now());
    step();
  }

  // ---- batches of tasks

  private LaunchSpec batched(String node, long batch) {
    return launch(node).with(launch -> launch.batch(batch));
  }

  @Test
  void consecutiveStartsOfOneBatchAreStartedTogetherWithoutThoseThatAreRefused() {
    registered();
    done.clear();
    LaunchSpec running = launch("b");
    starts(running);
    ends(running, Kind.EXITED);
    WorkResponse response = starts(batched("a", 7), batched("b", 7), batched("a", 7), launch("c"));
    assertThat(response.starts().stream().map(WorkResponse.StartAnswer::accepted))
        .containsExactly(true, true, false, true);
    assertThat(done).containsExactly("batch [a, b]");
    assertThat(started).extracting(LaunchSpec::node).containsExactly("b", "a", "b", "c");
  }

  @Test
  void aBatchOfOneAndTasksOfTwoJobsAreStartedAlone() {
    registered();
    done.clear();
    LaunchSpec other = batched("y", 8).with(launch -> launch.job("other"));
    starts(batched("x", 7), batched("y", 8), other);
    assertThat(done).isEmpty();
    assertThat(started).hasSize(3);
  }

  // ---- registration

  @Test
  void itDoesNotRegisterBeforeTheTasksOfEarlierProcessesAreVerifiedDead() {
    step();
    after(60_000);
    assertThat(heartbeats).isEmpty();
    assertThat(side.state()).contains("verifies");
    side.cleared(List.of(3L, 4L), now());
    step();

    assertThat(lastHeartbeat().session()).isZero();
    assertThat(lastHeartbeat().cleared()).containsExactly(3L, 4L);
  }

  @Test
  void aLostConnectionMakesTheNextHeartbeatComeSoonButNoRetryOfAFailedOne() {
    registered();
    int before = heartbeats.size();
    side.connectionLost(now());
    step();
    assertThat(heartbeats).hasSize(before);
    after(999);
    assertThat(heartbeats).hasSize(before + 1);

    side.heartbeatFailed(lastHeartbeat().number(), now());
    side.connectionLost(now());
    after(TIMERS.reportFirstMillis() / 2 - 1);
    assertThat(heartbeats).hasSize(before + 1);
    after(TIMERS.reportFirstMillis() / 2 + 1);
    assertThat(heartbeats).hasSize(before + 2);
  }

  @Test
  void aConnectionLostBeforeAHeartbeatIsAcceptedMakesTheNextOneComeSoon() {
    registered();
    after(TIMERS.heartbeatMillis());
    int before = heartbeats.size();
    side.connectionLost(now());
    hears(Verdict.ACCEPTED);
    after(999);

    assertThat(heartbeats).hasSize(before + 1);
  }

  @Test
  void workersWhoseHeartbeatsFailTogetherComeBackOneAfterTheOther() {
    TreeMap<Long, Integer> back = new TreeMap<>();
    for (int i = 0; i < 1_000; i++) {
      WorkerProtocol worker =
          new WorkerProtocol(new WorkerRef("w" + i, 7_919L * i), facts(3), this);
      worker.cleared(List.of(), now());
      long unused = worker.step(now());
      worker.heartbeatFailed(lastHeartbeat().number(), now());
      back.merge(worker.step(now()), 1, Integer::sum);
    }

    assertThat(back.firstKey()).isGreaterThanOrEqualTo(TIMERS.reportFirstMillis() / 2);
    assertThat(back.lastKey()).isLessThanOrEqualTo(TIMERS.reportFirstMillis());
    assertThat(back).as("the pauses of 1,000 workers").hasSizeGreaterThan(300);
    assertThat(back.values()).as("workers at one instant").allMatch(together -> together < 15);
  }

  @Test
  void w25ARefusedWorkerTriesAgainAndSaysWhyOnce() {
    side.cleared(List.of(), now());
    step();
    hears(Verdict.REFUSED);
    after(TIMERS.heartbeatMillis());
    hears(Verdict.REFUSED);

    assertThat(heartbeats).hasSize(2);
    assertThat(done).containsExactly("warn not registered: because");
    assertThat(starts(launch("a")).verdict()).isEqualTo(WorkResponse.Verdict.STALE);
    after(TIMERS.heartbeatMillis());
    hears(Verdict.ACCEPTED);
    assertThat(side.state()).isEmpty();
  }

  @Test
  void itLetsGoOfACallWhoseEndTheSchedulerKnows() {
    registered();
    LaunchSpec a = calls("a");
    starts(a);
    WorkBatch settled =
        new WorkBatch(
            epoch,
            session,
            SELF,
            ++batches,
            List.of(),
            List.of(),
            List.of(),
            List.of(RunId.of(a), RunId.of(launch("never heard of"))));
    side.work(settled, now());
    assertThat(done).contains("let go a").doesNotContain("let go never heard of");
    side.ended(end(a, Kind.LOST), now());
    after(0);
    assertThat(side.unsettled()).as("it is reported like any end").isEqualTo(1);
  }

  @Test
  void anotherStartOfATaskMakesItLetGoOfItsCallButNotOfItsProcess() {
    registered();
    LaunchSpec call = calls("a");
    LaunchSpec process = launch("b");
    starts(call, process);
    assertThat(starts(calls("a"), launch("b")).starts())
        .extracting(WorkResponse.StartAnswer::accepted)
        .containsExactly(true, false);
    assertThat(done).contains("let go a").doesNotContain("let go b");
    side.ended(end(call, Kind.LOST), now());
    side.ended(end(process, Kind.EXITED), now());
    assertThat(starts(launch("b")).starts())
        .extracting(WorkResponse.StartAnswer::accepted)
        .containsExactly(true);
  }

  @Test
  void unfitTimersAreNotAccepted() {
    side.cleared(List.of(), now());
    step();
    Map<String, Long> values = new java.util.HashMap<>(TIMERS.values());
    values.put("margin", 1L);
    side.heartbeatAnswered(answer(Verdict.ACCEPTED, ProtocolTimers.of(values)), now());

    assertThat(starts(launch("a")).verdict()).isEqualTo(WorkResponse.Verdict.STALE);
    assertThat(done).singleElement().asString().contains("unfit", "margin");
  }

  @Test
  void askingForANewSessionGivesUpTheOldOneAtOnce() {
    registered();
    starts(launch("a"));
    after(TIMERS.heartbeatMillis());
    hears(Verdict.REGISTER_AGAIN);

    assertThat(lastHeartbeat().session()).isZero();
    assertThat(lastHeartbeat().runs()).hasSize(1);
    assertThat(starts(launch("b")).verdict()).isEqualTo(WorkResponse.Verdict.STALE);
    assertThat(done).doesNotContain("stop all");
    session = 78;
    hears(Verdict.ACCEPTED);
    assertThat(starts(launch("b")).starts().get(0).accepted()).isTrue();
  }

  @Test
  void anOlderLeaderIsNotHeeded() {
    registered();
    LaunchSpec task = launch("a");
    starts(task);
    epoch = 9;
    after(TIMERS.heartbeatMillis());
    hears(Verdict.REGISTER_AGAIN);
    session = 90;
    hears(Verdict.ACCEPTED);
    epoch = 4;
    after(TIMERS.heartbeatMillis());
    hears(Verdict.STOP_ALL);

    assertThat(done).doesNotContain("stop all");
    session = 77;
    assertThat(starts(launch("b")).verdict()).isEqualTo(WorkResponse.Verdict.STALE);
  }

  // ---- lease

  @Test
  void theLeaseCountsFromTheSendingOfTheHeartbeatThatWasAnswered() {
    side.cleared(List.of(), now());
    step();
    long sent = now;
    now += 4_000;
    hears(Verdict.ACCEPTED);
    starts(launch("a"));
    now = sent + TIMERS.stopAfterMillis() - 1;
    assertThat(done).contains("guard " + (sent - 5_000_000 + TIMERS.guardAfterMillis()));
    step();
    assertThat(done).doesNotContain("stop all");
    now = sent + TIMERS.stopAfterMillis();
    step();

    assertThat(done).contains("stop all");
  }

  @Test
  void aSuspendedHostAndAWallClockThatJumpsAgeTheLeaseToo() {
    registered();
    starts(launch("a"));
    wall += TIMERS.stopAfterMillis();
    step();

    assertThat(done).contains("stop all");
  }

  @Test
  void withAnOldLeaseNothingStartsEvenBeforeItIsNoticed() {
    registered();
    now += TIMERS.stopAfterMillis();

    WorkResponse answer = starts(launch("a"));
    assertThat(answer.starts().get(0).accepted()).isFalse();
    assertThat(started).isEmpty();
  }

  @Test
  void itRegistersAnewOnlyWhenTheLastTaskIsVerifiedDead() {
    registered();
    LaunchSpec a = launch("a");
    LaunchSpec b = launch("b");
    starts(a, b);
    side.heartbeatFailed(-1, now());
    after(TIMERS.heartbeatMillis());
    now += TIMERS.leaseMillis();
    side.heartbeatFailed(lastHeartbeat().number(), now());
    step();
    ends(a, Kind.KILLED);
    int sent = heartbeats.size();
    after(TIMERS.leaseMillis());
    assertThat(heartbeats.subList(sent, heartbeats.size())).noneMatch(h -> h.session() == 0);
    side.heartbeatFailed(lastHeartbeat().number(), now());
    ends(b, Kind.KILLED);

    assertThat(lastHeartbeat().session()).isZero();
    assertThat(lastHeartbeat().runs()).isEmpty();
    assertThat(reports.get(0).ends().get(0).stopReason()).isEqualTo(StopReason.LEASE_LOST);
  }

  @Test
  void toldToStopAllItStopsAndRegistersAnew() {
    registered();
    LaunchSpec a = launch("a");
    starts(a);
    after(TIMERS.heartbeatMillis());
    hears(Verdict.STOP_ALL);
    assertThat(done).contains("stop all");
    int sent = heartbeats.size();
    after(TIMERS.heartbeatMillis());
    assertThat(heartbeats).hasSize(sent);
    ends(a, Kind.KILLED);

    assertThat(lastHeartbeat().session()).isZero();
  }

  // ---- work

  @Test
  void aCopyOfABatchAndAnOvertakenOneAreNotActedOn() {
    registered();
    WorkBatch first = batch(List.of(launch("a")), List.of(), List.of());
    WorkBatch second = batch(List.of(launch("b")), List.of(), List.of());
    assertThat(side.work(second, now()).verdict()).isEqualTo(WorkResponse.Verdict.DONE);
    assertThat(side.work(second, now()).verdict()).isEqualTo(WorkResponse.Verdict.OLD);
    assertThat(side.work(first, now()).verdict()).isEqualTo(WorkResponse.Verdict.OLD);

    assertThat(started).extracting(LaunchSpec::node).containsExactly("b");
  }

  @Test
  void notRunningBindsItToRefuseEveryOlderStart() {
    registered();
    WorkBatch delayed = batch(List.of(launch("a")), List.of(), List.of());
    WorkResponse asked =
        side.work(batch(List.of(), List.of(), List.of(RunId.of(delayed.starts().get(0)))), now());

    assertThat(asked.asked()).containsExactly(RunState.NOT_RUNNING);
    assertThat(side.work(delayed, now()).verdict()).isEqualTo(WorkResponse.Verdict.OLD);
    assertThat(started).isEmpty();
  }

  @Test
  void whatIsMeantForAnotherProcessEpochOrSessionIsNotActedOn() {
    registered();
    LaunchSpec task = launch("a");
    List<WorkBatch> wrong =
        List.of(
            new WorkBatch(
                epoch, session + 1, SELF, 1, List.of(task), List.of(), List.of(), List.of()),
            new WorkBatch(
                epoch - 1, session, SELF, 1, List.of(task), List.of(), List.of(), List.of()),
            new WorkBatch(
                epoch,
                session,
                new WorkerRef("w1", 12),
                1,
                List.of(task),
                List.of(),
                List.of(),
                List.of()));

    assertThat(wrong)
        .allMatch(work -> side.work(work, now()).verdict() == WorkResponse.Verdict.STALE);
    assertThat(started).isEmpty();
  }

  @Test
  void refusalsSayWhyAndWhenToTryAgain() {
    registered();
    starts(launch("a"), launch("b"));
    WorkResponse answer = starts(launch("a"), launch("c"), launch("d"));

    assertThat(answer.starts().get(0).reason()).contains("still running");
    assertThat(answer.starts().get(1).accepted()).isTrue();
    assertThat(answer.starts().get(2).reason()).contains("runs 3 tasks");
    assertThat(answer.starts().get(2).retryAfterMillis()).isPositive();
    side.facts(facts(0));
    side.health(false, "disk full");
    assertThat(starts(launch("e")).starts().get(0).reason()).contains("disk full");
    side.health(true, "");
    side.drain(now());
    assertThat(starts(launch("e")).starts().get(0).reason()).contains("draining");
  }

  @Test
  void aHealthCheckRunsAlsoOnAFullOrDrainingWorker() {
    registered();
    starts(launch("a"), launch("b"), launch("c"));
    side.drain(now());
    LaunchSpec check =
        HealthCheck.launch(
            SELF,
            new Invocation(epoch, 1, now),
            io.espalier.core.config.task.SubprocessOptions.DEFAULT,
            1_000);

    assertThat(starts(check).starts().get(0).accepted()).isTrue();
  }

  @Test
  void w24OrdersAreCarriedOutOnceHoweverOftenTheyCome() {
    registered();
    LaunchSpec a = launch("a");
    starts(a);
    TaskCommand kill = new TaskCommand(RunId.of(a), 1, TERM, 0);
    TaskCommand extend = new TaskCommand(RunId.of(a), 2, null, 500);
    side.work(batch(List.of(), List.of(kill), List.of()), now());
    side.work(batch(List.of(), List.of(kill, extend), List.of()), now());
    side.work(batch(List.of(), List.of(kill, extend), List.of()), now());

    assertThat(done)
        .filteredOn(d -> !d.startsWith("guard"))
        .containsExactly("kill a", "extend a 500");
  }

  @Test
  void aRecallIsCarriedOutOnceAndTheEndItBringsIsReportedLikeAnyOther() {
    registered();
    LaunchSpec a = launch("a");
    starts(a);
    TaskCommand recall = TaskCommand.recall(RunId.of(a), 1);
    side.work(batch(List.of(), List.of(recall), List.of()), now());
    side.work(batch(List.of(), List.of(recall), List.of()), now());
    ends(a, Kind.NOT_STARTED);

    assertThat(done).filteredOn(d -> !d.startsWith("guard")).containsExactly("recall a");
    assertThat(reports).last().satisfies(report -> assertThat(report.ends()).hasSize(1));
    assertThat(side.running()).isZero();
  }

  @Test
  void anotherSchedulerNumbersItsOrdersFromOne() {
    registered();
    LaunchSpec a = launch("a");
    starts(a);
    RunId run = RunId.of(a);
    TaskCommand slower = TaskCommand.throttle(run, 7, new Throttle(0.5, "lag"));
    side.work(batch(List.of(), List.of(slower), List.of()), now());
    epoch++;
    after(TIMERS.heartbeatMillis());
    hears(Verdict.ACCEPTED);
    after(TIMERS.heartbeatMillis());
    hears(Verdict.ACCEPTED);
    side.work(batch(List.of(), List.of(new TaskCommand(run, 1, TERM, 0)), List.of()), now());

    assertThat(done)
        .filteredOn(d -> !d.startsWith("guard"))
        .containsExactly("throttle a 0.5 lag", "kill a");
  }

  // ---- ends

  @Test
  void w24AnEndIsKeptAndSentAgainUntilItIsSettled() {
    registered();
    LaunchSpec a = launch("a");
    starts(a);
    ends(a, Kind.KILLED);
    RunId run = RunId.of(a);
    assertThat(reports).hasSize(1);
    assertThat(side.work(batch(List.of(), List.of(), List.of(run)), now()).asked())
        .containsExactly(RunState.ENDED);
    side.reportFailed(reports.get(0).number(), now());
    List<Long> again = new ArrayList<>();
    long began = now;
    for (int second = 1; second <= 100; second++) {
      int sent = reports.size();
      int beats = heartbeats.size();
      after(1_000);
      if (heartbeats.size() > beats) {
        hears(Verdict.ACCEPTED);
      }
      if (reports.size() > sent) {
        again.add((now - began) / 1_000);
        side.reportFailed(reports.get(reports.size() - 1).number(), now());
      }
    }
    assertThat(again).startsWith(1L, 3L, 7L, 15L, 31L, 61L, 91L);
    assertThat(side.unsettled()).isEqualTo(1);
    side.work(
        new WorkBatch(
            epoch, session, SELF, ++batches, List.of(), List.of(), List.of(), List.of(run)),
        now());

    assertThat(side.unsettled()).isZero();
    int sent = reports.size();
    after(100_000);
    assertThat(reports).hasSize(sent);
  }

  @Test
  void endsGoInBatchesAndAnAnswerSettlesThemToo() {
    registered();
    side.facts(facts(0));
    List<LaunchSpec> all = new ArrayList<>();
    for (int i = 0; i < 700; i++) {
      all.add(launch("n" + i));
    }
    starts(all.toArray(new LaunchSpec[0]));
    all.forEach(launch -> side.ended(end(launch, Kind.EXITED), now()));
    step();
    assertThat(reports).singleElement().matches(r -> r.ends().size() == 500);
    side.reportAnswered(
        new ReportResponse(
            reports.get(0).number(), true, reports.get(0).ends().stream().map(RunId::of).toList()),
        now());
    step();

    assertThat(reports.get(1).ends()).hasSize(200);
    assertThat(side.unsettled()).isEqualTo(200);
  }

  @Test
  void aNewSchedulerHearsOfAllEndsAtOnce() {
    registered();
    LaunchSpec a = launch("a");
    starts(a);
    ends(a, Kind.EXITED);
    for (int i = 0; i < 8; i++) {
      side.reportFailed(reports.get(reports.size() - 1).number(), now());
      after(TIMERS.reportMaxMillis());
    }
    side.reportFailed(reports.get(reports.size() - 1).number(), now());
    int sent = reports.size();
    epoch = 5;
    session = 1;
    side.heartbeatFailed(lastHeartbeat().number(), now());
    after(TIMERS.heartbeatMillis());
    hears(Verdict.REGISTER_AGAIN);
    hears(Verdict.ACCEPTED);

    assertThat(reports.size()).isGreaterThan(sent);
  }

  // ---- drain

  @Test
  void aDrainedWorkerEndsWhenItsLastEndIsSettled() {
    registered();
    LaunchSpec a = launch("a");
    starts(a);
    side.drain(now());
    step();
    assertThat(lastHeartbeat().draining()).isTrue();
    ends(a, Kind.EXITED);
    assertThat(done).doesNotContain("drained");
    side.reportAnswered(
        new ReportResponse(reports.get(0).number(), true, List.of(RunId.of(a))), now());
    step();

    assertThat(done).containsOnlyOnce("drained");
  }

  // ---- stores

  @Test
  void itSaysWhichStoreItServesAndHeedsNoSchedulerOfAnother() {
    storeId = "ours";
    registered();
    step();
    after(TIMERS.heartbeatMillis());
    assertThat(lastHeartbeat().storeId()).isEqualTo("ours");

    storeId = "theirs";
    epoch += 10;
    for (Verdict verdict : List.of(Verdict.ACCEPTED, Verdict.STOP_ALL, Verdict.REGISTER_AGAIN)) {
      hears(verdict);
      after(8_000);
    }

    assertThat(side.session()).isNotZero();
    assertThat(side.epoch()).isEqualTo(epoch - 10);
    assertThat(lastHeartbeat().storeId()).isEqualTo("ours");
  }
}
