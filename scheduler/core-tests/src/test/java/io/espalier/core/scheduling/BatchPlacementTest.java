package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.BatchSpec;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.status.TaskStatus;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import io.espalier.testkit.scheduling.WorkerFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which tasks one process runs together. */
final class BatchPlacementTest {
  private static final long NOW = 1_000_000;
  private static final Duration WAIT = Duration.ofMillis(200);
  private static final int HOST = 1;
  private static final int DB = 2;
  private static final TaskStatus FAILED = TaskStatus.of(TaskStatus.Main.ERROR, 0, 1);

  private final SchedulingCore core = new SchedulingCore(3);
  private final ConfigFixture config = new ConfigFixture("host", "db");
  private final Map<String, Long> runs = new LinkedHashMap<>();

  private static JobFixture batched(int max) {
    return new JobFixture("a").batch(new BatchSpec(max, Optional.empty(), Duration.ZERO));
  }

  private static JobFixture underHosts(int max) {
    return new JobFixture("a").batch(new BatchSpec(max, Optional.of(HOST), Duration.ZERO));
  }

  /** Hosts h1 and so on, with as many databases each. */
  private void apply(JobFixture job, int hosts, int dbs) {
    config.job("a", job);
    core.apply(config.build(), TreeFixture.hosts(config.levels(), hosts, dbs), NOW);
    core.verify();
  }

  /** The batches of a round, each as the names of its nodes; tasks alone are lists of one. */
  private List<List<String>> round() {
    return round(Integer.MAX_VALUE);
  }

  private List<List<String>> round(int most) {
    List<List<String>> batches = new ArrayList<>();
    long[] last = {0};
    assertThat(core.advance(NOW, Integer.MAX_VALUE)).isTrue();
    PlacementListener.OfBatches listener =
        (run, batch) -> {
          if (batch == 0 || batch != last[0]) {
            batches.add(new ArrayList<>());
          }
          last[0] = batch;
          batches.get(batches.size() - 1).add(core.running().nodeName(run));
          runs.put(core.running().nodeName(run), run);
        };
    core.round(TestPolicies.IN_TURN, most, listener);
    core.verify();
    return batches;
  }

  private List<Integer> sizes() {
    return round().stream().map(List::size).toList();
  }

  /** A round at an instant, as the sizes of its batches. */
  private List<Integer> sizesAt(long nowMillis) {
    core.setClock(nowMillis);
    assertThat(core.advance(nowMillis, Integer.MAX_VALUE)).isTrue();
    Map<Long, Integer> sizes = new LinkedHashMap<>();
    PlacementListener.OfBatches listener =
        (run, batch) -> {
          sizes.merge(batch, 1, Integer::sum);
          runs.put(core.running().nodeName(run), run);
        };
    core.round(TestPolicies.IN_TURN, Integer.MAX_VALUE, listener);
    core.verify();
    return List.copyOf(sizes.values());
  }

  @Test
  void slotsThatBecomeFreeOneByOneFillOneBatch() {
    config.resource("host", "slots", 3);
    apply(new JobFixture("a").batch(new BatchSpec(10, Optional.empty(), WAIT)), 1, 9);
    assertThat(sizesAt(NOW)).isEmpty();
    assertThat(core.awaitsBatches()).isTrue();
    assertThat(core.nextTimerMillis()).isEqualTo(NOW + 200);
    assertThat(sizesAt(NOW + 199)).isEmpty();
    assertThat(core.advance(NOW + 200, Integer.MAX_VALUE)).isTrue();
    assertThat(core.awaitsBatches()).isTrue();
    assertThat(sizesAt(NOW + 200)).containsExactly(3);
    assertThat(core.awaitsBatches()).isFalse();
    assertThat(core.nextTimerMillis()).isEqualTo(Long.MAX_VALUE);

    long at = NOW + 300;
    for (long run : List.copyOf(runs.values())) {
      core.finish(run, TaskStatus.of(TaskStatus.Main.DONE, 0, 1));
      assertThat(sizesAt(at++)).isEmpty();
    }
    assertThat(core.nextTimerMillis()).isEqualTo(NOW + 500);
    assertThat(sizesAt(NOW + 500)).containsExactly(3);
  }

  private void finish(String... nodes) {
    for (String node : nodes) {
      core.finish(
          Objects.requireNonNull(runs.remove(node)), TaskStatus.of(TaskStatus.Main.DONE, 0, 1));
    }
  }

  private void finish(int count) {
    finish(runs.keySet().stream().limit(count).toArray(String[]::new));
  }

  @Test
  void theWaitEndsOnceAsManyTasksHaveEndedAsABatchHas() {
    config.resource("host", "slots", 6);
    apply(new JobFixture("a").batch(new BatchSpec(3, Optional.empty(), WAIT)), 1, 30);
    assertThat(sizesAt(NOW)).isEmpty();
    assertThat(sizesAt(NOW + 200)).containsExactly(3, 3);
    finish(1);
    assertThat(sizesAt(NOW + 300)).isEmpty();
    finish(1);
    assertThat(sizesAt(NOW + 301)).isEmpty();
    finish(1);
    assertThat(core.awaitsBatches()).isTrue();
    assertThat(core.batchAwaitedUntil("a")).as("it waits no more").isZero();
    assertThat(sizesAt(NOW + 302)).containsExactly(3);
    assertThat(core.awaitsBatches()).isFalse();

    finish(2);
    assertThat(sizesAt(NOW + 310)).as("the count begins again").isEmpty();
    assertThat(core.nextTimerMillis()).isEqualTo(NOW + 510);
    assertThat(sizesAt(NOW + 510)).containsExactly(2);
    finish(3);
    assertThat(sizesAt(NOW + 520)).as("nothing to wait for").containsExactly(3);
  }

  @Test
  void endsOfOtherJobsAndBeforeATaskCouldStartDoNotCount() {
    config.resource("host", "slots", 6).job("b", new JobFixture("b"));
    apply(new JobFixture("a").batch(new BatchSpec(3, Optional.empty(), WAIT)), 1, 3);
    assertThat(sizesAt(NOW)).as("of job b").containsExactly(3);
    for (long run : core.running().all()) {
      core.finish(run, TaskStatus.of(TaskStatus.Main.DONE, 0, 1));
    }
    assertThat(sizesAt(NOW + 100)).isEmpty();
    assertThat(sizesAt(NOW + 200)).containsExactly(3);
    runs.keySet().retainAll(List.of("d1.1", "d1.2", "d1.3"));
    TaskStatus later = TaskStatus.of(TaskStatus.Main.INCOMPLETE, 0, 1);
    for (long run : core.running().all()) {
      core.finish(run, TaskStatus.of(TaskStatus.Main.DONE, 0, 1));
    }
    assertThat(sizesAt(NOW + 300)).as("nothing is left").isEmpty();
    core.setStatus(core.findJob("a"), core.findNode(core.findJob("a"), "d1.1"), later);
    assertThat(sizesAt(NOW + 301)).isEmpty();
    assertThat(sizesAt(NOW + 501)).containsExactly(1);
  }

  @Test
  void whereBatchesLieUnderSeveralNodesTheyMustBeFullOnAverage() {
    config.resource("host", "slots", 2);
    apply(new JobFixture("a").batch(new BatchSpec(2, Optional.of(HOST), WAIT)), 2, 9);
    assertThat(sizesAt(NOW)).isEmpty();
    assertThat(sizesAt(NOW + 200)).containsExactly(2, 2);
    finish("d1.1", "d2.1");
    assertThat(sizesAt(NOW + 300)).isEmpty();
    finish("d1.2");
    assertThat(sizesAt(NOW + 301)).isEmpty();
    finish("d2.2");
    assertThat(sizesAt(NOW + 302)).containsExactly(2, 2);
    finish(List.copyOf(runs.keySet()).get(0), List.copyOf(runs.keySet()).get(1));
    assertThat(sizesAt(NOW + 303)).as("on one host alone").containsExactly(2);
  }

  @Test
  void endsOnSeveralWorkersFillABatchForEach() {
    core.workers(List.of(WorkerFixture.healthy("w1", "x1"), WorkerFixture.healthy("w2", "x2")));
    config.resource("worker", "slots", 2);
    apply(new JobFixture("a").batch(new BatchSpec(2, Optional.empty(), WAIT)), 1, 9);
    assertThat(sizesAt(NOW)).isEmpty();
    assertThat(sizesAt(NOW + 200)).containsExactly(2, 2);
    List<String> nodes = List.copyOf(runs.keySet());
    finish(nodes.get(0), nodes.get(2));
    assertThat(sizesAt(NOW + 300)).as("one slot on each").isEmpty();
    finish(nodes.get(1), nodes.get(3));
    assertThat(sizesAt(NOW + 301)).containsExactly(2, 2);
  }

  @Test
  void aJobThatWaitsForItsBatchKeepsNoOtherFromStarting() {
    config.job("b", new JobFixture("b"));
    apply(new JobFixture("a").batch(new BatchSpec(10, Optional.empty(), WAIT)), 1, 2);
    sizesAt(NOW);
    assertThat(core.running().count()).isEqualTo(2);
    assertThat(sizesAt(NOW + 200)).containsExactly(2);
  }

  @Test
  void aJobThatHasWaitedInVainTakesItsTurnTheNextTime() {
    config.resource("host", "slots", 1).job("b", new JobFixture("b"));
    apply(new JobFixture("a").batch(new BatchSpec(10, Optional.empty(), WAIT)), 1, 9);
    Map<String, Integer> starts = new LinkedHashMap<>();
    long at = NOW;
    for (int i = 0; i < 10; i++) {
      sizesAt(at);
      // Its wait is over long before the slot is free again.
      sizesAt(at + 500);
      long run = core.running().all()[0];
      starts.merge(core.running().jobName(run), 1, Integer::sum);
      core.finish(run, TaskStatus.of(TaskStatus.Main.DONE, 0, 1));
      at += 1_000;
    }
    assertThat(starts).containsEntry("a", 5).containsEntry("b", 5);
  }

  @Test
  void withoutBatchesEachTaskRunsAlone() {
    apply(new JobFixture("a"), 1, 3);
    assertThat(round()).containsExactly(List.of("d1.1"), List.of("d1.2"), List.of("d1.3"));
  }

  @Test
  void aBatchHasNoMoreThanItsMostAndEndsWithItsNode() {
    apply(underHosts(2), 2, 3);
    assertThat(round())
        .containsExactly(
            List.of("d1.1", "d1.2"), List.of("d1.3"), List.of("d2.1", "d2.2"), List.of("d2.3"));
  }

  @Test
  void withoutANodeAnyTasksOfTheJobGoTogether() {
    apply(batched(4), 2, 3);
    assertThat(round())
        .containsExactly(List.of("d1.1", "d1.2", "d1.3", "d2.1"), List.of("d2.2", "d2.3"));
  }

  @Test
  void aFullNodeIsLeftOutOfTheBatch() {
    config.resource("host", "slots", 2);
    apply(batched(10), 3, 4);
    assertThat(round()).containsExactly(List.of("d1.1", "d1.2", "d2.1", "d2.2", "d3.1", "d3.2"));
  }

  @Test
  void theCapOfTheJobCutsABatch() {
    apply(batched(10).maxConcurrent(3), 1, 8);
    assertThat(sizes()).containsExactly(3);
    assertThat(round()).isEmpty();
  }

  @Test
  void theEndOfASliceCutsABatch() {
    apply(batched(10), 1, 8);
    assertThat(round(5)).containsExactly(List.of("d1.1", "d1.2", "d1.3", "d1.4", "d1.5"));
    assertThat(sizes()).containsExactly(3);
  }

  @Test
  void aBatchIsOnOneWorkerAndItsRoomCutsIt() {
    config.resource("worker", "cores", 3);
    core.workers(List.of(WorkerFixture.healthy("w1", "h1"), WorkerFixture.healthy("w2", "h2")));
    apply(batched(10).needs("cores", 1), 2, 4);
    List<List<String>> batches = round();
    assertThat(batches).extracting(List::size).containsExactly(3, 3);
    for (List<String> batch : batches) {
      assertThat(batch).extracting(this::shard).containsOnly(shard(batch.get(0)));
    }
    assertThat(shard(batches.get(0).get(0))).isNotEqualTo(shard(batches.get(1).get(0)));
  }

  private String shard(String node) {
    WorkerInfo worker = core.running().worker(runs.getOrDefault(node, -1L));
    return worker == null ? "" : worker.ref().shard();
  }

  @Test
  void tasksForTwoHostsAreNeverTogether() {
    core.workers(List.of(WorkerFixture.healthy("w1", "h1"), WorkerFixture.healthy("w2", "h2")));
    apply(batched(10).hostOfLevel("host"), 2, 3);
    assertThat(round())
        .containsExactly(List.of("d1.1", "d1.2", "d1.3"), List.of("d2.1", "d2.2", "d2.3"));
  }

  @Test
  void aTaskThatHasFailedRunsAlone() {
    apply(batched(10), 1, 5);
    core.setStatus(core.findJob("a"), core.topology().find(DB, "d1.3"), FAILED);
    assertThat(round())
        .containsExactly(List.of("d1.1", "d1.2"), List.of("d1.3"), List.of("d1.4", "d1.5"));
  }

  @Test
  void eachTaskOfABatchEndsByItself() {
    config.resource("instance", "all", 4);
    apply(batched(10), 1, 8);
    assertThat(sizes()).containsExactly(4);
    core.finish(runs.getOrDefault("d1.2", -1L), null);
    assertThat(round()).containsExactly(List.of("d1.2"));
  }

  @Test
  void aBatchWalksOnlyBelowItsNode() {
    apply(new JobFixture("a"), 10, 100);
    long before = core.work();
    round();
    long alone = core.work() - before;

    SchedulingCore other = new SchedulingCore(3);
    config.job("a", underHosts(100));
    other.apply(config.build(), core.topology(), 0);
    before = other.work();
    other.round(TestPolicies.IN_TURN, Integer.MAX_VALUE, run -> {});
    assertThat(other.running().count()).isEqualTo(1_000);
    assertThat(other.work() - before).isLessThan(alone);
  }
}
