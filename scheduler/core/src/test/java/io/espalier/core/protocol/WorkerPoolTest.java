package io.espalier.core.protocol;

import static io.espalier.core.protocol.SchedulerWorld.TIMERS;
import static io.espalier.core.protocol.SchedulerWorld.end;
import static io.espalier.core.protocol.SchedulerWorld.facts;
import static io.espalier.core.protocol.SchedulerWorld.ref;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.protocol.HeartbeatResponse.Verdict;
import io.espalier.core.running.HostFigures;
import io.espalier.core.running.HostFigures.Space;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.MeasuredLoad;
import io.espalier.core.running.TaskResult.Kind;
import io.espalier.core.running.WorkerInfo.State;
import io.espalier.core.running.WorkerRef;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Who is in the pool, and how well. W numbers: docs/workers-conformance.md. */
class WorkerPoolTest {
  private static final WorkerRef W1 = ref("w1", 11);
  private static final WorkerRef W1_AGAIN = ref("w1", 12);

  private final SchedulerWorld world = SchedulerWorld.open();

  // ---- registration and health

  @Test
  void w1AndW2ANewWorkerIsHealthyOnceItsHealthCheckCameBackThroughTheTaskPath() {
    HeartbeatResponse answer = world.says(world.hello(W1, List.of(), List.of()));

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
  void aHealthCheckHasTheOptionsThatAreConfiguredForProcesses() {
    SubprocessOptions configured = SubprocessOptions.DEFAULT.withQuota(250, 7);
    world.side.healthCheckOptions(configured);
    world.says(world.hello(W1, List.of(), List.of()));
    assertThat(world.last().starts())
        .singleElement()
        .matches(check -> check.subprocess().equals(configured));
  }

  @Test
  void w2MissedHeartbeatsMakeItUnhealthyAndTheNextOneHealthyWithItsNewFacts() {
    long session = world.healthy(W1);
    world.after(TIMERS.unhealthyMillis());
    assertThat(world.state("w1")).isEqualTo(State.UNHEALTHY);
    assertThat(world.info("w1").note()).contains("nothing was heard");

    WorkerDescription other =
        WorkerDescription.of("host2")
            .address("w1:9")
            .maxTasks(4)
            .physical(Map.of("ram_mb", 7L))
            .build();
    world.says(world.beat(W1, session, true, false, other));

    assertThat(world.state("w1")).isEqualTo(State.HEALTHY);
    assertThat(world.info("w1").host()).isEqualTo("host2");
    assertThat(world.info("w1").maxTasks()).isEqualTo(4);
    assertThat(world.info("w1").physical()).containsEntry("ram_mb", 7L);
  }

  private static WorkerDescription measured(int cpu) {
    return WorkerDescription.of("host")
        .address("w1:1")
        .measured(new MeasuredLoad(100, 100))
        .figures(new HostFigures(cpu, Space.UNKNOWN, Space.UNKNOWN))
        .build();
  }

  @Test
  void whatWorkersMeasureIsToldFromTimeToTimeAndOtherFactsAtOnce() {
    long session = world.healthy(W1);
    world.says(world.beat(W1, session, true, false, measured(100)));
    int before = world.published;
    for (int second = 0; second < 60; second++) {
      world.after(1_000);
      world.says(world.beat(W1, session, true, false, measured(second)));
      assertThat(world.info("w1").figures().load()).isEqualTo(second);
    }
    assertThat(world.published - before).isBetween(60 / 5 - 1, 60 / 5);

    int told = world.published;
    WorkerDescription other = WorkerDescription.of("host2").address("w1:1").build();
    world.says(world.beat(W1, session, true, false, other));
    assertThat(world.published).isEqualTo(told + 1);
  }

  @Test
  void w3AfterLeaseAndMarginItIsLostWithItsTasksAndMustStopThemBeforeItMayComeBack() {
    long session = world.healthy(W1);
    LaunchSpec task = world.runs("a", W1);
    world.after(TIMERS.lostMillis() - 1);
    assertThat(world.ends).isEmpty();
    world.after(1);

    assertThat(world.state("w1")).isEqualTo(State.LOST);
    assertThat(world.ends)
        .singleElement()
        .matches(e -> e.kind() == Kind.LOST && RunId.of(e).equals(RunId.of(task)));
    assertThat(world.says(world.beat(W1, session)).verdict()).isEqualTo(Verdict.STOP_ALL);
    assertThat(world.state("w1")).isEqualTo(State.LOST);
    HeartbeatResponse again = world.says(world.hello(W1, List.of(), List.of()));
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
    HeartbeatResponse refused = world.says(world.hello(W1_AGAIN, List.of(), List.of()));

    assertThat(refused.verdict()).isEqualTo(Verdict.REFUSED);
    assertThat(refused.message()).contains("w1", "another process", "--shard-id");
    world.after(500);
    assertThat(world.says(world.hello(W1_AGAIN, List.of(), List.of())).message())
        .as("a worker logs the same message once")
        .isEqualTo(refused.message());
    assertThat(world.info("w1").ref()).isEqualTo(W1);
    assertThat(world.says(world.beat(W1, session)).verdict()).isEqualTo(Verdict.ACCEPTED);
  }

  @Test
  void w4AStrangerReplacesASilentWorkerWhoseTasksAreWaitedFor() {
    long session = world.healthy(W1);
    world.runs("a", W1);
    world.after(TIMERS.unhealthyMillis());

    HeartbeatResponse accepted = world.says(world.hello(W1_AGAIN, List.of(), List.of()));

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
    Heartbeat old = SchedulerWorld.heartbeat(hello, 0, facts(W1, new Versions(90, 91)), "");
    HeartbeatResponse answer = world.says(old);

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
    WorkBatch check = world.last();
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
    world.side.cordons(Set.of("w1"), Set.of("w1"), world.now);
    world.side.step(world.now);

    assertThat(world.state("w1")).isEqualTo(State.DRAINING);
    assertThat(world.info("w1").cordoned()).isTrue();
    assertThat(world.says(world.beat(W1, session)).drain()).isTrue();
    world.side.cordons(Set.of(), Set.of(), world.now);
    assertThat(world.state("w1")).isEqualTo(State.HEALTHY);
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
