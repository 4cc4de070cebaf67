package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.config.Config;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import io.espalier.testkit.scheduling.WorkerFixture;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * S1 to S11 of docs/design/bistro.md#conformance-of-scheduling. S4 to S7 are with the policies, the
 * timing of S10 is with the loop.
 */
final class ConformanceTest {
  private static final TaskStatus DONE = TaskStatus.of(Main.DONE, 0, 1);

  private final SchedulingCore core = new SchedulingCore(11);

  private void apply(ConfigFixture config, Topology topology) {
    core.apply(config.build(), topology, 0);
  }

  private List<String> round() {
    List<String> starts = new ArrayList<>();
    assertThat(core.round(TestPolicies.IN_TURN, 1000, run -> starts.add(name(run)))).isTrue();
    return starts;
  }

  private String name(long run) {
    return core.running().jobName(run) + "/" + core.running().nodeName(run);
  }

  private long run(String name) {
    for (long run : core.running().all()) {
      if (name(run).equals(name)) {
        return run;
      }
    }
    throw new AssertionError(name + " does not run");
  }

  private List<Kind> kinds(String job, String node) {
    return core.tasks().explain(job, node).reasons().stream()
        .map(Explanation.Reason::kind)
        .toList();
  }

  private int node(String level, String name) {
    return core.topology().find(core.topology().levels().find(level), name);
  }

  private int free(String level, String node, String resource) {
    var found = core.config().settings().resources().find(resource);
    assertThat(found).isNotNull();
    return found == null ? 0 : core.capacity().free(node(level, node), found.index());
  }

  @Test
  void c28_belowADisabledNodeNothingStarts() {
    ConfigFixture config = new ConfigFixture("host", "db").job("job1");
    apply(config, TreeFixture.of(config.levels(), "h1/d1", "h1/d2!", "h2!/d3"));
    assertThat(round()).containsExactly("job1/d1");
    assertThat(kinds("job1", "d2")).containsExactly(Kind.NODE_DISABLED);
    assertThat(kinds("job1", "d3")).containsExactly(Kind.NODE_DISABLED);
  }

  @Test
  void c28_aFilterOfALevelAvoidsAllBelow() {
    ConfigFixture config =
        new ConfigFixture("host", "db").job("job1", new JobFixture("job1").only("host", "h2"));
    apply(config, TreeFixture.of(config.levels(), "h1/d1", "h2/d2"));
    assertThat(round()).containsExactly("job1/d2");
    assertThat(kinds("job1", "d1")).containsExactly(Kind.FILTERED);
  }

  @Test
  void s1_aDependencyThatIsNotConfiguredStartsNothing() {
    ConfigFixture config =
        new ConfigFixture("db").job("job1", new JobFixture("job1").dependsOn("job2"));
    apply(config, TreeFixture.of(config.levels(), "d1", "d2"));
    assertThat(round()).isEmpty();
    assertThat(core.running().count()).isZero();
    assertThat(kinds("job1", "d1")).containsExactly(Kind.DEPENDENCY);
    assertThat(core.tasks().explain("job1", "d1").reasons().get(0).message()).contains("job2");
  }

  @Test
  void s2_aTaskWaitsUntilItsDependencyIsDoneOnTheSameNode() {
    ConfigFixture config =
        new ConfigFixture("host", "db")
            .resource("host", "host_slots", 2)
            .resource("db", "lock", 1)
            .job("job1", new JobFixture("job1").priority(10).dependsOn("job2"))
            .job("job2");
    apply(config, TreeFixture.of(config.levels(), "h1/db11", "h1/db12", "h2/db21", "h2/db22"));
    assertThat(round())
        .containsExactlyInAnyOrder("job2/db11", "job2/db12", "job2/db21", "job2/db22");
    // The others failed to start; db11 is done, db12 still runs.
    core.finish(run("job2/db11"), DONE);
    core.finish(run("job2/db21"), null);
    core.finish(run("job2/db22"), null);
    assertThat(round()).containsExactlyInAnyOrder("job1/db11", "job2/db21", "job2/db22");
  }

  @Test
  void aTaskThatRunsOrIsDoneIsNotToldWhatItWouldLack() {
    ConfigFixture config =
        new ConfigFixture("host", "db").resource("host", "host_slots", 1).job("job1");
    apply(config, TreeFixture.of(config.levels(), "h1/d1", "h1/d2"));
    assertThat(round()).containsExactly("job1/d1");
    assertThat(kinds("job1", "d1")).containsExactly(Kind.ALREADY_RUNNING);
    core.finish(run("job1/d1"), DONE);
    assertThat(round()).containsExactly("job1/d2");
    assertThat(kinds("job1", "d1")).containsExactly(Kind.DONE);
    assertThat(core.tasks().explain("job1", "d1").path())
        .isNotEmpty()
        .noneMatch(Explanation.Step::blocks);
    core.finish(run("job1/d2"), null);
    assertThat(kinds("job1", "d2")).isEmpty();
  }

  @Test
  void s3_tasksAreOnTheLevelOfTheirJob() {
    ConfigFixture none = new ConfigFixture().job("job1");
    apply(none, TreeFixture.of(none.levels()));
    assertThat(round()).containsExactly("job1/" + TreeFixture.INSTANCE);

    ConfigFixture one =
        new ConfigFixture("db").job("job1").job("job2", new JobFixture("job2").level("instance"));
    SchedulingCore other = new SchedulingCore(1);
    other.apply(one.build(), TreeFixture.of(one.levels(), "d1", "d2"), 0);
    List<String> starts = new ArrayList<>();
    other.round(
        TestPolicies.IN_TURN,
        100,
        run -> starts.add(other.running().jobName(run) + "/" + other.running().nodeName(run)));
    assertThat(starts)
        .containsExactlyInAnyOrder("job1/d1", "job1/d2", "job2/" + TreeFixture.INSTANCE);
  }

  @Test
  void s8_fourKindsOfOrphansKeepWhatTheyWereCharged() {
    ConfigFixture config =
        new ConfigFixture("host", "db")
            .resource("host", "host_slots", 10, 3)
            .resource("db", "db_slots", 5, 2)
            .job("good", new JobFixture("good").only("db", "gone", "off"))
            .job("disabled", new JobFixture("disabled").only("db", "db11"))
            .job("unknown", new JobFixture("unknown").only("db", "db21"));
    apply(
        config,
        TreeFixture.of(config.levels(), "host1/db11", "host2/db21", "host2/off", "host3/gone"));
    assertThat(round())
        .containsExactlyInAnyOrder("good/gone", "good/off", "disabled/db11", "unknown/db21");
    assertThat(core.running().orphans()).isEmpty();

    config
        .withoutJob("unknown")
        .job("good", new JobFixture("good"))
        .job("disabled", new JobFixture("disabled").disabled());
    apply(
        config,
        TreeFixture.of(
            config.levels(), "host1/db11", "host1/db12", "host2/db21", "host2/db22", "host2/off!"));

    List<String> orphans = new ArrayList<>();
    for (long run : core.running().orphans()) {
      orphans.add(name(run));
    }
    assertThat(orphans)
        .containsExactlyInAnyOrder("good/gone", "good/off", "disabled/db11", "unknown/db21");
    assertThat(free("host", "host1", "host_slots")).isEqualTo(7);
    assertThat(free("host", "host2", "host_slots")).isEqualTo(4);
    assertThat(free("db", "db11", "db_slots")).isEqualTo(3);
    assertThat(free("db", "db12", "db_slots")).isEqualTo(5);
    assertThat(free("db", "db21", "db_slots")).isEqualTo(3);
    assertThat(free("db", "off", "db_slots")).as("a disabled node").isEqualTo(3);
    assertThat(core.running().resourcesByNode(run("good/gone")))
        .isEqualTo(Map.of("host3", Map.of("host_slots", 3), "gone", Map.of("db_slots", 2)));

    // Only the enabled job is offered, with its four enabled nodes.
    for (long run : core.running().all()) {
      core.finish(run, null);
    }
    assertThat(round())
        .containsExactlyInAnyOrder("good/db11", "good/db12", "good/db21", "good/db22");
  }

  @Test
  void s9_replicasShareOneCounter() {
    ConfigFixture config = new ConfigFixture("host", "db").resource("db", "lock", 1).job("job1");
    apply(config, TreeFixture.of(config.levels(), "h1/d1", "h2/d1"));
    assertThat(core.tasks().progress(core.findJob("job1")).total()).isEqualTo(1);
    assertThat(core.tasks().explain("job1", "d1").startable()).isTrue();
    assertThat(round()).containsExactly("job1/d1");
    assertThat(free("db", "d1", "lock")).isZero();
    assertThat(core.running().orphans()).isEmpty();
    assertThat(round()).isEmpty();
    // One copy is enough for it to be no orphan.
    apply(config, TreeFixture.of(config.levels(), "h1/d1!", "h2/d1"));
    assertThat(core.running().orphans()).isEmpty();
    apply(config, TreeFixture.of(config.levels(), "h1/d1!", "h2/d1!"));
    assertThat(core.running().orphans()).hasSize(1);
  }

  @Test
  void s9_eitherCopyOfAReplicaCanBeTheOneThatRuns() {
    ConfigFixture config =
        new ConfigFixture("host", "db")
            .resource("host", "slots", 1)
            .job("job1")
            .job("job2", new JobFixture("job2").only("db", "d2"));
    Topology topology = TreeFixture.of(config.levels(), "h1/d1", "h2/d1", "h1/d2");
    apply(config, topology);
    // Whoever starts first takes h1 or h2; both start, since d1 has another way.
    core.gates().close(Gate.of(GateKind.PAUSE, "job1", ""));
    assertThat(round()).containsExactly("job2/d2");
    core.gates().open(GateKind.PAUSE, "job1");
    assertThat(round()).containsExactly("job1/d1");
    assertThat(core.running().path(run("job1/d1")))
        .containsExactly(TreeFixture.INSTANCE, "h2", "d1");
  }

  @Test
  void s10_anOrphanIsNoneAnyMoreWhenItsJobIsBack() {
    ConfigFixture config = new ConfigFixture("db").job("job1").job("job2");
    Topology topology = TreeFixture.of(config.levels(), "d1");
    apply(config, topology);
    assertThat(round()).hasSize(2);
    Config before = config.build();
    apply(config.withoutJob("job1"), topology);
    assertThat(core.running().orphans()).hasSize(1).containsExactly(run("job1/d1"));
    core.apply(before, topology, 0);
    assertThat(core.running().orphans()).isEmpty();
    assertThat(round()).as("it still runs").isEmpty();
    core.finish(run("job1/d1"), null);
    assertThat(round()).containsExactly("job1/d1");
  }

  @Test
  void s10_anOrphanThatEndsIsForgotten() {
    ConfigFixture config = new ConfigFixture("db").job("job1");
    Topology topology = TreeFixture.of(config.levels(), "d1");
    apply(config, topology);
    round();
    apply(config.job("job1", new JobFixture("job1").disabled()), topology);
    assertThat(core.running().orphans()).hasSize(1);
    core.finish(core.running().orphans()[0], null);
    assertThat(core.running().orphans()).isEmpty();
  }

  @Test
  void s11_aNeedOfNothingFitsAlsoWhereTooMuchIsInUse() {
    ConfigFixture config =
        new ConfigFixture("host", "db")
            .resource("host", "slots", 2)
            .job("heavy")
            .job("light", new JobFixture("light").needs("slots", 0).disabled());
    Topology topology = TreeFixture.of(config.levels(), "h1/d1", "h1/d2", "h1/d3");
    apply(config, topology);
    assertThat(round()).hasSize(2);
    config.resource("host", "slots", 1).job("light", new JobFixture("light").needs("slots", 0));
    apply(config, topology);
    assertThat(free("host", "h1", "slots")).isEqualTo(-1);
    assertThat(round()).containsExactlyInAnyOrder("light/d1", "light/d2", "light/d3");
    assertThat(kinds("heavy", "d3")).containsExactly(Kind.RESOURCE);
  }

  @Test
  void s11_aDependencyOnADeletedJobStopsNobodyElse() {
    ConfigFixture config =
        new ConfigFixture("db").job("a").job("b", new JobFixture("b").dependsOn("a")).job("c");
    Topology topology = TreeFixture.of(config.levels(), "d1");
    apply(config, topology);
    apply(config.withoutJob("a"), topology);
    assertThat(round()).containsExactly("c/d1");
    assertThat(kinds("b", "d1")).containsExactly(Kind.DEPENDENCY);
  }

  @Test
  void s11_aJobWithoutAWorkerStopsNobodyElse() {
    ConfigFixture config =
        new ConfigFixture("db").job("pinned", new JobFixture("pinned").host("dead")).job("free");
    core.workers(
        List.of(WorkerFixture.healthy("w1", "alive"), WorkerFixture.unhealthy("w2", "dead")));
    apply(config, TreeFixture.of(config.levels(), "d1"));
    assertThat(round()).containsExactly("free/d1");
    assertThat(kinds("pinned", "d1")).containsExactly(Kind.NO_WORKER);
  }
}
