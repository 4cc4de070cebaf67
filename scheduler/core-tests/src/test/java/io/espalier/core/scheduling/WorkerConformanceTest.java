package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Reason;
import io.espalier.core.config.JobFilter;
import io.espalier.core.config.PhysicalResource;
import io.espalier.core.config.label.LabelExpression;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerInfo.State;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TestSelectors;
import io.espalier.testkit.scheduling.TreeFixture;
import io.espalier.testkit.scheduling.WorkerFixture;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The rows of docs/workers-conformance.md that are about choosing a worker, and
 * docs/design/bistro.md#worker-selectors.
 */
final class WorkerConformanceTest {
  private final Map<String, io.espalier.core.scheduling.spi.WorkerSelector> selectors =
      new HashMap<>();
  private SchedulingCore core = new SchedulingCore(5);

  private void selectors() {
    TestSelectors.ALL.forEach(selector -> selectors.put(selector.name(), selector));
    core = new SchedulingCore(5, selectors);
  }

  private void apply(ConfigFixture config, String... paths) {
    Topology topology = TreeFixture.of(config.levels(), paths);
    core.apply(config.build(), topology, 0);
    core.verify();
  }

  /** Node and worker of all that one round starts. */
  private List<String> round() {
    List<String> starts = new ArrayList<>();
    boolean complete =
        core.round(
            TestPolicies.IN_TURN,
            1000,
            run -> starts.add(core.running().nodeName(run) + "@" + shard(run)));
    assertThat(complete).isTrue();
    core.verify();
    return starts;
  }

  private String shard(long run) {
    WorkerInfo worker = core.running().worker(run);
    return worker == null ? "nowhere" : worker.ref().shard();
  }

  private List<String> workers() {
    return round().stream().map(start -> start.replaceAll(".*@", "")).toList();
  }

  private String why(String job, String node) {
    Explanation explanation = core.tasks().explain(job, node);
    return String.join("; ", explanation.reasons().stream().map(Reason::message).toList());
  }

  private static String[] nodes(int count) {
    String[] names = new String[count];
    Arrays.setAll(names, i -> "d" + i);
    return names;
  }

  // ---- W9, W15, W21

  @Test
  void w9_allWorkersAndThoseOfEachHostTakeTurns() {
    core.workers(
        List.of(
            WorkerFixture.healthy("w1", "h1"),
            WorkerFixture.healthy("w2", "h2"),
            WorkerFixture.healthy("w3", "h2")));
    apply(new ConfigFixture("db").job("a"), nodes(6));
    assertThat(workers()).containsExactly("w1", "w2", "w3", "w1", "w2", "w3");
    apply(
        new ConfigFixture("db")
            .job("b", new JobFixture("b").host("h2"))
            .job("c", new JobFixture("c").host("h1")),
        nodes(4));
    List<String> starts = workers();
    assertThat(starts).hasSize(8);
    assertThat(starts.stream().filter("w1"::equals)).hasSize(4);
    assertThat(starts.stream().filter("w2"::equals)).hasSize(2);
    assertThat(starts.stream().filter("w3"::equals)).hasSize(2);
  }

  @Test
  void w9_aShardThatComesBackOnAnotherHostMovesToThatHostsPool() {
    core.workers(List.of(WorkerFixture.healthy("w1", "h1"), WorkerFixture.healthy("w2", "h2")));
    ConfigFixture config =
        new ConfigFixture("db")
            .resource("instance", "one_at_a_time", 1)
            .job("b", new JobFixture("b").host("h2"));
    apply(config, nodes(4));
    assertThat(round()).containsExactly("d0@w2");
    core.finish(core.running().all()[0], null);
    core.workers(
        List.of(
            WorkerFixture.healthy("w1", "h2"),
            WorkerInfo.of(new WorkerRef("w2", 2), "h3").address("h3:1").build()));
    assertThat(workers()).containsExactly("w1");
    core.finish(core.running().all()[0], null);
    core.workers(List.of(WorkerFixture.healthy("w2", "h3")));
    assertThat(round()).isEmpty();
    assertThat(why("b", "d1"))
        .isEqualTo("no worker on host h2, where the task must run, is connected");
  }

  @Test
  void w15_withoutWorkersNothingStartsAndOneSlotIsForOneTask() {
    core.workers(List.of());
    ConfigFixture config = new ConfigFixture("db").resource("worker", "slots", 1).job("a");
    apply(config, "d1", "d2");
    assertThat(round()).isEmpty();
    assertThat(why("a", "d1")).isEqualTo("no worker is connected");
    core.workers(List.of(WorkerFixture.healthy("w1", "h1")));
    assertThat(round()).containsExactly("d1@w1");
    assertThat(why("a", "d2")).isEqualTo("needs 1 of slots, 0 of 1 are free on worker w1");
    assertThat(core.running().resourcesByNode(core.running().all()[0]))
        .containsEntry("w1", Map.of("slots", 1));
    core.finish(core.running().all()[0], null);
    assertThat(round()).hasSize(1);
  }

  @Test
  void w21_physicalResourcesBecomeSlotsAndTheBusiestThatFitsIsTaken() {
    selectors();
    core.workers(
        List.of(
            WorkerFixture.of("w1", "h1", State.HEALTHY, Map.of("ram_mb", 10L, "GPU: a", 1L)),
            WorkerFixture.of("w2", "h2", State.HEALTHY, Map.of("ram_mb", 8L, "GPU: unknown", 1L)),
            WorkerFixture.of("w3", "h3", State.HEALTHY, Map.of("ram_mb", 5L))));
    apply(
        new ConfigFixture("db")
            .selector("fullest")
            .resource("worker", "ram", 0)
            .resource("worker", "GPU: a", 0, 0)
            .weight("ram", 1)
            .physical(PhysicalResource.Kind.RAM_MB, "ram", 2, 1)
            .job("a", new JobFixture("a").needs("ram", 3))
            .job("g", new JobFixture("g").needs("ram", 0).needs("GPU: a", 1).disabled()),
        nodes(3));
    assertThat(core.capacity().workerUse())
        .extracting(use -> use.slots().get(0).limit())
        .containsExactly(4, 3, 2);
    assertThat(core.capacity().workerUse().get(0).slots().get(1).limit()).isEqualTo(1);
    assertThat(core.capacity().workerUse().get(1).slots().get(1).limit()).isZero();
    assertThat(workers()).containsExactly("w2", "w1");
    assertThat(why("a", "d2"))
        .isEqualTo(
            "needs 3 of ram, 2 of 2 are free on worker w3, the nearest of 3;"
                + " it can never start there while the limit is 2");
  }

  // ---- placement

  @Test
  void c30_theHostThatIsNamedComesBeforeThatOfTheLevel() {
    core.workers(List.of(WorkerFixture.healthy("w1", "h1"), WorkerFixture.healthy("w2", "h2")));
    apply(
        new ConfigFixture("host", "db")
            .job("level", new JobFixture("level").hostOfLevel("host"))
            .job("named", new JobFixture("named").host("h2"))
            .job("both", new JobFixture("both").hostOfLevel("host").host("h2")),
        "h1/d1");
    assertThat(round()).containsExactlyInAnyOrder("d1@w1", "d1@w2", "d1@w2");
  }

  @Test
  void aTaskRunsOnTheHostThatItsAncestorNames() {
    core.workers(
        List.of(
            WorkerFixture.healthy("w1", "h1"),
            WorkerFixture.unhealthy("w2", "h2"),
            WorkerFixture.healthy("w3", "h3"),
            WorkerFixture.healthy("w4", "elsewhere")));
    apply(
        new ConfigFixture("host", "db").job("a", new JobFixture("a").hostOfLevel("host")),
        "h1/d1",
        "h2/d2",
        "h3/d3",
        "h4/d4");
    assertThat(round()).containsExactlyInAnyOrder("d1@w1", "d3@w3");
    assertThat(why("a", "d2"))
        .isEqualTo(
            "none of 1 worker on host h2, where the task must run, takes tasks now: 1 unhealthy");
    assertThat(why("a", "d4"))
        .isEqualTo("no worker on host h4, where the task must run, is connected");
    core.workers(List.of(WorkerFixture.healthy("w2", "h2")));
    assertThat(round()).containsExactly("d2@w2");
  }

  @Test
  void aReplicaRunsWhereverOneOfItsHostsHasAWorker() {
    core.workers(List.of(WorkerFixture.healthy("w2", "h2")));
    apply(
        new ConfigFixture("host", "db").job("a", new JobFixture("a").hostOfLevel("host")),
        "h1/d1",
        "h2/d1");
    assertThat(round()).containsExactly("d1@w2");
    assertThat(core.running().path(core.running().all()[0]))
        .containsExactly(TreeFixture.INSTANCE, "h2", "d1");
  }

  @Test
  void oneFullHostStopsNobodyOnOtherHosts() {
    core.workers(List.of(WorkerFixture.healthy("w1", "h1"), WorkerFixture.healthy("w2", "h2")));
    apply(
        new ConfigFixture("host", "db")
            .resource("worker", "slots", 1)
            .job("a", new JobFixture("a").hostOfLevel("host")),
        "h1/d1",
        "h1/d2",
        "h2/d3");
    assertThat(round()).hasSize(2);
    String waiting = core.tasks().explain("a", "d1").status().equals("running") ? "d2" : "d1";
    assertThat(why("a", waiting)).isEqualTo("needs 1 of slots, 0 of 1 are free on worker w1");
  }

  // ---- filters, states, limits

  @Test
  void workerFiltersLookAtHostAndShard() {
    core.workers(
        List.of(
            WorkerFixture.healthy("w1", "h1"),
            WorkerFixture.healthy("w2", "h2"),
            WorkerFixture.healthy("w3", "h3")));
    apply(
        new ConfigFixture("db")
            .job("a", new JobFixture("a").only("worker", "h1", "w2"))
            .job("b", new JobFixture("b").only("worker", "h9")),
        nodes(4));
    assertThat(workers()).containsExactly("w1", "w2", "w1", "w2");
    assertThat(why("b", "d0"))
        .isEqualTo("the worker filter of the job excludes all of 3 workers that take tasks");
  }

  private static WorkerInfo labelled(String shard, Map<String, String> labels) {
    return WorkerInfo.of(new WorkerRef(shard, 1), "h").address("h:1").labels(labels).build();
  }

  private static JobFixture choosing(String name, String expression) throws Exception {
    return new JobFixture(name)
        .filter("worker", JobFilter.ALL.withLabels(LabelExpression.parse(expression)));
  }

  @Test
  void jobsChooseWorkersByTheirLabels() throws Exception {
    List<WorkerInfo> pool = new ArrayList<>();
    pool.add(labelled("w1", Map.of("arch", "arm64", "zone", "a")));
    pool.add(labelled("w2", Map.of("arch", "arm64", "zone", "b")));
    pool.add(labelled("w3", Map.of("arch", "arm64", "zone", "b")));
    pool.add(labelled("w4", Map.of()));
    core.workers(pool);
    apply(
        new ConfigFixture("db")
            .job("b", choosing("b", "zone in ['b']"))
            .job("x", choosing("x", "arch == 'x86'"))
            .job("y", choosing("y", "arch == 'x86' and zone != 'a'")),
        nodes(4));
    assertThat(workers()).containsExactly("w2", "w3", "w2", "w3");
    assertThat(why("x", "d0"))
        .isEqualTo(
            "no worker fits `arch == 'x86'`: 3 workers have arch=arm64; 1 worker has no arch");
    assertThat(why("y", "d0"))
        .isEqualTo(
            "no worker fits `arch == 'x86' and zone != 'a'`: 1 worker has arch=arm64, zone=a; 2"
                + " workers have arch=arm64, zone=b; 1 worker has no arch, no zone");
    WorkerInfo lost =
        WorkerInfo.of(new WorkerRef("w5", 1), "h")
            .address("h:1")
            .labels(Map.of("arch", "x86"))
            .state(State.LOST)
            .build();
    pool.add(lost);
    core.workers(pool);
    assertThat(why("x", "d0"))
        .isEqualTo(
            "no worker fits `arch == 'x86'`: 3 workers have arch=arm64; 1 worker has no arch;"
                + " of those that fit, none takes tasks now: 1 lost");
    pool.set(3, labelled("w4", Map.of("arch", "x86")));
    core.workers(pool);
    core.verify();
    assertThat(workers()).containsOnly("w4").hasSize(8);
  }

  @Test
  void onlyHealthyWorkersThatAreNotCordonedTakeTasks() {
    List<WorkerInfo> pool = new ArrayList<>();
    for (State state : State.values()) {
      pool.add(WorkerFixture.of("w_" + state, "h", state, Map.of()));
    }
    WorkerInfo healthy = WorkerFixture.healthy("cordoned", "h");
    pool.add(WorkerInfo.of(healthy.ref(), "h").cordoned(true).note("by hand").build());
    core.workers(pool);
    apply(new ConfigFixture("db").job("a"), nodes(3));
    assertThat(workers()).containsExactly("w_HEALTHY", "w_HEALTHY", "w_HEALTHY");
    pool.removeIf(WorkerInfo::takesTasks);
    core.workers(pool);
    core.finish(core.running().all()[0], null);
    assertThat(round()).isEmpty();
    assertThat(why("a", core.topology().name(1)))
        .contains("none of 5 workers takes tasks now")
        .contains("1 cordoned, 1 draining, 1 lost, 1 new, 1 unhealthy");
  }

  @Test
  void aWorkerRunsNoMoreTasksThanItTakesAtOnce() {
    WorkerInfo small = WorkerFixture.healthy("w1", "h");
    core.workers(List.of(WorkerInfo.of(small.ref(), "h").maxTasks(2).build()));
    apply(new ConfigFixture("db").job("a"), nodes(3));
    assertThat(round()).hasSize(2);
    assertThat(why("a", "d2")).isEqualTo("2 tasks run on worker w1, no more at once");
  }

  @Test
  void aCapacityThatIsCutStopsOnlyTheJobsThatNeedIt() {
    core.workers(List.of(WorkerFixture.healthy("w1", "h1")));
    ConfigFixture config =
        new ConfigFixture("db")
            .resource("worker", "ram", 4, 0)
            .job("heavy", new JobFixture("heavy").needs("ram", 2))
            .job("light", new JobFixture("light").disabled());
    apply(config, nodes(3));
    assertThat(round()).hasSize(2);
    apply(config.override("h1", "ram", 1).job("light", new JobFixture("light")), nodes(3));
    assertThat(core.capacity().workerUse().get(0).slots().get(0).used()).isEqualTo(4);
    assertThat(core.capacity().workerUse().get(0).slots().get(0).limit()).isEqualTo(1);
    assertThat(round()).containsExactlyInAnyOrder("d0@w1", "d1@w1", "d2@w1");
    assertThat(why("heavy", "d2"))
        .isEqualTo(
            "needs 2 of ram, 0 of 1 are free on worker w1;"
                + " it can never start there while the limit is 1");
  }

  @Test
  void overridesOfAProcessBeatThoseOfAHostAndThoseOfAShard() {
    core.workers(
        List.of(
            WorkerFixture.healthy("w1", "h"),
            WorkerFixture.healthy("w2", "h"),
            WorkerFixture.healthy("w3", "i")));
    ConfigFixture config =
        new ConfigFixture("db")
            .resource("worker", "ram", 4, 0)
            .override("h", "ram", 5)
            .override("w1", "ram", 6)
            .override("i", "ram", 7)
            .override("i:1", "ram", 8)
            .job("a");
    apply(config, nodes(1));
    assertThat(core.capacity().workerUse())
        .extracting(use -> use.slots().get(0).limit())
        .containsExactly(5, 5, 8);
  }

  @Test
  void theSchedulersOwnHostHasTheResourcesOfAWorkerAndNoPlacement() {
    WorkerInfo self = WorkerFixture.of("", "here", State.HEALTHY, Map.of("ram_mb", 4L));
    core.workers(
        List.of(WorkerInfo.of(WorkerRef.LOCAL, self.host()).physical(self.physical()).build()));
    apply(
        new ConfigFixture("db")
            .resource("worker", "ram", 100)
            .physical(PhysicalResource.Kind.RAM_MB, "ram", 2, 0)
            .job("a", new JobFixture("a").host("elsewhere").only("worker", "elsewhere")),
        nodes(3));
    assertThat(round()).hasSize(2);
    assertThat(why("a", "d2")).isEqualTo("needs 1 of ram, 0 of 2 are free on this host");
    assertThat(core.running().resourcesByNode(core.running().all()[0]))
        .isEqualTo(Map.of(TreeFixture.INSTANCE, Map.of("ram", 1)));
  }

  @Test
  void tasksOfALostWorkerHoldItsShardUntilTheyEnd() {
    core.workers(List.of(WorkerFixture.healthy("w1", "h1")));
    ConfigFixture config = new ConfigFixture("db").resource("worker", "slots", 1).job("a");
    apply(config, nodes(2));
    assertThat(round()).hasSize(1);
    core.workers(List.of());
    assertThat(core.capacity().workerUse()).extracting(use -> use.tasks()).containsExactly(1);
    core.workers(List.of(WorkerInfo.of(new WorkerRef("w1", 2), "h2").build()));
    assertThat(round()).as("the old instance's task is not known to be dead").isEmpty();
    core.finish(core.running().all()[0], null);
    assertThat(round()).hasSize(1);
    core.workers(List.of());
    core.finish(core.running().all()[0], null);
    assertThat(core.capacity().workerUse()).isEmpty();
  }

  @Test
  void anAdoptedTaskIsChargedOnItsWorkerAlsoBeforeThatIsThere() {
    core.workers(List.of());
    core.adopt("a", "d0", new WorkerRef("w1", 9));
    apply(new ConfigFixture("db").resource("worker", "slots", 1).job("a"), nodes(2));
    core.workers(List.of(WorkerFixture.healthy("w1", "h1")));
    assertThat(round()).isEmpty();
    assertThat(why("a", "d1")).isEqualTo("needs 1 of slots, 0 of 1 are free on worker w1");
    core.finish(core.running().all()[0], null);
    assertThat(round()).hasSize(1);
  }
}
