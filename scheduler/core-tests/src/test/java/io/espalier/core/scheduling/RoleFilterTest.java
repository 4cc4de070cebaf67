package io.espalier.core.scheduling;

import static io.espalier.testkit.config.ConfigFixtures.job;
import static io.espalier.testkit.config.ConfigFixtures.withJobs;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.config.Partition;
import io.espalier.core.problem.Problem;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import io.espalier.core.topology.TopologyBuilder;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Nodes with several places, and what jobs say of the roles of these. */
final class RoleFilterTest {
  private static final TaskStatus DONE = TaskStatus.of(Main.DONE, 0, 1);

  private final SchedulingCore core = new SchedulingCore(3);

  private static ConfigFixture levels() {
    return new ConfigFixture("host", "shard");
  }

  /** s1 is primary on a and replica on b, s2 the other way round, s3 only on c. */
  private static Topology shards() {
    return TreeFixture.of(
        levels().levels(),
        NodeOrder.ORIGINAL,
        List.of(
            NodeSpec.child(1, "a", null),
            NodeSpec.child(1, "b", null),
            NodeSpec.child(1, "c", null),
            NodeSpec.child(2, "s1", "a").withRole("primary"),
            NodeSpec.child(2, "s1", "b").withRole("replica"),
            NodeSpec.child(2, "s2", "b").withRole("primary"),
            NodeSpec.child(2, "s2", "a").withRole("replica"),
            NodeSpec.child(2, "s3", "c")));
  }

  private Map<String, String> round() {
    Map<String, String> roles = new HashMap<>();
    core.round(
        TestPolicies.IN_TURN,
        100_000,
        run -> {
          String path =
              String.join(
                  "/", core.running().path(run).subList(1, core.running().path(run).size()));
          assertThat(roles.put(core.running().jobName(run) + " " + path, core.running().role(run)))
              .isNull();
        });
    core.verify();
    return roles;
  }

  @Test
  void a_job_uses_only_places_with_its_roles_and_those_without_any() {
    core.apply(
        levels().job("backup", new JobFixture("backup").roles("replica")).build(), shards(), 0);
    assertThat(round())
        .isEqualTo(Map.of("backup b/s1", "replica", "backup a/s2", "replica", "backup c/s3", ""));
  }

  @Test
  void explain_names_the_role_that_is_in_the_way() {
    core.apply(
        levels()
            .resource("host", "slots", 1)
            .job("backup", new JobFixture("backup").roles("witness"))
            .build(),
        shards(),
        0);
    assertThat(round()).containsOnlyKeys("backup c/s3");
    Explanation why = core.tasks().explain("backup", "s1");
    assertThat(why.reasons()).hasSize(1);
    assertThat(why.reasons().get(0).kind()).isEqualTo(Kind.FILTERED);
    assertThat(why.reasons().get(0).message())
        .isEqualTo(
            "the job uses only places with the role witness, and under a the node is primary");
  }

  @Test
  void explain_says_what_is_in_the_way_in_every_other_place() {
    core.apply(
        levels()
            .resource("host", "slots", 1)
            .job("first", new JobFixture("first").roles("primary").only("shard", "s2"))
            .job("last", new JobFixture("last").roles("primary").only("shard", "s1", "s2"))
            .build(),
        shards(),
        0);
    assertThat(round()).hasSize(2);
    // s1 runs under a as primary; s2, or first's s2, under b.
    Explanation why = core.tasks().explain("last", "s2");
    assertThat(why.alternatives()).hasSize(1);
    Explanation.Alternative other = why.alternatives().get(0);
    assertThat(other.parent()).isEqualTo("a");
    assertThat(other.role()).isEqualTo("replica");
    assertThat(other.messages())
        .anyMatch(m -> m.contains("only places with the role primary, and under a"))
        .anyMatch(m -> m.startsWith("a: needs 1 of slots, 0 of 1 are free"));
    assertThat(core.tasks().explain("last", "s3").alternatives()).isEmpty();
  }

  @Test
  void of_two_places_the_permitted_one_is_explained() {
    core.apply(
        levels()
            .resource("host", "slots", 1)
            .job("first", new JobFixture("first").only("shard", "s2"))
            .job("backup", new JobFixture("backup").roles("replica").only("shard", "s1", "s2"))
            .build(),
        shards(),
        0);
    // One of them takes b; whichever waits, waits for slots of its only permitted host.
    round();
    for (String node : List.of("s1", "s2")) {
      Explanation why = core.tasks().explain("backup", node);
      assertThat(why.reasons()).extracting(Explanation.Reason::kind).doesNotContain(Kind.FILTERED);
    }
  }

  @Test
  void roles_can_be_changed_while_tasks_run() {
    core.apply(
        levels().job("j", new JobFixture("j").roles("replica").only("shard", "s1")).build(),
        shards(),
        0);
    assertThat(round()).isEqualTo(Map.of("j b/s1", "replica"));
    Config other =
        levels().job("j", new JobFixture("j").roles("primary").only("shard", "s1", "s2")).build();
    core.apply(other, shards(), 0);
    core.verify();
    assertThat(round()).isEqualTo(Map.of("j b/s2", "primary"));
    assertThat(core.running().orphans()).isEmpty();
  }

  /** No resource keeps a shard from being started twice: that it has one status does. */
  @Test
  void a_node_with_many_parents_runs_once_however_many_places_are_open() {
    for (int seed = 0; seed < 60; seed++) {
      Random random = new Random(seed);
      int schedulers = 1 + random.nextInt(4);
      List<NodeSpec> nodes = new ArrayList<>();
      int hosts = 2 + random.nextInt(8);
      for (int h = 0; h < hosts; h++) {
        nodes.add(NodeSpec.child(1, "h" + h, null));
      }
      int shards = 1 + random.nextInt(60);
      for (int s = 0; s < shards; s++) {
        int from = random.nextInt(hosts);
        int copies = 1 + random.nextInt(hosts);
        for (int c = 0; c < copies; c++) {
          nodes.add(
              NodeSpec.child(2, "s" + s, "h" + (from + c) % hosts)
                  .withRole(c == 0 ? "primary" : "replica"));
        }
      }
      Map<String, Integer> starts = new HashMap<>();
      for (int i = 0; i < schedulers; i++) {
        runAll(new Partition(i, schedulers), nodes, random, starts);
      }
      assertThat(starts).hasSize(2 * shards);
      assertThat(starts.values()).containsOnly(1);
    }
  }

  private static void runAll(
      Partition shard, List<NodeSpec> nodes, Random random, Map<String, Integer> starts) {
    ConfigFixture fixture =
        levels().order(NodeOrder.RANDOM).job("one").job("two", new JobFixture("two"));
    TopologyBuilder builder = new TopologyBuilder(fixture.levels(), "here", shard);
    nodes.forEach(builder::add);
    Topology topology = Objects.requireNonNull(builder.build(NodeOrder.RANDOM).value());
    Config whole = fixture.build();
    SchedulingCore core = new SchedulingCore(random.nextLong());
    core.apply(new Config(whole.settings(), whole.jobs(), whole.warnings(), shard), topology, 0);
    Deque<Long> running = new ArrayDeque<>();
    boolean more = true;
    while (more || !running.isEmpty()) {
      Set<String> alive = new HashSet<>();
      running.forEach(
          run -> alive.add(core.running().jobName(run) + "/" + core.running().nodeName(run)));
      List<Long> started = new ArrayList<>();
      core.round(TestPolicies.IN_TURN, 1 + random.nextInt(100), started::add);
      more = !started.isEmpty();
      for (long run : started) {
        String task = core.running().jobName(run) + "/" + core.running().nodeName(run);
        assertThat(alive.add(task)).as(task).isTrue();
        starts.merge(task, 1, Integer::sum);
        running.add(run);
      }
      for (int ends = random.nextInt(running.size() + 1); ends > 0; ends--) {
        core.finish(running.remove(), DONE);
      }
      core.verify();
      if (!more && !running.isEmpty()) {
        core.finish(running.remove(), DONE);
      }
    }
  }

  private static final String SETTINGS =
      "{'nodes': {'levels': ['host'], 'node_sources': [{'source': 'empty'}]}, 'resources': {}}";

  @Test
  void roles_are_read_and_wrong_ones_are_errors() {
    Job good =
        job(withJobs(SETTINGS, "j", "{'owner': 'o', 'roles': ['replica', 'x', 'replica']}"), "j");
    assertThat(good.problems()).isEmpty();
    assertThat(good.scheduling().roles()).containsExactly("replica", "x");
    assertThat(job(withJobs(SETTINGS, "j", "{'owner': 'o'}"), "j").scheduling().roles()).isEmpty();
    Job bad = job(withJobs(SETTINGS, "j", "{'owner': 'o', 'roles': ['a b', '']}"), "j");
    assertThat(bad.isValid()).isFalse();
    assertThat(bad.problems())
        .extracting(Problem::path)
        .containsExactly("bistro_job->j.roles[0]", "bistro_job->j.roles[1]");
    assertThat(job(withJobs(SETTINGS, "j", "{'owner': 'o', 'roles': 'replica'}"), "j").isValid())
        .isFalse();
    assertThat(job(withJobs(SETTINGS, "j", "{'owner': 'o', 'role': ['a']}"), "j").problems())
        .extracting(Problem::hint)
        .containsExactly("did you mean \"roles\"?");
  }
}
