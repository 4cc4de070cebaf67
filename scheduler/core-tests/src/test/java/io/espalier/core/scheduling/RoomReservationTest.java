package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.config.QueueSpec;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.reservation.CapacityReservation;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import io.espalier.testkit.scheduling.WorkerFixture;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Room in queues and on workers is kept for jobs that lighter ones would starve
 * (docs/adr/0035-reservations.md).
 */
final class RoomReservationTest extends StarvingCore {
  private static final Optional<Duration> TEN = Optional.of(Duration.ofSeconds(10));

  RoomReservationTest() {
    policy = TestPolicies.LIGHT_FIRST;
  }

  private void apply() {
    String[] hosts = new String[20];
    for (int i = 0; i < hosts.length; i++) {
      hosts[i] = "h" + i;
    }
    core.apply(config.build(), TreeFixture.of(config.levels(), hosts), now);
    turn();
  }

  private void endUntilSomethingIsKept() {
    while (core.capacity().keptRoom().isEmpty() && !started.contains("b")) {
      end();
    }
  }

  /** A queue that may hold 3 of plenty: its light jobs fill it, then the heavy one comes. */
  private void fillQueue(Optional<Duration> wait) {
    config
        .resource("instance", "slots", 100, 0)
        .queues(new QueueSpec("etl", 1, Map.of(0, 3), Map.of()))
        .job("a", new JobFixture("a").level("host").queue("etl").needs("slots", 1))
        .job("c", new JobFixture("c").level("host").needs("slots", 1).maxConcurrent(5));
    apply();
    assertThat(started.stream().filter("a"::equals)).hasSize(3);
    config.job(
        "b", new JobFixture("b").level("host").queue("etl").needs("slots", 3).reserveAfter(wait));
    apply();
  }

  @Test
  void withoutIt_aFullQueueStarvesTheHeavyJob() {
    fillQueue(Optional.empty());
    assertThat(endsUntilHeavy(1_300)).isEqualTo(-1);
    assertThat(core.nextTimerMillis()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void theQueueKeepsRoomAfterTheWait() {
    fillQueue(TEN);
    long begun = now;
    endUntilSomethingIsKept();
    assertThat(now - begun).isBetween(10_000L, 10_020L);
    CapacityReservation kept = core.capacity().keptRoom().get(0);
    assertThat(kept.kind()).isEqualTo(CapacityReservation.Kind.QUEUE);
    assertThat(kept.name()).isEqualTo("etl");
    assertThat(kept.job()).isEqualTo("b");
    assertThat(kept.sinceMillis() - kept.waitsSinceMillis()).isEqualTo(10_000);
    started.clear();
    // Three tasks of its queue and five of the other one, which goes on, end in turn.
    assertThat(endsUntilHeavy(9)).isPositive();
    assertThat(started).doesNotContain("a").contains("c");
    assertThat(core.capacity().keptRoom()).isEmpty();
  }

  @Test
  void theNextHeavyTaskWaitsAnew() {
    fillQueue(TEN);
    endsUntilHeavy(1_300);
    long first = now;
    started.clear();
    assertThat(endsUntilHeavy(1_300)).isPositive();
    assertThat(now - first).isBetween(10_000L, 10_200L);
    assertThat(started).contains("a");
  }

  @Test
  void aFullQueueExplainsBothSides() {
    fillQueue(TEN);
    endUntilSomethingIsKept();
    Explanation heavy = core.tasks().explain("b", "h1");
    assertThat(heavy.reasons()).hasSize(1);
    assertThat(heavy.reasons().get(0).kind()).isEqualTo(Kind.QUEUE_LIMIT);
    assertThat(heavy.reasons().get(0).message())
        .isEqualTo(
            "needs 3 of slots, the queue etl holds 3 and may hold 3; kept free for job b, since"
                + " 1970-01-01T00:00:11Z");
    Long light =
        running.stream()
            .filter(run -> core.running().jobName(run).equals("a"))
            .findFirst()
            .orElseThrow();
    String node = core.running().nodeName(light);
    running.remove(light);
    core.finish(light, null);
    turn();
    Explanation closed = core.tasks().explain("a", node);
    assertThat(closed.reasons()).hasSize(1);
    assertThat(closed.reasons().get(0).kind()).isEqualTo(Kind.RESERVED);
    assertThat(closed.reasons().get(0).message())
        .isEqualTo(
            "needs 1 of slots, the queue etl holds 2 and may hold 3; the rest is kept free for job"
                + " b, since 1970-01-01T00:00:11Z");
  }

  @Test
  void whatIsPausedOrTooLargeKeepsNothing() {
    fillQueue(TEN);
    endUntilSomethingIsKept();
    core.gates().close(Gate.of(GateKind.PAUSE, "b", ""));
    assertThat(core.capacity().keptRoom()).isEmpty();
    turn();
    assertThat(endsUntilHeavy(1_300)).isEqualTo(-1);
    core.gates().open(GateKind.PAUSE, "b");
    turn();
    config.queues(new QueueSpec("etl", 1, Map.of(0, 2), Map.of()));
    apply();
    assertThat(endsUntilHeavy(1_300)).isEqualTo(-1);
    assertThat(core.capacity().keptRoom()).isEmpty();
    config.queues(new QueueSpec("etl", 1, Map.of(0, 3), Map.of()));
    apply();
    assertThat(endsUntilHeavy(1_300)).isPositive();
  }

  @Test
  void aNewConfigurationLosesNeitherTheWaitNorWhatIsKept() {
    fillQueue(TEN);
    long begun = now;
    for (int i = 0; i < 500; i++) {
      end();
    }
    config.job("d", new JobFixture("d").level("host").needs("slots", 1).disabled());
    apply();
    endUntilSomethingIsKept();
    assertThat(now - begun).isBetween(10_000L, 10_020L);
    List<CapacityReservation> before = core.capacity().keptRoom();
    config.withoutJob("d");
    apply();
    assertThat(core.capacity().keptRoom()).isEqualTo(before);
  }

  @Test
  void whatIsKeptIsGivenUpWhenNoTaskIsLeft() {
    fillQueue(TEN);
    endUntilSomethingIsKept();
    for (int i = 0; i < 20; i++) {
      core.setStatus(core.findJob("b"), core.topology().find(1, "h" + i), DONE);
    }
    turn();
    assertThat(core.capacity().keptRoom()).isEmpty();
    assertThat(core.nextTimerMillis()).isEqualTo(Long.MAX_VALUE);
  }

  /** Two workers with 2 slots each and room for everything in the tree. */
  private void fillWorkers(Optional<Duration> wait, JobFixture heavy) {
    config.resource("worker", "gpus", 2, 0);
    core.workers(List.of(WorkerFixture.healthy("w1", "x1"), WorkerFixture.healthy("w2", "x2")));
    config.job("a", new JobFixture("a").level("host").needs("gpus", 1));
    apply();
    assertThat(started).containsExactly("a", "a", "a", "a");
    config.job("b", heavy.level("host").needs("gpus", 2).reserveAfter(wait));
    apply();
  }

  @Test
  void withoutIt_lightTasksOnAllWorkersStarveTheHeavyJob() {
    fillWorkers(Optional.empty(), new JobFixture("b"));
    assertThat(endsUntilHeavy(1_300)).isEqualTo(-1);
  }

  @Test
  void oneWorkerIsKeptAfterTheWaitAndTheOtherGoesOn() {
    fillWorkers(TEN, new JobFixture("b"));
    long begun = now;
    endUntilSomethingIsKept();
    assertThat(now - begun).isBetween(10_000L, 10_020L);
    CapacityReservation kept = core.capacity().keptRoom().get(0);
    assertThat(kept.kind()).isEqualTo(CapacityReservation.Kind.WORKER);
    assertThat(kept.job()).isEqualTo("b");
    started.clear();
    assertThat(endsUntilHeavy(4)).isPositive();
    assertThat(core.capacity().keptRoom()).isEmpty();
    long heavy =
        running.stream()
            .filter(run -> core.running().jobName(run).equals("b"))
            .findFirst()
            .orElseThrow();
    WorkerInfo taken = core.running().worker(heavy);
    assertThat(taken).isNotNull();
    assertThat(taken == null ? "" : taken.ref().shard()).isEqualTo(kept.name());
  }

  @Test
  void aWorkerThatIsKeptExplainsBothSides() {
    config.resource("worker", "gpus", 2, 0);
    core.workers(List.of(WorkerFixture.healthy("w1", "x1")));
    config.job("a", new JobFixture("a").level("host").needs("gpus", 1));
    apply();
    config.job("b", new JobFixture("b").level("host").needs("gpus", 2).reserveAfter(TEN));
    apply();
    endUntilSomethingIsKept();
    assertThat(core.tasks().explain("b", "h19").reasons().get(0).message())
        .isEqualTo(
            "needs 2 of gpus, 0 of 2 are free on worker w1; kept free for job b, since"
                + " 1970-01-01T00:00:11Z");
    Long light = running.remove();
    String node = core.running().nodeName(light);
    core.finish(light, null);
    turn();
    Explanation closed = core.tasks().explain("a", node);
    assertThat(closed.reasons()).hasSize(1);
    assertThat(closed.reasons().get(0).kind()).isEqualTo(Kind.NO_WORKER);
    assertThat(closed.reasons().get(0).message())
        .isEqualTo(
            "needs 1 of gpus, 1 of 2 are free on worker w1, but kept free for job b, since"
                + " 1970-01-01T00:00:11Z");
  }

  @Test
  void aJobThatMustRunOnOneHostKeepsAWorkerThere() {
    fillWorkers(TEN, new JobFixture("b").host("x2"));
    endUntilSomethingIsKept();
    assertThat(core.capacity().keptRoom().get(0).name()).isEqualTo("w2");
    assertThat(endsUntilHeavy(4)).isPositive();
  }

  @Test
  void aWorkerThatLeavesIsReplacedByAnother() {
    fillWorkers(TEN, new JobFixture("b"));
    endUntilSomethingIsKept();
    String first = core.capacity().keptRoom().get(0).name();
    String other = first.equals("w1") ? "w2" : "w1";
    core.workers(List.of(WorkerFixture.healthy(other, "x" + other.charAt(1))));
    turn();
    started.clear();
    // A second until that is noticed, and as long until another one is looked for.
    assertThat(endsUntilHeavy(400)).isPositive();
  }

  @Test
  void nodesAndWorkersAtOnceAreKeptTogether() {
    // Both the tree and the worker have three slots, and light tasks take one of each.
    config.resource("instance", "slots", 3, 0).resource("worker", "gpus", 3, 0);
    core.workers(List.of(WorkerFixture.healthy("w1", "x1")));
    config.job("a", new JobFixture("a").level("host").needs("slots", 1).needs("gpus", 1));
    apply();
    config.job(
        "b",
        new JobFixture("b")
            .level("host")
            .needs("slots", 2)
            .needs("gpus", 2)
            .reserveAfter(Optional.of(Duration.ofSeconds(2))));
    apply();
    assertThat(endsUntilHeavy(1_300)).isPositive();
  }

  @Test
  void queueNodesAndWorkersAtOnceAreKeptTogether() {
    config
        .resource("instance", "slots", 3, 0)
        .resource("worker", "gpus", 3, 0)
        .queues(new QueueSpec("etl", 1, Map.of(0, 3, 1, 3), Map.of()));
    core.workers(List.of(WorkerFixture.healthy("w1", "x1")));
    config.job(
        "a", new JobFixture("a").level("host").queue("etl").needs("slots", 1).needs("gpus", 1));
    config.job("c", new JobFixture("c").level("host").needs("slots", 1).needs("gpus", 1));
    apply();
    config.job(
        "b",
        new JobFixture("b")
            .level("host")
            .queue("etl")
            .needs("slots", 2)
            .needs("gpus", 2)
            .reserveAfter(Optional.of(Duration.ofSeconds(2))));
    apply();
    assertThat(endsUntilHeavy(1_300)).isPositive();
  }

  @Test
  void theLimitOfTasksOfAWorkerCountsWhatIsKept() {
    config.resource("worker", "gpus", 3, 0);
    core.workers(
        List.of(WorkerInfo.of(new WorkerRef("w1", 1), "x1").address("x1:1").maxTasks(2).build()));
    config.job("a", new JobFixture("a").level("host").needs("gpus", 1));
    config.job("z", new JobFixture("z").level("host"));
    apply();
    config.job("b", new JobFixture("b").level("host").needs("gpus", 3).reserveAfter(TEN));
    apply();
    assertThat(endsUntilHeavy(1_300)).isPositive();
  }
}
