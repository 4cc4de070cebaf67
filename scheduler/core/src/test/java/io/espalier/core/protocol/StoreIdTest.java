package io.espalier.core.protocol;

import static io.espalier.core.protocol.SchedulerWorld.EPOCH;
import static io.espalier.core.protocol.SchedulerWorld.TIMERS;
import static io.espalier.core.protocol.SchedulerWorld.facts;
import static io.espalier.core.protocol.SchedulerWorld.ref;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.protocol.HeartbeatResponse.Verdict;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Workers of another store, of a later leader, and of a scheduler that a new store cannot know. */
class StoreIdTest {
  private static final WorkerRef W1 = ref("w1", 11);
  private static final WorkerRef W2 = ref("w2", 22);

  private final SchedulerWorld world = open(SchedulerProtocol.Past.KNOWN);

  private static SchedulerWorld open(SchedulerProtocol.Past past) {
    SchedulerWorld opened = new SchedulerWorld(past, "ours");
    opened.side.resume(List.of(), opened.now);
    return opened;
  }

  private static Heartbeat of(Heartbeat heartbeat, long epoch, String storeId) {
    return SchedulerWorld.heartbeat(heartbeat, epoch, heartbeat.facts(), storeId);
  }

  private Heartbeat hello(WorkerRef worker, long epoch, String storeId) {
    return of(world.hello(worker, List.of(), List.of()), epoch, storeId);
  }

  // ---- foreign stores

  @ParameterizedTest
  @ValueSource(longs = {0, EPOCH - 1, EPOCH, EPOCH + 35})
  void aWorkerOfAnotherStoreIsRefusedWithAClearProblemAndChangesNothing(long epoch) {
    long session = world.healthy(W1);
    LaunchSpec task = world.runs("a", W1);

    // It even has the name of ours, and says that ours is dead.
    HeartbeatResponse answer =
        world.says(of(world.hello(ref("w1", 99), List.of(), List.of(11L)), epoch, "theirs"));

    assertThat(answer.verdict()).isEqualTo(Verdict.REFUSED);
    assertThat(answer.storeId()).isEqualTo("ours");
    assertThat(answer.message()).contains("theirs", "ours", "start the worker again");
    assertThat(world.side.problem(world.now)).get().asString().contains("w1", "theirs");
    assertThat(world.ends).isEmpty();
    assertThat(world.heard).isEmpty();
    assertThat(world.says(world.beat(W1, session)).verdict()).isEqualTo(Verdict.ACCEPTED);
    assertThat(world.side.mayBeAlive(RunId.of(task))).isTrue();
    world.side.step(world.now + TIMERS.lostMillis());
    assertThat(world.side.problem(world.now + TIMERS.lostMillis()))
        .hasValueSatisfying(problem -> assertThat(problem).doesNotContain("theirs"));
  }

  @Test
  void theEndsThatItReportsAreNotAcknowledged() {
    world.healthy(W1);
    TaskResult end =
        SchedulerWorld.end(
            new RunId("job", "n", new io.espalier.core.running.Invocation(1, 1, 1)),
            TaskResult.Kind.EXITED,
            "done");

    ReportResponse answer =
        world.side.report(new Report(W2, 1, List.of(end), List.of(), List.of(), "theirs"), 0);

    assertThat(answer.accepted()).isFalse();
    assertThat(answer.settled()).isEmpty();
    assertThat(world.late).isEmpty();
  }

  @Test
  void itIsWarnedOfOnceAndNotWithEachHeartbeat() {
    for (int i = 0; i < 5; i++) {
      world.says(hello(W2, 0, "theirs"));
      world.after(1_000);
    }
    assertThat(world.warnings).hasSize(1);
  }

  @Test
  void aWorkerOfTheReleaseBeforeWhichKnowsNoStoreIsServed() {
    long session = world.healthy(W1);
    assertThat(world.says(world.beat(W1, session)).verdict()).isEqualTo(Verdict.ACCEPTED);
    assertThat(world.state("w1")).isEqualTo(WorkerInfo.State.HEALTHY);
  }

  // ---- later leaders

  @Test
  void aWorkerOfALaterLeaderOfTheSameStoreEndsAllAnswersAndStarts() {
    long session = world.healthy(W1);
    world.side.start(world.launch("a", W1), world.now);
    int sent = world.sent.size();

    assertThat(world.says(hello(W2, EPOCH + 1, "ours")).verdict()).isEqualTo(Verdict.NOT_LEADER);

    assertThat(world.heard).containsExactly(EPOCH + 1);
    assertThat(world.says(world.beat(W1, session)).verdict()).isEqualTo(Verdict.NOT_LEADER);
    assertThat(world.side.step(world.now)).isEqualTo(Long.MAX_VALUE);
    assertThat(world.sent).hasSize(sent);
    world.says(hello(W2, EPOCH + 2, "ours"));
    assertThat(world.heard).hasSize(1);
  }

  @Test
  void ofALaterLeaderOfAnUnknownStoreNothingIsBelieved() {
    long session = world.healthy(W1);

    assertThat(world.says(hello(W2, EPOCH + 1, "")).verdict()).isEqualTo(Verdict.NOT_LEADER);

    assertThat(world.heard).isEmpty();
    assertThat(world.side.problem(world.now)).get().asString().contains("w2", "has led since");
    assertThat(world.says(world.beat(W1, session)).verdict()).isEqualTo(Verdict.ACCEPTED);
  }

  @Test
  void anEpochThatNoStoreCanHaveReachedIsNoEvidence() {
    assertThat(world.says(hello(W2, Long.MAX_VALUE, "ours")).verdict())
        .isEqualTo(Verdict.NOT_LEADER);
    assertThat(world.heard).isEmpty();
  }

  // ---- new stores

  @Test
  void aNewStoreWaitsForNothingAsLongAsNothingShowsAnEarlierScheduler() {
    SchedulerWorld fresh = open(SchedulerProtocol.Past.NEW);
    fresh.healthy(W1);
    assertThat(fresh.state("w1")).isEqualTo(WorkerInfo.State.HEALTHY);
    assertThat(fresh.side.safeWaitEndsMillis()).isZero();
  }

  @Test
  void aNewStoreKnowsTheLeadershipsThatItHasHadItself() {
    SchedulerWorld fresh = open(SchedulerProtocol.Past.NEW);
    RunId ofBefore =
        new RunId("job", "z", new io.espalier.core.running.Invocation(EPOCH - 1, 1, 1));

    HeartbeatResponse answer =
        fresh.says(of(fresh.hello(W2, List.of(ofBefore), List.of()), EPOCH - 1, "ours"));

    assertThat(answer.verdict()).isEqualTo(Verdict.ACCEPTED);
    assertThat(fresh.side.safeWaitEndsMillis()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"epoch", "run", "store"})
  void aNewStoreWaitsSafelyOnceAWorkerShowsAnEarlierScheduler(String evidence) {
    SchedulerWorld fresh = open(SchedulerProtocol.Past.NEW);
    fresh.healthy(W1);
    LaunchSpec unsent = fresh.launch("a", W1);
    fresh.side.start(unsent, fresh.now);
    RunId stranger =
        new RunId("job", "z", new io.espalier.core.running.Invocation(EPOCH - 1, 1, 1));
    Heartbeat hello =
        fresh.hello(W2, evidence.equals("run") ? List.of(stranger) : List.of(), List.of());

    HeartbeatResponse answer =
        fresh.says(
            of(
                hello,
                evidence.equals("epoch") ? EPOCH - 1 : 0,
                evidence.equals("store") ? "theirs" : ""));

    assertThat(answer.verdict())
        .isEqualTo(
            switch (evidence) {
              case "run" -> Verdict.STOP_ALL;
              case "store" -> Verdict.REFUSED;
              default -> Verdict.ACCEPTED;
            });
    assertThat(fresh.side.safeWaitEndsMillis()).isEqualTo(fresh.now + TIMERS.takeoverMillis());
    assertThat(fresh.state("w1")).isEqualTo(WorkerInfo.State.NEW);
    assertThat(fresh.info("w1").note()).contains("safe wait");
    assertThat(fresh.ends)
        .singleElement()
        .matches(
            end ->
                end.kind() == TaskResult.Kind.NOT_STARTED
                    && RunId.of(end).equals(RunId.of(unsent)));

    // W1 goes on answering all the while, and gets tasks again when the wait is over.
    long ends = fresh.side.safeWaitEndsMillis();
    long session = fresh.says(fresh.hello(W1, List.of(), List.of())).session();
    while (fresh.now < ends) {
      fresh.says(fresh.beat(W1, session, true, false, facts(W1, Versions.OURS)));
      fresh.after(Math.min(10_000, ends - fresh.now));
      if (!fresh.last().starts().isEmpty() && HealthCheck.is(fresh.last().starts().get(0).job())) {
        fresh.passCheck(W1);
      }
    }
    assertThat(fresh.state("w1")).isEqualTo(WorkerInfo.State.HEALTHY);
    assertThat(fresh.side.safeWaitEndsMillis()).isZero();
  }
}
