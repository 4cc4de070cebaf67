package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.api.view.Explanation.Reason;
import io.espalier.core.config.NodeLimitRule;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The entitlement patterns of Bistro (docs/design/bistro.md#resources-of-workers): keep-out,
 * keep-in, and both for a partition.
 */
final class EntitlementsTest {
  private static final int HUGE = Integer.MAX_VALUE;

  private final SchedulingCore core = new SchedulingCore(17);

  /** By job: where its tasks were started, in the order of names. */
  private Map<String, List<String>> starts(boolean onWorkers) {
    Map<String, List<String>> starts = new TreeMap<>();
    assertThat(
            core.round(
                TestPolicies.IN_TURN,
                10_000,
                run -> {
                  WorkerInfo worker = core.running().worker(run);
                  String place = core.running().path(run).get(1);
                  if (onWorkers) {
                    place = worker == null ? "nowhere" : worker.ref().shard();
                  }
                  starts
                      .computeIfAbsent(core.running().jobName(run), j -> new ArrayList<>())
                      .add(place);
                }))
        .isTrue();
    core.verify();
    return starts;
  }

  private static WorkerInfo worker(String shard) {
    return WorkerInfo.of(new WorkerRef(shard, 1), shard + ".example.com")
        .address(shard + ".example.com:1")
        .build();
  }

  private void workers(String... shards) {
    List<WorkerInfo> all = new ArrayList<>();
    for (String shard : shards) {
      all.add(worker(shard));
    }
    core.workers(all);
  }

  // ---- workers

  private void applyToWorkers(ConfigFixture config) {
    String[] nodes = {"h/a", "h/b", "h/c", "h/d", "h/e", "h/f"};
    core.apply(config.build(), TreeFixture.of(config.levels(), nodes), 0);
  }

  @Test
  void keepOutOfReservedWorkers() {
    workers("w1", "w2", "r1");
    ConfigFixture config =
        new ConfigFixture("host", "db")
            .resource("worker", "slots", 2)
            .resource("worker", "open", HUGE, 1)
            .override("r1", "open", 0)
            .job("plain", new JobFixture("plain"))
            .job("privileged", new JobFixture("privileged").needs("open", 0));
    applyToWorkers(config);
    Map<String, List<String>> starts = starts(true);
    assertThat(starts.get("plain")).isSubsetOf("w1", "w2");
    assertThat(starts.get("privileged")).contains("r1", "r1");
    assertThat(core.running().count()).as("nothing is left free").isEqualTo(6);
  }

  @Test
  void keepInSpecialWorkers() {
    workers("w1", "w2", "s1");
    ConfigFixture config =
        new ConfigFixture("host", "db")
            .resource("worker", "slots", 7)
            .resource("worker", "special", 0, 0)
            .override("s1", "special", HUGE)
            .job("plain", new JobFixture("plain"))
            .job("kept", new JobFixture("kept").needs("special", 1));
    applyToWorkers(config);
    Map<String, List<String>> starts = starts(true);
    assertThat(starts.get("plain")).hasSize(6);
    assertThat(starts.get("kept")).hasSize(6).containsOnly("s1");
  }

  @Test
  void bothAreAPartitionOfWorkersAndARegularExpressionNamesThem() {
    workers("w1", "w2", "s1", "s2");
    ConfigFixture config =
        new ConfigFixture("host", "db")
            .resource("worker", "open", HUGE, 1)
            .resource("worker", "special", 0, 0)
            .job("plain", new JobFixture("plain"))
            .job("own", new JobFixture("own").needs("open", 0).needs("special", 1));
    int worker = config.levels().worker();
    config.nodeLimits(
        List.of(
            NodeLimitRule.ofRegex(
                worker, Pattern.compile("^s"), Map.of("open", 0, "special", HUGE))));
    applyToWorkers(config);
    Map<String, List<String>> starts = starts(true);
    assertThat(starts.get("plain")).hasSize(6).isSubsetOf("w1", "w2");
    assertThat(starts.get("own")).hasSize(6).isSubsetOf("s1", "s2");
  }

  @Test
  void whereNoWorkerIsEntitledExplainNamesTheResource() {
    workers("r1");
    ConfigFixture config =
        new ConfigFixture("host", "db")
            .resource("worker", "open", HUGE, 1)
            .override("r1.example.com", "open", 0)
            .job("plain", new JobFixture("plain"));
    applyToWorkers(config);
    assertThat(starts(true)).isEmpty();
    Reason reason = core.tasks().explain("plain", "a").reasons().get(0);
    assertThat(reason.kind()).isEqualTo(Kind.NO_WORKER);
    assertThat(reason.resource()).isEqualTo("open");
  }

  // ---- nodes: each shard has a copy on every host

  private void applyToNodes(ConfigFixture config, String... hosts) {
    List<String> paths = new ArrayList<>();
    for (String host : hosts) {
      for (String shard : List.of("a", "b", "c", "d")) {
        paths.add(host + "/" + shard);
      }
    }
    core.apply(config.build(), TreeFixture.of(config.levels(), paths.toArray(new String[0])), 0);
  }

  @Test
  void keepOutOfReservedNodes() {
    ConfigFixture config =
        new ConfigFixture("host", "db")
            .resource("host", "slots", 3)
            .resource("host", "open", HUGE, 1)
            .job("plain", new JobFixture("plain"))
            .job("privileged", new JobFixture("privileged").needs("open", 0));
    config.nodeLimits(List.of(NodeLimitRule.ofName(1, "r1", Map.of("open", 0))));
    applyToNodes(config, "h1", "r1");
    Map<String, List<String>> starts = starts(false);
    assertThat(starts.getOrDefault("plain", List.of())).doesNotContain("r1");
    assertThat(starts.get("privileged")).contains("r1");
    Reason reason =
        core.tasks().explain("plain", "d").reasons().stream()
            .filter(r -> r.kind() == Kind.RESOURCE)
            .findFirst()
            .orElseThrow();
    assertThat(reason.resource()).isIn("open", "slots");
  }

  @Test
  void keepInSpecialNodesAndBothForAPartition() {
    ConfigFixture config =
        new ConfigFixture("host", "db")
            .resource("host", "slots", 4)
            .resource("host", "open", HUGE, 1)
            .resource("host", "special", 0, 0)
            .job("plain", new JobFixture("plain"))
            .job("kept", new JobFixture("kept").needs("special", 1).needs("open", 0));
    config.nodeLimits(
        List.of(
            NodeLimitRule.ofRegex(1, Pattern.compile("^s"), Map.of("special", HUGE, "open", 0))));
    applyToNodes(config, "h1", "s1");
    Map<String, List<String>> starts = starts(false);
    assertThat(starts.get("plain")).hasSize(4).containsOnly("h1");
    assertThat(starts.get("kept")).hasSize(4).containsOnly("s1");
  }

  @Test
  void entitlementsAreWithdrawnAndGrantedWhileTasksRun() {
    ConfigFixture config =
        new ConfigFixture("host", "db")
            .resource("host", "open", HUGE, 1)
            .resource("host", "special", 0, 0)
            .job("plain", new JobFixture("plain").needs("open", HUGE))
            .job("kept", new JobFixture("kept").needs("special", HUGE).needs("open", 0));
    applyToNodes(config, "h1");
    assertThat(starts(false)).isEqualTo(Map.of("plain", List.of("h1")));
    override("open", 0);
    override("special", HUGE);
    int h1 = core.topology().find(1, "h1");
    assertThat(core.capacity().free(h1, 0)).isEqualTo(-HUGE);
    assertThat(starts(false)).isEqualTo(Map.of("kept", List.of("h1")));
    override("open", HUGE);
    override("special", 0);
    core.verify();
    assertThat(starts(false)).isEmpty();
    for (long run : core.running().all()) {
      core.finish(run, null);
    }
    assertThat(core.capacity().free(h1, 0)).isEqualTo(HUGE);
    assertThat(core.capacity().free(h1, 1)).isZero();
  }

  private void override(String resource, int limit) {
    core.limits().override(new LimitOverride("host", resource, "", limit, "", "", 0, 0));
    while (!core.stepLimits(100)) {
      // In slices.
    }
    core.verify();
  }
}
