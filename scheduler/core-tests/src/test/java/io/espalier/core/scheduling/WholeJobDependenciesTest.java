package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.config.WholeJobDependency;
import io.espalier.core.json.Json;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Jobs that wait for whole jobs ({@code run_only_after_all_nodes_are_done_for},
 * docs/design/bistro.md#dependencies).
 */
final class WholeJobDependenciesTest {
  private static final TaskStatus DONE = TaskStatus.of(Main.DONE, 0, 1);

  private static final Topology TAGGED =
      TreeFixture.of(
          new ConfigFixture("db").levels(),
          NodeOrder.ORIGINAL,
          List.of(
              new NodeSpec(1, "d1", null, 0, true, Set.of("canary"), Json.Obj.EMPTY),
              new NodeSpec(1, "d2", null, 0, true, Set.of(), Json.Obj.EMPTY),
              new NodeSpec(1, "d3", null, 0, true, Set.of(), Json.Obj.EMPTY)));

  private final SchedulingCore core = new SchedulingCore(11);

  private void apply(ConfigFixture config) {
    core.apply(config.build(), TAGGED, 0);
  }

  private List<String> round() {
    List<String> starts = new ArrayList<>();
    assertThat(core.round(TestPolicies.IN_TURN, 1000, run -> starts.add(name(run)))).isTrue();
    core.verify();
    return starts;
  }

  private String name(long run) {
    return core.running().jobName(run) + "/" + core.running().nodeName(run);
  }

  private void done(String job, String node) {
    for (long run : core.running().all()) {
      if (name(run).equals(job + "/" + node)) {
        core.finish(run, DONE);
        return;
      }
    }
    throw new AssertionError(job + "/" + node + " does not run");
  }

  private Explanation.Reason reason(String job) {
    List<Explanation.Reason> reasons = core.tasks().explain(job, "d3").reasons();
    assertThat(reasons).hasSize(1);
    assertThat(reasons.get(0).kind()).isEqualTo(Kind.JOB_DEPENDENCY);
    return reasons.get(0);
  }

  @Test
  void aJobStartsNothingBeforeAllOfAnotherIsDone() {
    apply(
        new ConfigFixture("db")
            .job("a", new JobFixture("a").only("db", "d1", "d2"))
            .job("b", new JobFixture("b").after(WholeJobDependency.of("a"))));
    assertThat(round()).containsExactlyInAnyOrder("a/d1", "a/d2");
    done("a", "d1");
    assertThat(round()).isEmpty();
    assertThat(reason("b").message()).isEqualTo("waits for job a, which is done on 1 of 2 nodes");
    done("a", "d2");
    assertThat(round()).containsExactlyInAnyOrder("b/d1", "b/d2", "b/d3");
  }

  @Test
  void aJobWaitsAgainWhenATaskOfTheOtherIsToRunAgain() {
    apply(
        new ConfigFixture("db")
            .resource("db", "lock", 1)
            .job("a", new JobFixture("a").needs("lock", 0))
            .job("b", new JobFixture("b").after(WholeJobDependency.of("a"))));
    round();
    for (String node : List.of("d1", "d2", "d3")) {
      done("a", node);
    }
    core.setStatus(core.findJob("a"), core.topology().find(1, "d2"), null);
    assertThat(round()).containsExactly("a/d2");
    done("a", "d2");
    assertThat(round()).containsExactlyInAnyOrder("b/d1", "b/d2", "b/d3");
  }

  @Test
  void aShareOfTheOtherJobOrItsTaggedNodesMayDo() {
    apply(
        new ConfigFixture("db")
            .job("a")
            .job(
                "c", new JobFixture("c").after(new WholeJobDependency("a", 100, List.of("canary"))))
            .job("m", new JobFixture("m").after(new WholeJobDependency("a", 66, List.of()))));
    round();
    done("a", "d1");
    assertThat(round()).allMatch(start -> start.startsWith("c/")).hasSize(3);
    done("a", "d3");
    assertThat(round()).allMatch(start -> start.startsWith("m/")).hasSize(3);
  }

  @Test
  void aJobThatIsDisabledOrNotConfiguredIsWaitedFor() {
    ConfigFixture config =
        new ConfigFixture("db")
            .job("a", new JobFixture("a").only("db", "none"))
            .job("b", new JobFixture("b").after(WholeJobDependency.of("a")));
    config.job("a", new JobFixture("a").only("db", "none").disabled());
    apply(config);
    assertThat(round()).isEmpty();
    assertThat(reason("b").message()).endsWith("is disabled");
    apply(config.withoutJob("a"));
    assertThat(round()).isEmpty();
    assertThat(reason("b").message()).endsWith("is not configured");
    // No nodes at all: nothing is left to be done.
    apply(config.job("a", new JobFixture("a").only("db", "none")));
    assertThat(round()).hasSize(3);
  }
}
