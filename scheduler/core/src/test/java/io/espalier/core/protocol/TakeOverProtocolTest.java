package io.espalier.core.protocol;

import static io.espalier.core.protocol.SchedulerWorld.TIMERS;
import static io.espalier.core.protocol.SchedulerWorld.assignment;
import static io.espalier.core.protocol.SchedulerWorld.end;
import static io.espalier.core.protocol.SchedulerWorld.id;
import static io.espalier.core.protocol.SchedulerWorld.ref;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.protocol.HeartbeatResponse.Verdict;
import io.espalier.core.protocol.WorkResponse.RunState;
import io.espalier.core.protocol.WorkResponse.StartAnswer;
import io.espalier.core.running.Assignment;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.TaskResult.Kind;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerInfo.State;
import io.espalier.core.running.WorkerRef;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * A scheduler that begins to lead, leads, and leads no more. W numbers:
 * docs/workers-conformance.md.
 */
class TakeOverProtocolTest {
  private static final WorkerRef W1 = ref("w1", 11);
  private static final WorkerRef W1_AGAIN = ref("w1", 12);

  private final SchedulerWorld world = SchedulerWorld.open();

  // ---- leadership

  @Test
  void beforeItIsOpenAndOnceItsLeadershipIsOverNobodyIsAnsweredAndNothingIsSent() {
    SchedulerWorld closed = new SchedulerWorld();
    assertThat(closed.says(closed.hello(W1, List.of(), List.of())).verdict())
        .isEqualTo(Verdict.NOT_LEADER);

    long session = world.healthy(W1);
    world.side.start(world.launch("a", W1), world.now);
    world.leads = false;
    int sent = world.sent.size();

    assertThat(world.side.step(world.now)).isGreaterThan(world.now);
    assertThat(world.sent).hasSize(sent);
    assertThat(world.says(world.beat(W1, session)).verdict()).isEqualTo(Verdict.NOT_LEADER);
    assertThat(world.report(W1).accepted()).isFalse();
    world.after(10 * TIMERS.lostMillis());
    assertThat(world.ends).isEmpty();
  }

  @Test
  void aWorkerThatKnowsANewerEpochIsNotAnswered() {
    Heartbeat hello = world.hello(W1, List.of(), List.of());
    Heartbeat newer = SchedulerWorld.heartbeat(hello, SchedulerWorld.EPOCH + 1, hello.facts(), "");

    assertThat(world.says(newer).verdict()).isEqualTo(Verdict.NOT_LEADER);
  }

  @Test
  void w25UnfitTimersAreRefusedAtOnce() {
    ProtocolTimers good = ProtocolTimers.BALANCED;
    Map<String, Long> values = new HashMap<>(good.values());
    values.put("margin", 1L);

    assertThatThrownBy(
            () ->
                new SchedulerProtocol(
                    LeadershipTerm.alone(1, ""),
                    ProtocolTimers.of(values),
                    SchedulerProtocol.Past.KNOWN,
                    world))
        .hasMessageContaining("margin");
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
  void aWorkerThatHasNotHeardOurAnswerIsLostNoSoonerThanItsEarlierLeaseHasEnded() {
    Assignment runs = assignment("a", 1, W1);
    SchedulerWorld successor =
        new SchedulerWorld(
            SchedulerProtocol.Past.KNOWN,
            "",
            ProtocolTimers.QUICK.outwaiting(ProtocolTimers.PATIENT.lostMillis()));
    successor.side.resume(List.of(runs), successor.now);
    successor.says(successor.hello(W1, List.of(id(runs)), List.of()));

    successor.after(ProtocolTimers.PATIENT.lostMillis() - 1);
    assertThat(successor.ends).isEmpty();
    successor.after(1);
    assertThat(successor.ends).singleElement().matches(e -> e.kind() == Kind.LOST);
  }

  @Test
  void aWorkerThatHasHeardOurAnswerHasOurLease() {
    Assignment runs = assignment("a", 1, W1);
    SchedulerWorld successor =
        new SchedulerWorld(
            SchedulerProtocol.Past.KNOWN,
            "",
            ProtocolTimers.QUICK.outwaiting(ProtocolTimers.PATIENT.lostMillis()));
    successor.side.resume(List.of(runs), successor.now);
    long session = successor.says(successor.hello(W1, List.of(id(runs)), List.of())).session();
    successor.says(successor.beat(W1, session));

    successor.after(ProtocolTimers.QUICK.lostMillis() - 1);
    assertThat(successor.ends).isEmpty();
    successor.after(1);
    assertThat(successor.ends).singleElement().matches(e -> e.kind() == Kind.LOST);
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
    TaskResult done = end(id(runs), Kind.EXITED, "done");
    successor.report(W1, done);
    assertThat(successor.ends).contains(done);
  }

  @Test
  void anEndMayBeReportedBeforeTheWorkerIsRegistered() {
    Assignment ran = assignment("a", 1, W1);
    SchedulerWorld successor = new SchedulerWorld();
    successor.side.resume(List.of(ran), successor.now);
    TaskResult done = end(id(ran), Kind.EXITED, "done");

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
    SchedulerWorld forgetful = new SchedulerWorld(SchedulerProtocol.Past.UNKNOWN);
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
    SchedulerWorld forgetful = new SchedulerWorld(SchedulerProtocol.Past.UNKNOWN);
    forgetful.side.resume(List.of(), forgetful.now);
    forgetful.healthy(W1);
    assertThat(forgetful.info("w1").note()).startsWith("safe wait until ");
    forgetful.side.endSafeWait(forgetful.now);
    forgetful.after(1);
    assertThat(forgetful.state("w1")).isEqualTo(State.HEALTHY);
    assertThat(forgetful.side.safeWaitEndsMillis()).isZero();
  }

  @Test
  void theSafeWaitDoesNotHideRefusedWorkers() {
    SchedulerWorld forgetful = new SchedulerWorld(SchedulerProtocol.Past.UNKNOWN, "ours");
    forgetful.side.resume(List.of(), forgetful.now);
    Heartbeat hello = forgetful.hello(W1, List.of(), List.of());
    forgetful.says(SchedulerWorld.heartbeat(hello, SchedulerWorld.EPOCH, hello.facts(), "another"));

    assertThat(forgetful.side.problem(forgetful.now))
        .get()
        .asString()
        .startsWith("safe wait until ")
        .contains("; worker w1 is refused: ");
  }

  @Test
  void aReplacedWorkerMayBeLostInTheVeryStepInWhichTheSafeWaitEnds() {
    SchedulerWorld forgetful = new SchedulerWorld(SchedulerProtocol.Past.UNKNOWN);
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
}
