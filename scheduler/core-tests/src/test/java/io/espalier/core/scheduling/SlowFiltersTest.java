package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.FilterSteps;
import io.espalier.core.config.Job;
import io.espalier.core.config.JobFilter;
import io.espalier.core.config.NodeLimitRule;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.problem.Problem;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import io.espalier.testkit.scheduling.WorkerFixture;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Regular expressions that take for ever hurt only the job, or the rule, that has them. */
final class SlowFiltersTest {
  private static final Pattern SLOW = Pattern.compile("x*x*x*x*x*x*x*x*y");
  private static final String LONG_NAME = "x".repeat(240);
  private static final JobFilter FILTER =
      new JobFilter(Set.of(), SLOW, Set.of(), null, Set.of(), 1);

  private final SchedulingCore core = new SchedulingCore(5);

  private static Topology topology(ConfigFixture config) {
    List<NodeSpec> nodes = new ArrayList<>();
    for (String name : List.of("xy", LONG_NAME, "z")) {
      nodes.add(NodeSpec.child(1, name, null));
    }
    return TreeFixture.of(config.levels(), NodeOrder.ORIGINAL, nodes);
  }

  @Test
  void aNodeFilterThatIsTooSlowMakesItsJobInvalidAndNoOther() {
    ConfigFixture fixture =
        new ConfigFixture("host")
            .job("bad", new JobFixture("bad").filter("host", FILTER))
            .job("good", new JobFixture("good"));
    core.apply(fixture.build(), topology(fixture), 0);
    core.verify();
    List<Long> starts = new ArrayList<>();
    assertThat(core.round(TestPolicies.IN_TURN, 100, starts::add)).isTrue();
    assertThat(starts).hasSize(3);
    Job bad = Objects.requireNonNull(core.config().job("bad"));
    assertThat(bad.isValid()).isFalse();
    assertThat(bad.problems())
        .singleElement()
        .satisfies(
            problem -> {
              assertThat(problem.path()).isEqualTo("bistro_job->bad.filters.host");
              assertThat(problem.message()).contains("too many steps on a name of 240 characters");
            });
    assertThat(Objects.requireNonNull(core.config().job("good")).isValid()).isTrue();
    assertThat(core.capacity().nodeProblems())
        .as("what the page of problems lists")
        .isEqualTo(bad.problems());
  }

  @Test
  void aFilterThatIsTooSlowStaysSoOverChangesInPlaceAndIsForgottenWithThePattern() {
    ConfigFixture fixture =
        new ConfigFixture("host").job("bad", new JobFixture("bad").filter("host", FILTER));
    Topology topology = topology(fixture);
    core.apply(fixture.build(), topology, 0);
    fixture.job("bad", new JobFixture("bad").priority(7).filter("host", FILTER));
    core.apply(fixture.build(), topology, 1);
    core.verify();
    assertThat(Objects.requireNonNull(core.config().job("bad")).isValid()).isFalse();
    assertThat(core.round(TestPolicies.IN_TURN, 100, start -> {})).isTrue();
    assertThat(core.running().count()).isZero();
    fixture.job("bad", new JobFixture("bad").only("host", "xy"));
    core.apply(fixture.build(), topology, 2);
    assertThat(Objects.requireNonNull(core.config().job("bad")).isValid()).isTrue();
    List<Long> starts = new ArrayList<>();
    assertThat(core.round(TestPolicies.IN_TURN, 100, starts::add)).isTrue();
    assertThat(starts).hasSize(1);
  }

  @Test
  void aWorkerFilterThatIsTooSlowFindsNoWorkerForItsJobAlone() {
    ConfigFixture fixture =
        new ConfigFixture("host")
            .job("bad", new JobFixture("bad").filter("worker", FILTER))
            .job("good", new JobFixture("good"));
    core.workers(List.of());
    core.apply(fixture.build(), topology(fixture), 0);
    core.workers(
        List.of(WorkerFixture.healthy("w1", LONG_NAME), WorkerFixture.healthy("w2", "xy")));
    List<Long> starts = new ArrayList<>();
    assertThat(core.round(TestPolicies.IN_TURN, 100, starts::add)).isTrue();
    assertThat(starts).hasSize(3);
    assertThat(core.capacity().nodeProblems())
        .extracting(Problem::path)
        .containsExactly("bistro_job->bad.filters.worker");
  }

  @Test
  void aNodeLimitThatIsTooSlowNeverLetsMoreThanItSays() {
    ConfigFixture fixture =
        new ConfigFixture("host")
            .resource("host", "slots", 5)
            .job("j", new JobFixture("j").needs("slots", 1));
    fixture.nodeLimits(List.of(NodeLimitRule.ofRegex(1, SLOW, Map.of("slots", 2))));
    core.apply(fixture.build(), topology(fixture), 0);
    core.verify();
    for (String name : List.of("xy", LONG_NAME, "z")) {
      assertThat(core.capacity().limit(core.topology().find(1, name), 0)).as(name).isEqualTo(2);
    }
    assertThat(core.capacity().nodeProblems())
        .singleElement()
        .satisfies(problem -> assertThat(problem.message()).contains("too many steps"));
  }

  @Tag("slow") // a billion steps
  @Test
  void manyNamesThatAreSlowTogetherAreTooSlow() {
    FilterSteps steps = new FilterSteps(10);
    Pattern quadratic = Pattern.compile("x*x*y");
    String name = "x".repeat(60);
    int looked = 0;
    while (!steps.isOver() && looked < 1_000_000) {
      assertThat(steps.finds(quadratic, name)).isFalse();
      looked++;
    }
    assertThat(steps.isOver()).isTrue();
    assertThat(looked).as("a few are no harm").isGreaterThan(10_000);
    assertThat(steps.finds(Pattern.compile("x"), name)).isFalse();
  }
}
