package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.api.RefusedException;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.config.Config;
import io.espalier.core.config.GroupRule;
import io.espalier.core.config.Job;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.config.Partition;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import io.espalier.core.topology.TopologyBuilder;
import io.espalier.testkit.config.ConfigFixtures;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * One of several schedulers that share the nodes of a configuration
 * (docs/design/design.md#schedulers-that-share-a-configuration).
 */
final class ShardedTest {
  private static final Partition FIRST = new Partition(0, 2);
  private static final Partition SECOND = new Partition(1, 2);

  private final SchedulingCore core = new SchedulingCore(5);

  /** With host2 in the first shard and host1 in the second. */
  private static Topology nodes(Partition shard) {
    TopologyBuilder builder =
        new TopologyBuilder(new ConfigFixture("host", "db").levels(), "here", shard);
    builder.add(NodeSpec.child(1, "host1", null));
    builder.add(NodeSpec.child(1, "host2", null));
    builder.add(NodeSpec.child(2, "d1", "host1"));
    builder.add(NodeSpec.child(2, "d2", "host2"));
    return Objects.requireNonNull(builder.build(NodeOrder.ORIGINAL).value());
  }

  private Set<String> starts(Partition shard, ConfigFixture fixture) {
    Config whole = fixture.build();
    core.apply(
        new Config(whole.settings(), whole.jobs(), whole.warnings(), shard), nodes(shard), 0);
    List<String> starts = new ArrayList<>();
    core.round(
        TestPolicies.IN_TURN,
        1000,
        run -> starts.add(core.running().jobName(run) + "/" + core.running().nodeName(run)));
    core.verify();
    return Set.copyOf(starts);
  }

  private static ConfigFixture jobs() {
    return new ConfigFixture("host", "db")
        .job("d", new JobFixture("d").level("db"))
        .job("h", new JobFixture("h").level("host"))
        .job("i", new JobFixture("i").level("instance"));
  }

  @Test
  void the_task_of_the_instance_runs_in_the_first_shard_alone() {
    assertThat(starts(FIRST, jobs())).containsExactlyInAnyOrder("d/d2", "h/host2", "i/here");
  }

  @Test
  void the_task_of_the_instance_says_where_it_belongs_in_the_others() {
    assertThat(starts(SECOND, jobs())).containsExactlyInAnyOrder("d/d1", "h/host1");
    Explanation why = core.tasks().explain("i", "here");
    assertThat(why.startable()).isFalse();
    assertThat(why.reasons())
        .extracting(Explanation.Reason::kind)
        .containsExactly(Kind.OTHER_SHARD);
    assertThat(why.reasons().get(0).message())
        .isEqualTo("tasks on the instance belong to the scheduler with shard 0/2");
  }

  @Test
  void a_filter_of_other_jobs_on_the_instance_stays_open() {
    assertThat(starts(SECOND, jobs().job("x", new JobFixture("x").only("instance", "nowhere"))))
        .containsExactlyInAnyOrder("d/d1", "h/host1");
  }

  @Test
  void nodes_of_other_shards_are_told_from_nodes_that_do_not_exist() {
    starts(FIRST, jobs());
    Explanation other = core.tasks().explain("h", "host1");
    assertThat(other.startable()).isFalse();
    assertThat(other.reasons().get(0).kind()).isEqualTo(Kind.OTHER_SHARD);
    assertThat(other.reasons().get(0).message()).contains("shard 1/2").contains("this one has 0/2");
    assertThatThrownBy(() -> core.tasks().explain("h", "db-042"))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("there is no such node");
    assertThatThrownBy(() -> core.tasks().explain("d", "d1"))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("among the nodes of shard 0/2")
        .hasMessageContaining("another scheduler has it");
  }

  private static Result<Config> parse(Partition shard) {
    return ConfigFixtures.parser()
        .inShard(shard)
        .parse(
            ConfigFixtures.json(
                """
                {'bistro_settings': {
                   'nodes': {'levels': ['host'], 'node_sources': [{'source': 'empty'}]},
                   'resources': {'instance': {'all': {'limit': 7, 'default': 1}},
                     'host': {'one': {'limit': 1, 'default': 1}}},
                   'start_rates': {'instance': 5, 'host': 1},
                   'queues': {'day': {'max_slots': {'one': 3}},
                     'night': {'max_fraction': {'one': 0.5}}}},
                 'bistro_job->global': {'owner': 'o', 'level_for_tasks': 'instance'},
                 'bistro_job->free': {'owner': 'o'},
                 'bistro_job->bounded': {'owner': 'o', 'max_starting': 2},
                 'bistro_job->staged': {'owner': 'o', 'rollout': {'stages': [1, '100%']}},
                 'bistro_job->chained': {'owner': 'o', 'depends_on': ['free']},
                 'bistro_job->below': {'owner': 'o', 'level_for_tasks': 'instance',
                   'depends_on': ['global']},
                 'bistro_job->after': {'owner': 'o',
                   'run_only_after_all_nodes_are_done_for': ['free']}}
                """));
  }

  @Test
  void what_no_scheduler_can_know_alone_is_an_error_of_the_job() {
    Config config = Objects.requireNonNull(parse(FIRST).value());
    assertThat(config.shard()).isEqualTo(FIRST);
    assertThat(config.jobs().values().stream().filter(job -> !job.isValid()).map(Job::name))
        .containsExactly("after", "below");
    Problem whole = Objects.requireNonNull(config.job("after")).problems().get(0);
    assertThat(whole.path())
        .isEqualTo("bistro_job->after.run_only_after_all_nodes_are_done_for[0]");
    assertThat(whole.message()).contains("2 schedulers share the nodes");
    assertThat(config.warnings())
        .extracting(problem -> problem.path() + " " + problem.message())
        .satisfiesExactly(
            limits ->
                assertThat(limits)
                    .contains("settings.resources the instance's limits of all hold for each of 2"),
            rates ->
                assertThat(rates)
                    .contains("settings.start_rates the start rates of the instance hold for each"),
            queues ->
                assertThat(queues)
                    .contains("settings.queues the \"max_slots\" of day hold for each of 2"));
  }

  @Test
  void each_scheduler_bounds_the_starts_of_a_job_by_itself() {
    Config config = Objects.requireNonNull(parse(FIRST).value());
    assertThat(Objects.requireNonNull(config.job("bounded")).problems())
        .extracting(problem -> problem.path() + " " + problem.message())
        .containsExactly(
            "bistro_job->bounded.max_starting this applies to each of 2 schedulers by itself, not"
                + " to all of them together");
  }

  @Test
  void each_scheduler_has_stages_of_its_own_part() {
    Config config = Objects.requireNonNull(parse(FIRST).value());
    assertThat(Objects.requireNonNull(config.job("staged")).problems())
        .extracting(problem -> problem.path() + " " + problem.message())
        .containsExactly(
            "bistro_job->staged.rollout this applies to each of 2 schedulers by itself, not to all"
                + " of them together");
  }

  @Test
  void one_scheduler_alone_has_none_of_these_problems() {
    assertThat(parse(Partition.WHOLE).problems()).isEmpty();
  }

  private static final GroupRule SET = new GroupRule("set", 2, "attribute:set", 2, 0);

  /**
   * Three databases under host2, of the first shard, and one under host1: the groups "a" and "b"
   * are of two and of one member of the first shard, "a" has a member in the second shard.
   */
  private static Topology inGroups(int lowestSeen, String ofOther) {
    TopologyBuilder builder =
        new TopologyBuilder(new ConfigFixture("host", "db").levels(), "here", FIRST)
            .groups(List.of(SET), lowestSeen);
    builder.add(NodeSpec.child(1, "host1", null));
    builder.add(NodeSpec.child(1, "host2", null));
    List.of("a host2/d1", "a host2/d2", "b host2/d3", ofOther + " host1/e1")
        .forEach(
            line -> {
              String[] words = line.split("[ /]", -1);
              Json.Obj attributes = Json.object().put("set", words[0]).build();
              builder.add(new NodeSpec(2, words[2], words[1], 1, true, Set.of(), attributes));
            });
    return Objects.requireNonNull(builder.build(NodeOrder.ORIGINAL).value());
  }

  private List<String> startsIn(Topology nodes) {
    Config whole = new ConfigFixture("host", "db").groups(SET).job("d").build();
    core.apply(new Config(whole.settings(), whole.jobs(), whole.warnings(), FIRST), nodes, 0);
    List<String> starts = new ArrayList<>();
    core.round(TestPolicies.IN_TURN, 1000, run -> starts.add(core.running().nodeName(run)));
    core.verify();
    return starts;
  }

  @Test
  void nothing_starts_on_members_of_a_group_that_another_scheduler_has_members_of_too() {
    assertThat(startsIn(inGroups(2, "a"))).containsExactly("d3");
    assertThat(core.tasks().explain("d", "d1").reasons())
        .extracting(Explanation.Reason::message)
        .containsExactly(
            "set a has 2 members here and 1 on other schedulers: none of them may be busy, as no"
                + " scheduler knows how many are");
    assertThat(core.capacity().nodeProblems())
        .extracting(Problem::message)
        .containsExactly(
            "the members of 1 group, a (2 members here and 1 on other schedulers), are on several"
                + " schedulers, so nothing starts on them");
    // The node moves, or gets another value: the group is that of one scheduler again.
    assertThat(startsIn(inGroups(2, "c"))).containsExactlyInAnyOrder("d1", "d2");
    assertThat(core.capacity().nodeProblems())
        .extracting(Problem::message)
        .containsExactly("no group has more members than may be busy at once");
  }

  @Test
  void a_group_that_becomes_spread_keeps_its_running_tasks_and_starts_none() {
    assertThat(startsIn(inGroups(2, "c"))).hasSize(3);
    assertThat(startsIn(inGroups(2, "a"))).isEmpty();
    assertThat(core.running().all()).hasSize(3);
    assertThat(core.running().orphans()).isEmpty();
  }

  @Test
  void nothing_starts_on_members_of_groups_whose_level_is_read_only_in_part() {
    assertThat(startsIn(inGroups(1, "c"))).isEmpty();
    assertThat(core.tasks().explain("d", "d3").reasons())
        .extracting(Explanation.Reason::message)
        .containsExactly(
            "set b may have members on other schedulers, because this one does not read all nodes:"
                + " none of them may be busy, as no scheduler knows how many are");
  }

  @Test
  void groups_of_a_level_that_each_scheduler_reads_a_part_of_are_a_problem_of_the_settings() {
    String text =
        """
        {'bistro_settings': {
           'nodes': {'levels': ['rack', 'host', 'db'], 'node_sources': [{'source': 'empty'},
             {'source': 'empty', 'prefs': {'parent_level': 'host', 'push_down': 'one_parent'}}]},
           'resources': {},
           'groups': {'sets': {'level': 'host', 'by': 'attribute:set', 'max_concurrent': 1},
             'disks': {'by': 'tag:x', 'max_concurrent': 1}}}}
        """;
    Config shared =
        Objects.requireNonNull(
            ConfigFixtures.parser().inShard(FIRST).parse(ConfigFixtures.json(text)).value());
    assertThat(shared.warnings())
        .extracting(Problem::path)
        .containsExactly("bistro_settings.groups.disks");
    assertThat(shared.warnings().get(0).message())
        .contains("nothing starts on the members of these groups")
        .contains("2 schedulers reads only a part of the nodes of level db");
    Config alone =
        Objects.requireNonNull(ConfigFixtures.parser().parse(ConfigFixtures.json(text)).value());
    assertThat(alone.warnings()).isEmpty();
    assertThat(shared.settings().nodesHash()).isNotEqualTo(alone.settings().nodesHash());
  }
}
