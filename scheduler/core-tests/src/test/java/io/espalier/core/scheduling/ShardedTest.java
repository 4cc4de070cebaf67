package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.api.RefusedException;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.config.Partition;
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
  void one_scheduler_alone_has_none_of_these_problems() {
    assertThat(parse(Partition.WHOLE).problems()).isEmpty();
  }
}
