package io.espalier.core.protocol;

import static io.espalier.core.protocol.SchedulerWorld.TIMERS;
import static io.espalier.core.protocol.SchedulerWorld.end;
import static io.espalier.core.protocol.SchedulerWorld.ref;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.json.Json;
import io.espalier.core.protocol.WorkResponse.RunState;
import io.espalier.core.protocol.WorkResponse.StartAnswer;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.TaskResult.Kind;
import io.espalier.core.running.WorkerInfo.State;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.ProgressParser;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What becomes of starts, ends and kills. W numbers: docs/workers-conformance.md. */
class SchedulerProtocolTest {
  private static final WorkerRef W1 = ref("w1", 11);
  private static final KillRequest KILL = new KillRequest(KillRequest.Method.KILL, 0);

  private final SchedulerWorld world = SchedulerWorld.open();

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
        .flatExtracting(WorkBatch::starts)
        .extracting(LaunchSpec::node)
        .doesNotHaveDuplicates();
  }

  @Test
  void theEndOfAMessageCutsNoBatchOfTasks() {
    world.healthy(W1);
    for (int i = 0; i < 600; i++) {
      long batch = 1L + i / 200;
      world.side.start(world.launch("n" + i, W1).with(launch -> launch.batch(batch)), world.now);
    }
    world.side.step(world.now);
    assertThat(world.last().starts()).hasSize(400);
    world.accept(world.last());
    assertThat(world.last().starts()).hasSize(200);
  }

  @Test
  void aRefusalIsNoAttemptAndSaysWhenToTryAgain() {
    world.healthy(W1);
    world.side.start(world.launch("a", W1), world.now);
    world.side.step(world.now);
    world.answer(world.last(), StartAnswer.refused("full", 5_000), RunState.RUNNING);

    TaskResult end = world.ends.get(0);
    assertThat(end.kind()).isEqualTo(Kind.NOT_STARTED);
    assertThat(end.message()).isEqualTo("full");
    assertThat(end.retryAfterMillis()).isEqualTo(5_000);
  }

  @Test
  void aStartIsConfirmedOnceWhenItsWorkerHasItHoweverThatIsLearned() {
    world.healthy(W1);
    assertThat(world.started).as("health checks are no tasks").isEmpty();
    LaunchSpec answered = world.runs("answered", W1);
    world.side.start(world.launch("refused", W1), world.now);
    world.side.step(world.now);
    world.answer(world.last(), StartAnswer.refused("full", 5_000), RunState.RUNNING);
    LaunchSpec unsure = world.launch("unsure", W1);
    world.side.start(unsure, world.now);
    world.side.step(world.now);
    world.fail(world.last(), true);
    assertThat(world.started).containsExactly("answered");
    world.says(world.hello(W1, List.of(RunId.of(answered), RunId.of(unsure)), List.of()));
    assertThat(world.started).containsExactly("answered", "unsure");
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
    LaunchSpec task = world.launch("a", W1);
    world.side.start(task, world.now);
    world.side.step(world.now);
    world.fail(world.last(), true);
    List<Long> asked = new ArrayList<>();
    int seen = world.sent.size();
    for (int second = 0; second < 200; second++) {
      world.now += 1_000;
      world.says(world.beat(W1, session));
      for (; seen < world.sent.size(); seen++) {
        WorkBatch work = world.sent.get(seen);
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
    LaunchSpec task = world.launch("a", W1);
    world.side.start(task, world.now);
    world.side.step(world.now);
    WorkBatch work = world.last();
    world.side.answered(
        W1,
        WorkResponse.not(work.number(), WorkResponse.Verdict.OLD, SchedulerWorld.EPOCH),
        world.now);
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
    LaunchSpec task = world.runs("a", W1);
    TaskResult done = end(task, Kind.EXITED, "done");

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
  void whatATaskHasSaidLastIsHeardBeforeItsEnd() {
    world.healthy(W1);
    LaunchSpec task = world.runs("a", W1);
    Progress last = ProgressParser.of(Json.object().put("cursor", "7").build());
    Report report =
        new Report(
            W1,
            1_000,
            List.of(end(task, Kind.EXITED, "incomplete")),
            List.of(new Report.ProgressOf(RunId.of(task), last)),
            List.of(),
            "");
    world.side.report(report, world.now);
    assertThat(world.said).containsExactly("progress of a to 7", "end of a");
    world.side.report(report, world.now);
    assertThat(world.said).as("a copy says nothing").hasSize(2);
  }

  @Test
  void aWorkerIsToldToLetGoOfACallWhoseServiceHasReportedItsEnd() {
    world.healthy(W1);
    LaunchSpec task = world.runs("a", W1);
    world.side.letGo(RunId.of(task), world.now);
    assertThat(world.ends).singleElement().matches(e -> e.kind() == Kind.LOST);
    assertThat(world.report(W1, end(task, Kind.EXITED, "done")).settled()).isEmpty();
    world.side.recorded(RunId.of(task), world.now);
    world.side.step(world.now);
    assertThat(world.last().settled()).containsExactly(RunId.of(task));
    assertThat(world.report(W1, end(task, Kind.LOST, "")).settled())
        .as("what it says afterwards is settled without a word")
        .containsExactly(RunId.of(task));
    assertThat(world.ends).hasSize(1);
    assertThat(world.late).isEmpty();
    world.side.letGo(RunId.of(task), world.now);
    assertThat(world.ends).hasSize(1);
  }

  @Test
  void w6WhatAnotherWorkerRunsNobodyElseCanEnd() {
    WorkerRef liar = ref("w2", 1);
    world.healthy(W1);
    world.healthy(liar);
    LaunchSpec task = world.runs("a", W1);

    assertThat(world.report(liar, end(task, Kind.EXITED, "done")).settled()).hasSize(1);
    assertThat(world.ends).isEmpty();
    assertThat(world.warnings).anyMatch(w -> w.contains("w2"));
  }

  @Test
  void w16AndW17TheResultOfATaskThatWasTakenForDeadIsHistoryOnceThatIsDurable() {
    world.healthy(W1);
    LaunchSpec task = world.runs("a", W1);
    world.after(TIMERS.lostMillis());
    TaskResult done = end(task, Kind.EXITED, "done");

    assertThat(world.report(W1, done).settled()).isEmpty();
    world.side.recorded(RunId.of(task), world.now);
    assertThat(world.report(W1, done).settled()).as("not durable yet").isEmpty();
    assertThat(world.report(W1, done).settled()).isEmpty();
    assertThat(world.late).as("told once").containsExactly(done);
    world.side.recorded(RunId.of(task), world.now);
    assertThat(world.report(W1, done).settled()).containsExactly(RunId.of(task));
    assertThat(world.late).hasSize(1);
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
    LaunchSpec task = world.runs("a", W1);
    assertThat(world.side.kill(RunId.of(task), KILL, world.now)).isTrue();
    world.side.step(world.now);
    TaskCommand order = world.last().orders().get(0);
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
    LaunchSpec first = world.launch("a", W1);
    world.side.start(first, world.now);
    world.side.step(world.now);
    world.side.kill(RunId.of(first), KILL, world.now);
    LaunchSpec second = world.launch("b", W1);
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
  void aRecallIsConfirmedWithTheAnswerOfTheWorker() {
    world.healthy(W1);
    LaunchSpec sent = world.launch("a", W1);
    world.side.start(sent, world.now);
    world.side.step(world.now);
    LaunchSpec queued = world.launch("b", W1);
    world.side.start(queued, world.now);
    world.side.recall(RunId.of(sent));
    world.side.recall(RunId.of(queued));
    world.side.step(world.now);
    assertThat(world.ends)
        .singleElement()
        .matches(end -> end.kind() == Kind.NOT_STARTED && end.node().equals("b"));
    world.accept(world.last());
    WorkBatch recall = world.last();
    assertThat(recall.orders()).singleElement().matches(TaskCommand::recall);
    assertThat(world.recalled).isEmpty();

    world.fail(recall, true);
    world.after(TIMERS.askFirstMillis());
    assertThat(world.recalled).isEmpty();
    assertThat(world.last().orders()).isEqualTo(recall.orders());
    world.accept(world.last());
    assertThat(world.recalled).containsExactly("a");
    world.report(W1, SchedulerWorld.end(sent, Kind.NOT_STARTED, ""));
    assertThat(world.ends).last().matches(end -> end.node().equals("a"));
  }

  @Test
  void whatAWorkerDoesNotConfirmIsLostWithItsLease() {
    world.healthy(W1);
    LaunchSpec task = world.runs("a", W1);
    world.side.recall(RunId.of(task));
    world.side.step(world.now);
    world.fail(world.last(), true);
    world.after(TIMERS.lostMillis());
    assertThat(world.recalled).isEmpty();
    assertThat(world.ends).singleElement().matches(end -> end.kind() == Kind.LOST);
  }

  @Test
  void aWorkerOfTheReleaseBeforeConfirmsNoRecall() {
    long session = world.healthy(W1);
    LaunchSpec task = world.runs("a", W1);
    WorkerDescription before =
        WorkerDescription.of("host").address("w1:1").capabilities(Set.of("lease_guard")).build();
    world.says(world.beat(W1, session, true, false, before));
    world.side.recall(RunId.of(task));
    world.side.step(world.now);
    world.accept(world.last());
    assertThat(world.recalled).isEmpty();
    assertThat(world.ends).isEmpty();
  }

  @Test
  void anExtensionGoesToTheTaskOnce() {
    world.healthy(W1);
    LaunchSpec task = world.runs("a", W1);
    assertThat(world.side.extend(RunId.of(task), 60_000, world.now)).isTrue();
    world.side.step(world.now);

    assertThat(world.last().orders())
        .singleElement()
        .matches(o -> o.extendMillis() == 60_000 && o.kill() == null);
  }

  @Test
  void thatNoWorkerIsConnectedIsAProblemOnceWorkersHadTheTimeToRegister() {
    assertThat(world.side.problem(world.now)).isEmpty();
    world.after(TIMERS.lostMillis());
    assertThat(world.side.problem(world.now)).hasValue("no worker is connected: no task can start");

    world.healthy(W1);
    assertThat(world.side.problem(world.now)).isEmpty();

    world.after(TIMERS.lostMillis());
    assertThat(world.state("w1")).isEqualTo(State.LOST);
    assertThat(world.side.problem(world.now)).hasValue("no worker is connected: no task can start");
  }
}
