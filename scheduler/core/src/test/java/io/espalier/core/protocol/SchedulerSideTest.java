package io.espalier.core.protocol;

import static io.espalier.core.protocol.SchedulerWorld.TIMERS;
import static io.espalier.core.protocol.SchedulerWorld.assignment;
import static io.espalier.core.protocol.SchedulerWorld.end;
import static io.espalier.core.protocol.SchedulerWorld.facts;
import static io.espalier.core.protocol.SchedulerWorld.id;
import static io.espalier.core.protocol.SchedulerWorld.ref;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.KillRequest;
import io.espalier.core.protocol.HeartbeatAnswer.Verdict;
import io.espalier.core.protocol.WorkAnswer.RunState;
import io.espalier.core.protocol.WorkAnswer.StartAnswer;
import io.espalier.core.running.Assignment;
import io.espalier.core.running.Launch;
import io.espalier.core.running.TaskEnd;
import io.espalier.core.running.TaskEnd.Kind;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerInfo.State;
import io.espalier.core.running.WorkerRef;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** W numbers: behaviour 14.8. */
class SchedulerSideTest {
  private static final WorkerRef W1 = ref("w1", 11);
  private static final WorkerRef W1_AGAIN = ref("w1", 12);
  private static final KillRequest KILL = new KillRequest(KillRequest.Method.KILL, 0);

  private final SchedulerWorld world = SchedulerWorld.open();

  // ---- registration and health

  @Test
  void w1AndW2ANewWorkerIsHealthyOnceItsHealthCheckCameBackThroughTheTaskPath() {
    HeartbeatAnswer answer = world.says(world.hello(W1, List.of(), List.of()));

    assertThat(answer.verdict()).isEqualTo(Verdict.ACCEPTED);
    assertThat(answer.session()).isPositive();
    assertThat(world.state("w1")).isEqualTo(State.NEW);
    assertThat(world.last().starts()).singleElement().matches(l -> HealthCheck.is(l.job()));
    world.says(world.beat(W1, answer.session()));
    assertThat(world.state("w1")).isEqualTo(State.NEW);
    world.passCheck(W1);
    assertThat(world.state("w1")).isEqualTo(State.HEALTHY);
    assertThat(world.ends).isEmpty();
  }

  @Test
  void w2MissedHeartbeatsMakeItUnhealthyAndTheNextOneHealthyWithItsNewFacts() {
    long session = world.healthy(W1);
    world.after(TIMERS.unhealthyMillis());
    assertThat(world.state("w1")).isEqualTo(State.UNHEALTHY);
    assertThat(world.info("w1").note()).contains("nothing was heard");

    WorkerFacts other =
        new WorkerFacts(
            "host2", "w1:9", 4, java.util.Map.of("ram_mb", 7L), Versions.OURS, Set.of());
    world.says(world.beat(W1, session, true, false, other));

    assertThat(world.state("w1")).isEqualTo(State.HEALTHY);
    assertThat(world.info("w1").host()).isEqualTo("host2");
    assertThat(world.info("w1").maxTasks()).isEqualTo(4);
    assertThat(world.info("w1").physical()).containsEntry("ram_mb", 7L);
  }

  @Test
  void w3AfterLeaseAndMarginItIsLostWithItsTasksAndMustStopThemBeforeItMayComeBack() {
    long session = world.healthy(W1);
    Launch task = world.runs("a", W1);
    world.after(TIMERS.lostMillis() - 1);
    assertThat(world.ends).isEmpty();
    world.after(1);

    assertThat(world.state("w1")).isEqualTo(State.LOST);
    assertThat(world.ends)
        .singleElement()
        .matches(e -> e.kind() == Kind.LOST && RunId.of(e).equals(RunId.of(task)));
    assertThat(world.says(world.beat(W1, session)).verdict()).isEqualTo(Verdict.STOP_ALL);
    assertThat(world.state("w1")).isEqualTo(State.LOST);
    HeartbeatAnswer again = world.says(world.hello(W1, List.of(), List.of()));
    assertThat(again.verdict()).isEqualTo(Verdict.ACCEPTED);
    assertThat(again.session()).isNotEqualTo(session);
    assertThat(world.state("w1")).isEqualTo(State.NEW);
  }

  @Test
  void w4ANewProcessThatClearedUpAfterTheOldOneReplacesItAtOnce() {
    world.healthy(W1);
    world.runs("a", W1);

    assertThat(world.says(world.hello(W1_AGAIN, List.of(), List.of(11L))).verdict())
        .isEqualTo(Verdict.ACCEPTED);

    assertThat(world.ends).singleElement().matches(e -> e.kind() == Kind.LOST);
    assertThat(world.info("w1").ref()).isEqualTo(W1_AGAIN);
  }

  @Test
  void w4AStrangerMayNotHaveTheNameOfAWorkerThatIsHeardOf() {
    long session = world.healthy(W1);
    HeartbeatAnswer refused = world.says(world.hello(W1_AGAIN, List.of(), List.of()));

    assertThat(refused.verdict()).isEqualTo(Verdict.REFUSED);
    assertThat(refused.message()).contains("w1", "another process");
    assertThat(world.info("w1").ref()).isEqualTo(W1);
    assertThat(world.says(world.beat(W1, session)).verdict()).isEqualTo(Verdict.ACCEPTED);
  }

  @Test
  void w4AStrangerReplacesASilentWorkerWhoseTasksAreWaitedFor() {
    long session = world.healthy(W1);
    world.runs("a", W1);
    world.after(TIMERS.unhealthyMillis());

    HeartbeatAnswer accepted = world.says(world.hello(W1_AGAIN, List.of(), List.of()));

    assertThat(accepted.verdict()).isEqualTo(Verdict.ACCEPTED);
    assertThat(world.info("w1").ref()).isEqualTo(W1_AGAIN);
    assertThat(world.ends).isEmpty();
    assertThat(world.says(world.beat(W1, session)).verdict()).isEqualTo(Verdict.STOP_ALL);
    world.after(TIMERS.lostMillis() - TIMERS.unhealthyMillis() - 1);
    assertThat(world.ends).isEmpty();
    world.says(world.beat(W1_AGAIN, accepted.session()));
    world.after(1);
    assertThat(world.ends).singleElement().matches(e -> e.kind() == Kind.LOST);
    assertThat(world.says(world.hello(W1, List.of(), List.of())).verdict())
        .isEqualTo(Verdict.REFUSED);
  }

  @Test
  void w4ALostWorkerIsReplacedByWhoeverComes() {
    world.healthy(W1);
    world.after(TIMERS.lostMillis());

    assertThat(world.says(world.hello(W1_AGAIN, List.of(), List.of())).verdict())
        .isEqualTo(Verdict.ACCEPTED);
    assertThat(world.side.workers()).hasSize(1);
  }

  @Test
  void w8WithoutACommonVersionNobodyIsRegisteredAndBothSidesAreTold() {
    Heartbeat hello = world.hello(W1, List.of(), List.of());
    Heartbeat old =
        new Heartbeat(
            W1,
            hello.number(),
            0,
            0,
            facts(W1, new Versions(90, 91)),
            false,
            true,
            "",
            0,
            0,
            List.of(),
            List.of());
    HeartbeatAnswer answer = world.says(old);

    assertThat(answer.verdict()).isEqualTo(Verdict.REFUSED);
    assertThat(answer.message()).contains("90 to 91", Versions.OURS.toString());
    assertThat(world.warnings).singleElement().asString().contains("90 to 91");
    assertThat(world.side.workers()).isEmpty();
  }

  @Test
  void w9AnImpostorLeavesThePoolAsItIsAndALostShardMovesToItsNewHost() {
    for (String shard : List.of("w1", "w2", "w3")) {
      world.healthy(ref(shard, 11));
    }
    world.says(world.hello(W1_AGAIN, List.of(), List.of()));
    assertThat(world.side.workers()).hasSize(3).allMatch(w -> w.ref().instance() == 11);
    world.after(TIMERS.lostMillis());
    world.says(world.hello(W1_AGAIN, List.of(), List.of()));

    assertThat(world.side.workers()).hasSize(3);
    assertThat(world.info("w1").ref()).isEqualTo(W1_AGAIN);
  }

  @Test
  void aHealthCheckThatFailsOrDoesNotEndMakesItUnhealthyUntilAGoodOne() {
    world.healthy(W1);
    long session = world.side.workers().isEmpty() ? 0 : 1;
    world.now += TIMERS.healthCheckMillis();
    world.says(world.beat(W1, session));
    Work check = world.last();
    world.accept(check);
    world.report(W1, end(check.starts().get(0), Kind.EXITED, "failed"));
    assertThat(world.state("w1")).isEqualTo(State.UNHEALTHY);
    assertThat(world.info("w1").note()).contains("health check failed");

    world.now += TIMERS.healthCheckMillis();
    world.says(world.beat(W1, session));
    world.passCheck(W1);
    assertThat(world.state("w1")).isEqualTo(State.HEALTHY);
  }

  @Test
  void aWorkerThatSaysItIsIllOrDrainsGetsNothingNew() {
    long session = world.healthy(W1);
    world.says(world.beat(W1, session, false, false, facts(W1, Versions.OURS)));
    assertThat(world.state("w1")).isEqualTo(State.UNHEALTHY);
    assertThat(world.info("w1").note()).isEqualTo("disk full");
    world.says(world.beat(W1, session, true, true, facts(W1, Versions.OURS)));
    assertThat(world.state("w1")).isEqualTo(State.DRAINING);

    world.side.start(world.launch("a", W1), world.now);

    assertThat(world.ends).singleElement().matches(e -> e.kind() == Kind.NOT_STARTED);
  }

  @Test
  void anOperatorsHoldsAreShownAndTold() {
    long session = world.healthy(W1);
    world.side.holds(Set.of("w1"), Set.of("w1"), world.now);
    world.side.step(world.now);

    assertThat(world.state("w1")).isEqualTo(State.DRAINING);
    assertThat(world.info("w1").cordoned()).isTrue();
    assertThat(world.says(world.beat(W1, session)).drain()).isTrue();
    world.side.holds(Set.of(), Set.of(), world.now);
    assertThat(world.state("w1")).isEqualTo(State.HEALTHY);
  }

  // ---- leadership

  @Test
  void beforeItIsOpenAndOnceItsLeadershipIsOverNobodyIsAnsweredAndNothingIsSent() {
    SchedulerWorld closed = new SchedulerWorld();
    assertThat(closed.says(closed.hello(W1, List.of(), List.of())).verdict())
        .isEqualTo(Verdict.NOT_LEADER);

    long session = world.healthy(W1);
    world.side.start(world.launch("a", W1), world.now);
    world.side.leadershipValidUntil(world.now);
    int sent = world.sent.size();

    assertThat(world.side.step(world.now)).isEqualTo(Long.MAX_VALUE);
    assertThat(world.sent).hasSize(sent);
    assertThat(world.says(world.beat(W1, session)).verdict()).isEqualTo(Verdict.NOT_LEADER);
    assertThat(world.report(W1).accepted()).isFalse();
    world.after(10 * TIMERS.lostMillis());
    assertThat(world.ends).isEmpty();
  }

  @Test
  void aWorkerThatKnowsANewerEpochIsNotAnswered() {
    Heartbeat hello = world.hello(W1, List.of(), List.of());
    Heartbeat newer =
        new Heartbeat(
            W1,
            hello.number(),
            SchedulerWorld.EPOCH + 1,
            0,
            hello.facts(),
            false,
            true,
            "",
            0,
            0,
            List.of(),
            List.of());

    assertThat(world.says(newer).verdict()).isEqualTo(Verdict.NOT_LEADER);
  }

  @Test
  void w25UnfitTimersAreRefusedAtOnce() {
    ProtocolTimers good = ProtocolTimers.BALANCED;
    java.util.Map<String, Long> values = new java.util.HashMap<>(good.values());
    values.put("margin", 1L);

    assertThatThrownBy(
            () -> new SchedulerSide(1, ProtocolTimers.of(values), SchedulerSide.Past.KNOWN, world))
        .hasMessageContaining("margin");
  }

  // ---- starts

  @Test
  void startsOfOneStepGoInOneBatchAndEachIsSentOnce() {
    world.healthy(W1);
    int before = world.sent.size();
    for (int i = 0; i < 5; i++) {
      world.side.start(world.launch("n" + i, W1), world.now);
    }
    world.side.step(world.now);
    world.side.start(world.launch("later", W1), world.now);
    world.side.step(world.now);

    assertThat(world.sent).hasSize(before + 1);
    assertThat(world.last().starts()).hasSize(5);
    world.accept(world.last());
    assertThat(world.last().starts()).singleElement().matches(l -> l.node().equals("later"));
    world.accept(world.last());
    world.after(10_000);
    assertThat(world.sent.subList(before, world.sent.size()))
        .flatExtracting(Work::starts)
        .extracting(Launch::node)
        .doesNotHaveDuplicates();
  }

  @Test
  void aRefusalIsNoAttemptAndSaysWhenToTryAgain() {
    world.healthy(W1);
    world.side.start(world.launch("a", W1), world.now);
    world.side.step(world.now);
    world.answer(world.last(), StartAnswer.refused("full", 5_000), RunState.RUNNING);

    TaskEnd end = world.ends.get(0);
    assertThat(end.kind()).isEqualTo(Kind.NOT_STARTED);
    assertThat(end.message()).isEqualTo("full");
    assertThat(end.retryAfterMillis()).isEqualTo(5_000);
  }

  @Test
  void aBatchThatForCertainWasNotSentStartsNothing() {
    world.healthy(W1);
    world.side.start(world.launch("a", W1), world.now);
    world.side.step(world.now);
    world.fail(world.last(), false);

    assertThat(world.ends).singleElement().matches(e -> e.kind() == Kind.NOT_STARTED);
  }

  @Test
  void w5AStartOfUnknownOutcomeIsAskedForWithDoublingPausesAndNeverSentAgain() {
    long session = world.healthy(W1);
    Launch task = world.launch("a", W1);
    world.side.start(task, world.now);
    world.side.step(world.now);
    world.fail(world.last(), true);
    List<Long> asked = new ArrayList<>();
    int seen = world.sent.size();
    for (int second = 0; second < 200; second++) {
      world.now += 1_000;
      world.says(world.beat(W1, session));
      for (; seen < world.sent.size(); seen++) {
        Work work = world.sent.get(seen);
        assertThat(work.starts()).noneMatch(l -> l.node().equals("a"));
        if (!work.asks().isEmpty()) {
          asked.add((world.now - 1_000_000) / 1_000);
        }
        world.fail(work, true);
      }
    }

    assertThat(asked.subList(0, 5)).containsExactly(1L, 3L, 7L, 15L, 31L);
    assertThat(asked.get(asked.size() - 1) - asked.get(asked.size() - 2))
        .isEqualTo(TIMERS.askMaxMillis() / 1000);
    assertThat(world.state("w1")).isEqualTo(State.UNHEALTHY);
    assertThat(world.info("w1").note()).contains("cannot be reached");
    assertThat(world.ends).isEmpty();
  }

  @Test
  void w5NotRunningIsFinalAndRunningIsBelieved() {
    world.healthy(W1);
    for (RunState state : List.of(RunState.RUNNING, RunState.ENDED, RunState.NOT_RUNNING)) {
      world.side.start(world.launch("a" + state, W1), world.now);
      world.side.step(world.now);
      world.fail(world.last(), true);
      world.after(TIMERS.askFirstMillis());
      assertThat(world.last().asks()).hasSize(1);
      world.answer(world.last(), StartAnswer.ACCEPTED, state);
    }

    assertThat(world.ends)
        .singleElement()
        .matches(e -> e.kind() == Kind.NOT_STARTED && e.node().equals("aNOT_RUNNING"));
  }

  @Test
  void anAnswerThatAnotherCopyWasActedOnSaysNothing() {
    world.healthy(W1);
    Launch task = world.launch("a", W1);
    world.side.start(task, world.now);
    world.side.step(world.now);
    Work work = world.last();
    world.side.answered(
        W1, WorkAnswer.not(work.number(), WorkAnswer.Verdict.OLD, SchedulerWorld.EPOCH), world.now);
    world.side.step(world.now);

    assertThat(world.ends).isEmpty();
    world.after(TIMERS.askFirstMillis());
    assertThat(world.last().asks()).containsExactly(RunId.of(task));
  }

  @Test
  void aTaskThatWasConfirmedAndIsNotKnownAnyMoreIsLostNotUnstarted() {
    world.healthy(W1);
    world.runs("a", W1);
    world.says(world.hello(W1, List.of(), List.of()));
    assertThat(world.last().asks()).hasSize(1);
    world.answer(world.last(), StartAnswer.ACCEPTED, RunState.NOT_RUNNING);

    assertThat(world.ends).singleElement().matches(e -> e.kind() == Kind.LOST);
  }

  @Test
  void aStartForAWorkerThatIsGoneIsGivenBack() {
    world.side.start(world.launch("a", W1), world.now);

    assertThat(world.ends)
        .singleElement()
        .matches(e -> e.kind() == Kind.NOT_STARTED)
        .matches(e -> String.valueOf(e.message()).contains("gone"));
  }

  // ---- reports

  @Test
  void w6AnEndIsAcknowledgedOnlyOnceItIsDurable() {
    world.healthy(W1);
    Launch task = world.runs("a", W1);
    TaskEnd done = end(task, Kind.EXITED, "done");

    assertThat(world.report(W1, done).settled()).isEmpty();
    assertThat(world.ends).containsExactly(done);
    assertThat(world.report(W1, done).settled()).isEmpty();
    assertThat(world.ends).containsExactly(done);
    world.side.recorded(RunId.of(task), world.now);
    world.side.step(world.now);
    assertThat(world.last().settled()).containsExactly(RunId.of(task));
    assertThat(world.report(W1, done).settled()).containsExactly(RunId.of(task));
    assertThat(world.late).isEmpty();
  }

  @Test
  void w6WhatAnotherWorkerRunsNobodyElseCanEnd() {
    WorkerRef liar = ref("w2", 1);
    world.healthy(W1);
    world.healthy(liar);
    Launch task = world.runs("a", W1);

    assertThat(world.report(liar, end(task, Kind.EXITED, "done")).settled()).hasSize(1);
    assertThat(world.ends).isEmpty();
    assertThat(world.warnings).anyMatch(w -> w.contains("w2"));
  }

  @Test
  void w16AndW17TheResultOfATaskThatWasTakenForDeadIsHistoryOnceThatIsDurable() {
    world.healthy(W1);
    Launch task = world.runs("a", W1);
    world.after(TIMERS.lostMillis());
    TaskEnd done = end(task, Kind.EXITED, "done");

    assertThat(world.report(W1, done).settled()).isEmpty();
    world.side.recorded(RunId.of(task), world.now);
    assertThat(world.report(W1, done).settled()).containsExactly(RunId.of(task));
    assertThat(world.late).containsExactly(done);
    assertThat(world.ends).singleElement().matches(e -> e.kind() == Kind.LOST);
  }

  @Test
  void anEndOfANewerEpochIsNotOursToAcknowledge() {
    RunId newer = new RunId("job", "a", new io.espalier.core.running.Invocation(99, 1, world.now));

    assertThat(world.report(W1, end(newer, Kind.EXITED, "done")).accepted()).isFalse();
    assertThat(world.late).isEmpty();
  }

  // ---- kills

  @Test
  void w24AKillIsRepeatedUntilTheWorkerHasIt() {
    world.healthy(W1);
    Launch task = world.runs("a", W1);
    assertThat(world.side.kill(RunId.of(task), KILL, world.now)).isTrue();
    world.side.step(world.now);
    Order order = world.last().orders().get(0);
    assertThat(order.kill()).isEqualTo(KILL);
    world.fail(world.last(), true);
    world.after(TIMERS.askFirstMillis());

    assertThat(world.last().orders()).containsExactly(order);
    world.side.kill(RunId.of(task), KILL, world.now);
    world.accept(world.last());
    assertThat(world.last().orders())
        .singleElement()
        .matches(next -> next.number() > order.number());
    world.accept(world.last());
    int sent = world.sent.size();
    world.after(1);
    assertThat(world.sent).hasSize(sent);
  }

  @Test
  void w24AKillWaitsUntilItIsKnownWhetherTheTaskRunsAndATaskThatWasNotSentIsNotSent() {
    world.healthy(W1);
    Launch first = world.launch("a", W1);
    world.side.start(first, world.now);
    world.side.step(world.now);
    world.side.kill(RunId.of(first), KILL, world.now);
    Launch second = world.launch("b", W1);
    world.side.start(second, world.now);
    world.side.kill(RunId.of(second), KILL, world.now);
    world.side.step(world.now);
    assertThat(world.last().orders()).isEmpty();
    world.accept(world.last());

    assertThat(world.last().starts()).isEmpty();
    assertThat(world.last().orders()).hasSize(1);
    assertThat(world.ends)
        .singleElement()
        .matches(e -> e.kind() == Kind.KILLED && e.node().equals("b"));
    assertThat(world.side.kill(RunId.of(second), KILL, world.now)).isFalse();
  }

  @Test
  void anExtensionGoesToTheTaskOnce() {
    world.healthy(W1);
    Launch task = world.runs("a", W1);
    assertThat(world.side.extend(RunId.of(task), 60_000, world.now)).isTrue();
    world.side.step(world.now);

    assertThat(world.last().orders())
        .singleElement()
        .matches(o -> o.extendMillis() == 60_000 && o.kill() == null);
  }

  // ---- take-over

  @Test
  void w18UnconfirmedInvocationsAreTakenForDeadOnlyAfterAWholeLeaseAndMargin() {
    SchedulerWorld successor = new SchedulerWorld();
    successor.side.resume(List.of(assignment("a", 1, W1)), successor.now);
    assertThat(successor.side.unconfirmed()).isEqualTo(1);
    successor.after(TIMERS.takeoverMillis() - 1);
    assertThat(successor.ends).isEmpty();
    successor.after(1);

    assertThat(successor.ends).singleElement().matches(e -> e.kind() == Kind.LOST);
    assertThat(successor.side.unconfirmed()).isZero();
  }

  @Test
  void aWorkerThatComesBackWithItsTasksConfirmsThemAndTheOthersAreAskedFor() {
    Assignment runs = assignment("a", 1, W1);
    Assignment never = assignment("b", 2, W1);
    SchedulerWorld successor = new SchedulerWorld();
    successor.side.resume(List.of(runs, never), successor.now);
    successor.says(successor.hello(W1, List.of(id(runs)), List.of()));

    assertThat(successor.last().asks()).containsExactly(id(never));
    successor.answer(successor.last(), StartAnswer.ACCEPTED, RunState.NOT_RUNNING);
    assertThat(successor.ends)
        .singleElement()
        .matches(e -> e.kind() == Kind.NOT_STARTED && e.node().equals("b"));
    successor.now += 1_000;
    TaskEnd done = end(id(runs), Kind.EXITED, "done");
    successor.report(W1, done);
    assertThat(successor.ends).contains(done);
  }

  @Test
  void anEndMayBeReportedBeforeTheWorkerIsRegistered() {
    Assignment ran = assignment("a", 1, W1);
    SchedulerWorld successor = new SchedulerWorld();
    successor.side.resume(List.of(ran), successor.now);
    TaskEnd done = end(id(ran), Kind.EXITED, "done");

    assertThat(successor.report(W1, done).accepted()).isTrue();
    assertThat(successor.ends).containsExactly(done);
    successor.after(TIMERS.takeoverMillis());
    assertThat(successor.ends).containsExactly(done);
  }

  @Test
  void aRestartedWorkerEndsWhatItsPredecessorRan() {
    SchedulerWorld successor = new SchedulerWorld();
    successor.side.resume(
        List.of(assignment("a", 1, W1), assignment("b", 2, ref("w2", 1))), successor.now);
    successor.says(successor.hello(W1_AGAIN, List.of(), List.of(11L)));

    assertThat(successor.ends)
        .singleElement()
        .matches(e -> e.kind() == Kind.LOST && e.node().equals("a"));
  }

  @Test
  void aTaskThatNobodyMayRunIsOrderedToDie() {
    RunId stranger =
        new RunId("job", "x", new io.espalier.core.running.Invocation(1, 9, world.now));
    world.says(world.hello(W1, List.of(stranger), List.of()));

    assertThat(world.last().orders()).singleElement().matches(o -> o.run().equals(stranger));
    assertThat(world.warnings).anyMatch(w -> w.contains("x"));
  }

  @Test
  void w10AndW11WithAStoreThatForgetsNobodyGetsTasksBeforeTheSafeWaitIsOver() {
    SchedulerWorld forgetful = new SchedulerWorld(SchedulerSide.Past.UNKNOWN);
    forgetful.side.resume(List.of(), forgetful.now);
    long ends = forgetful.now + TIMERS.takeoverMillis();
    assertThat(forgetful.side.safeWaitEndsMillis()).isEqualTo(ends);
    RunId unknown =
        new RunId("job", "x", new io.espalier.core.running.Invocation(1, 9, forgetful.now));
    assertThat(forgetful.says(forgetful.hello(W1, List.of(unknown), List.of())).verdict())
        .isEqualTo(Verdict.STOP_ALL);
    long session = forgetful.healthy(W1);
    assertThat(forgetful.state("w1")).isEqualTo(State.NEW);
    assertThat(forgetful.info("w1").note()).contains("safe wait");
    while (forgetful.now < ends - 10_000) {
      forgetful.now += 10_000;
      forgetful.says(forgetful.beat(W1, session));
      if (!forgetful.last().starts().isEmpty()) {
        forgetful.passCheck(W1);
      }
    }
    forgetful.now = ends - 1;
    forgetful.says(forgetful.beat(W1, session));
    assertThat(forgetful.state("w1")).isEqualTo(State.NEW);
    forgetful.after(1);

    assertThat(forgetful.state("w1")).isEqualTo(State.HEALTHY);
    assertThat(forgetful.side.safeWaitEndsMillis()).isZero();
  }

  @Test
  void w11TheSafeWaitShowsItsEndAndIsLeftEarlyByAnOperatorsWordOnly() {
    SchedulerWorld forgetful = new SchedulerWorld(SchedulerSide.Past.UNKNOWN);
    forgetful.side.resume(List.of(), forgetful.now);
    forgetful.healthy(W1);
    assertThat(forgetful.info("w1").note()).startsWith("safe wait until ");
    forgetful.side.endSafeWait(forgetful.now);
    forgetful.after(1);
    assertThat(forgetful.state("w1")).isEqualTo(State.HEALTHY);
    assertThat(forgetful.side.safeWaitEndsMillis()).isZero();
  }

  @Test
  void aReplacedWorkerMayBeLostInTheVeryStepInWhichTheSafeWaitEnds() {
    SchedulerWorld forgetful = new SchedulerWorld(SchedulerSide.Past.UNKNOWN);
    forgetful.side.resume(List.of(), forgetful.now);
    forgetful.healthy(W1);
    forgetful.after(TIMERS.unhealthyMillis());
    WorkerRef newcomer = SchedulerWorld.ref("w1", 77);
    forgetful.healthy(newcomer);
    forgetful.healthy(SchedulerWorld.ref("w2", 78));

    // The scheduler was stopped all the while; found by the simulation.
    forgetful.after(TIMERS.takeoverMillis());

    assertThat(forgetful.side.workers()).extracting(WorkerInfo::ref).contains(newcomer);
    assertThat(forgetful.side.safeWaitEndsMillis()).isZero();
  }

  // ---- copies and order

  @Test
  void aCopyOfARegistrationGetsTheSameSessionAndAnOldOneNothing() {
    Heartbeat first = world.hello(W1, List.of(), List.of());
    long session = world.says(first).session();
    assertThat(world.says(first).session()).isEqualTo(session);
    world.says(world.beat(W1, session));

    assertThat(world.says(first).verdict()).isEqualTo(Verdict.REFUSED);
    assertThat(world.says(world.beat(W1, session)).verdict()).isEqualTo(Verdict.ACCEPTED);
  }

  @Test
  void thePoolIsPublishedWhenPlacementMustKnowAndOnlyThen() {
    long session = world.healthy(W1);
    int published = world.published;
    world.now += 1_000;
    world.says(world.beat(W1, session));
    world.says(world.beat(W1, session));

    assertThat(world.published).isEqualTo(published);
  }
}
