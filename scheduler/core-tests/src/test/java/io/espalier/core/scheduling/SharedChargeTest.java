package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.QueueSpec;
import io.espalier.core.config.task.BatchSpec;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.TaskStatus;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What the tasks of a batch take together, and who of them is charged for it. */
final class SharedChargeTest {
  private static final long NOW = 1_000_000;
  private static final int HOST = 1;
  private static final int DB = 2;
  private static final TaskStatus DONE = TaskStatus.of(TaskStatus.Main.DONE, 0, 1);
  private static final WorkerRef SOMEWHERE = new WorkerRef("w", 1);

  private SchedulingCore core = new SchedulingCore(3);
  private final ConfigFixture config =
      new ConfigFixture("host", "db")
          .resource("instance", "links", 2, 0)
          .resource("host", "connections", 1);
  private final Map<String, Long> runs = new LinkedHashMap<>();

  private static JobFixture sharing(int max, String... perBatch) {
    return new JobFixture("a")
        .needs("links", List.of(perBatch).contains("links") ? 1 : 0)
        .batch(new BatchSpec(max, Optional.of(HOST), Duration.ZERO, List.of(perBatch)));
  }

  /** Hosts h1 and so on, with as many databases each. */
  private void apply(JobFixture job, int hosts, int dbs) {
    config.job("a", job);
    core.apply(config.build(), TreeFixture.hosts(config.levels(), hosts, dbs), NOW);
    core.verify();
  }

  /** The batches of a round, each as the names of its nodes. */
  private List<List<String>> round() {
    Map<Long, List<String>> batches = new LinkedHashMap<>();
    PlacementListener.OfBatches listener =
        (run, batch) -> {
          String node = core.running().nodeName(run);
          batches.computeIfAbsent(batch, number -> new ArrayList<>()).add(node);
          runs.put(node, run);
        };
    assertThat(core.round(TestPolicies.IN_TURN, Integer.MAX_VALUE, listener)).isTrue();
    core.verify();
    return List.copyOf(batches.values());
  }

  private void finish(String node) {
    core.finish(Objects.requireNonNull(runs.remove(node), node), DONE);
    core.verify();
  }

  private int free(String node, String resource) {
    int index = Objects.requireNonNull(core.config().settings().resources().find(resource)).index();
    return core.capacity().free(node.isEmpty() ? 0 : core.topology().find(HOST, node), index);
  }

  private int connections(String node) {
    return free(node, "connections");
  }

  private List<String> carriers() {
    return runs.keySet().stream()
        .filter(node -> core.running().isCarrier(Objects.requireNonNull(runs.get(node))))
        .toList();
  }

  @Test
  void aBatchTakesWhatOneTaskNeedsHoweverManyTasksItHas() {
    apply(sharing(3, "connections", "links"), 3, 5);
    assertThat(round())
        .as("one connection on each host, and two links")
        .containsExactly(List.of("d1.1", "d1.2", "d1.3"), List.of("d2.1", "d2.2", "d2.3"));
    assertThat(connections("h1")).isZero();
    assertThat(connections("h3")).isEqualTo(1);
    assertThat(carriers()).hasSize(2);
  }

  @Test
  void whatTasksTakeByThemselvesLimitsABatch() {
    config.resource("host", "slots", 2);
    apply(sharing(9, "connections"), 1, 5);
    assertThat(round()).containsExactly(List.of("d1.1", "d1.2"));
  }

  @Test
  void theChargeGoesOnUntilTheLastTaskOfTheBatchHasEnded() {
    apply(sharing(3, "connections"), 1, 5);
    round();
    for (int left = 3; left > 1; left--) {
      String carrier = carriers().get(0);
      finish(carrier);
      assertThat(carriers()).hasSize(1).doesNotContain(carrier);
      assertThat(round()).isEmpty();
    }
    finish(carriers().get(0));
    assertThat(round()).containsExactly(List.of("d1.4", "d1.5"));
  }

  @Test
  void theEndOfAnotherTaskChangesNothing() {
    apply(sharing(3, "connections"), 1, 5);
    round();
    List<String> carriers = carriers();
    List<String> others = runs.keySet().stream().filter(node -> !carriers.contains(node)).toList();
    others.forEach(this::finish);
    assertThat(carriers()).isEqualTo(carriers);
    assertThat(connections("h1")).isZero();
  }

  @Test
  void aTaskThatReturnsTakesTheConnectionOnlyWithItsNextBatch() {
    apply(sharing(5, "connections"), 1, 5);
    round();
    core.finish(runs.remove("d1.2"), null);
    assertThat(round()).as("its batch has the connection").isEmpty();
    List.copyOf(runs.keySet()).forEach(this::finish);
    assertThat(round()).containsExactly(List.of("d1.2"));
  }

  @Test
  void tasksThatRunAloneTakeEachAConnection() {
    config.resource("host", "connections", 2);
    apply(sharing(5, "connections"), 1, 5);
    TaskStatus failed = TaskStatus.of(TaskStatus.Main.ERROR, 0, 1);
    for (String node : List.of("d1.1", "d1.2")) {
      core.setStatus(core.findJob("a"), core.topology().find(DB, node), failed);
    }
    assertThat(round()).containsExactly(List.of("d1.1"), List.of("d1.2"));
    assertThat(connections("h1")).isZero();
  }

  @Test
  void theLimitOfAQueueCountsBatchesToo() {
    config.queues(new QueueSpec("q", 1, Map.of(1, 1), Map.of())).resource("host", "connections", 5);
    apply(sharing(4, "connections").queue("q"), 1, 9);
    assertThat(round()).containsExactly(List.of("d1.1", "d1.2", "d1.3", "d1.4"));
    finish("d1.4");
    assertThat(round()).isEmpty();
  }

  @Test
  void tasksSayWhatTheyAreChargedAndTogetherThatIsTheConnectionOnce() {
    apply(sharing(3, "connections"), 1, 3);
    round();
    assertThat(runs.values())
        .extracting(
            run ->
                Objects.requireNonNull(core.running().resourcesByNode(run).get("h1"))
                    .get("connections"))
        .containsExactlyInAnyOrder(0, 0, 1);
  }

  @Test
  void aNewConfigurationFindsTheChargeWhereItIs() {
    apply(sharing(3, "connections"), 1, 4);
    round();
    finish(carriers().get(0));
    apply(sharing(3), 1, 5);
    assertThat(connections("h1")).isZero();
    finish(carriers().get(0));
    assertThat(connections("h1")).as("of the last task of the batch").isZero();
    finish(carriers().get(0));
    assertThat(connections("h1")).isEqualTo(1);
  }

  @Test
  void batchesThatStartAndEndUntilAChangeIsInForceAreChargedOnceAfterIt() {
    int hosts = 300;
    apply(sharing(3, "connections"), hosts, 3);
    config.job("never", new JobFixture("never").needs("links", 9));
    core.begin(core.prepare(config.build(), core.topology()));
    int steps = 0;
    PlacementListener.OfBatches started =
        (run, batch) -> runs.put(core.running().nodeName(run), run);
    while (core.step(300) == null) {
      core.round(TestPolicies.IN_TURN, 3, started);
      if (steps++ % 3 == 0) {
        String carrier = carriers().get(0);
        core.finish(Objects.requireNonNull(runs.remove(carrier)), DONE);
      }
    }
    core.verify();
    assertThat(steps).as("batches, with the last step").isLessThan(hosts);
    for (int host = 1; host <= hosts; host++) {
      String prefix = "d" + host + ".";
      boolean isUsed = runs.keySet().stream().anyMatch(node -> node.startsWith(prefix));
      assertThat(connections("h" + host)).as("h%d", host).isEqualTo(isUsed ? 0 : 1);
    }
  }

  @Test
  void aBatchThatRanBeforeTheFirstConfigurationIsChargedOnce() {
    for (String node : List.of("d1.1", "d1.2", "d1.3")) {
      runs.put(node, core.adopt("a", node, SOMEWHERE, "7.1"));
    }
    runs.put("d2.1", core.adopt("a", "d2.1", SOMEWHERE, "7.4"));
    apply(sharing(3, "connections", "links"), 2, 4);
    assertThat(connections("h1")).isZero();
    assertThat(connections("h2")).isZero();
    assertThat(free("", "links")).isZero();
    assertThat(round()).isEmpty();
    for (String node : List.of("d1.1", "d1.2", "d1.3")) {
      if (runs.size() > 2) {
        finish(node);
      }
    }
    assertThat(free("", "links")).as("with one task left of each batch").isZero();
    List.copyOf(runs.keySet()).forEach(this::finish);
    assertThat(connections("h1")).isEqualTo(1);
    assertThat(free("", "links")).isEqualTo(2);
  }

  @Test
  void aTaskWhoseNodeIsUnknownCarriesNothing() {
    runs.put("gone", core.adopt("a", "gone", SOMEWHERE, "7.1"));
    runs.put("d1.1", core.adopt("a", "d1.1", SOMEWHERE, "7.1"));
    apply(sharing(3, "connections"), 1, 4);
    assertThat(carriers()).containsExactly("d1.1");
    assertThat(connections("h1")).isZero();
    finish("d1.1");
    assertThat(connections("h1")).isEqualTo(1);
    finish("gone");
  }

  @Test
  void aTaskThatIsAdoptedLaterSharesWhatAnotherCarries() {
    apply(sharing(3, "connections"), 1, 4);
    runs.put("d1.1", core.adopt("a", "d1.1", SOMEWHERE, "7.1"));
    runs.put("d1.2", core.adopt("a", "d1.2", SOMEWHERE, "7.1"));
    core.verify();
    assertThat(connections("h1")).isZero();
    runs.put("d1.3", core.adopt("a", "d1.3", SOMEWHERE, "7.9"));
    core.verify();
    assertThat(connections("h1")).as("another batch, over the limit").isEqualTo(-1);
  }

  @Test
  void sharingCostsAStartNoWalkFromTheRoot() {
    config.resource("instance", "links", 1_000, 0);
    config.resource("host", "connections", 100);
    apply(sharing(100, "links"), 10, 100);
    long before = core.work();
    round();
    long shared = core.work() - before;

    core = new SchedulingCore(3);
    runs.clear();
    apply(new JobFixture("a"), 10, 100);
    before = core.work();
    round();
    assertThat(shared).isLessThan(2 * (core.work() - before));
  }
}
