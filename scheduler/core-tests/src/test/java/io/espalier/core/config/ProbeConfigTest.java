package io.espalier.core.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.espalier.core.health.HealthRule;
import io.espalier.core.health.ProbeSpec;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.testkit.config.ConfigFixtures;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** {@code probes}, and {@code follows} and {@code floor} of a resource. */
class ProbeConfigTest {
  private static final String PUSH = "'source': 'push', 'bad_above': 5, 'good_below': 2";

  private static Result<Config> parse(String probes, String resource) {
    return ConfigFixtures.parse(
        """
        {'bistro_settings': {'nodes': {'levels': ['host', 'db'],
           'node_sources': [{'source': 'empty'}]}, 'probes': {%s},
           'resources': {'host': {'slots': {'default': 1, 'limit': 4%s}},
             'worker': {'ram': {'default': 0, 'limit': 1}}}}}
        """
            .formatted(probes, resource));
  }

  private static LimitRules rules(String probes, String resource) {
    Result<Config> parsed = parse(probes, resource);
    assertThat(parsed.problems()).isEmpty();
    return Objects.requireNonNull(parsed.value()).settings().rules();
  }

  private static List<String> problems(String probes, String resource) {
    return parse(probes, resource).problems().stream().map(Problem::message).toList();
  }

  @Test
  void aProbeAndWhatFollowsItAreRead() {
    LimitRules rules =
        rules(
            "'lag': {'level': 'host', 'source': 'push', 'bad_above': 5, 'good_below': 2.5,"
                + " 'every': '5s', 'max_age': '2m', 'on_blind': 'hold'}",
            ", 'follows': ['lag'], 'floor': 1");
    ProbeSpec probe = rules.probes().get(0);
    assertThat(probe.name()).isEqualTo("lag");
    assertThat(probe.level()).isEqualTo(1);
    assertThat(probe.isPushed()).isTrue();
    assertThat(probe.every()).isEqualTo(Duration.ofSeconds(5));
    assertThat(probe.maxAge()).isEqualTo(Duration.ofMinutes(2));
    assertThat(probe.badAbove()).isEqualTo(5);
    assertThat(probe.goodBelow()).isEqualTo(2.5);
    assertThat(probe.holds()).isTrue();
    assertThat(rules.health()).isEqualTo(Map.of("slots", new HealthRule(List.of("lag"), 1)));
  }

  @Test
  void withoutMoreAProbeIsOfTheLowestLevelAndGoesToTheFloor() {
    ProbeSpec probe = rules("'lag': {" + PUSH + "}", "").probes().get(0);
    assertThat(probe.level()).isEqualTo(2);
    assertThat(probe.every()).isEqualTo(Duration.ofSeconds(10));
    assertThat(probe.maxAge()).isEqualTo(Duration.ofSeconds(60));
    assertThat(probe.holds()).isFalse();
  }

  @Test
  void boundsThatContradictEachOtherAreErrors() {
    assertThat(problems("'lag': {'source': 'push', 'bad_above': 1, 'good_below': 2}", ""))
        .containsExactly("no value is good and bad: it must not be above \"bad_above\"");
    assertThat(
            problems(
                "'lag': {'source': 'file', 'bad_above': 5, 'good_below': 2, 'every': '60s'}", ""))
        .containsExactly(
            "values would be too old before the next ones come: \"max_age\" must be longer than"
                + " \"every\"");
  }

  @Test
  void aResourceFollowsOnlyProbesOfItsLevel() {
    String host = "'lag': {'level': 'host', " + PUSH + "}";
    assertThat(problems(host, ", 'follows': ['log']"))
        .containsExactly("it follows the probe \"log\", and there is none of this name");
    assertThat(
            problems(
                "'lag': {'level': 'host', 'bad_above': 5, 'good_below': 2}",
                ", 'follows': ['lag']"))
        .describedAs("a probe with a problem of its own is not missing")
        .singleElement(STRING)
        .startsWith("the key is missing");
    assertThat(problems("'lag': {" + PUSH + "}", ", 'follows': ['lag']"))
        .containsExactly("it follows the probe \"lag\", which is about another level, \"db\"");
    assertThat(problems(host, ", 'follows': ['lag'], 'floor': 5"))
        .containsExactly("its floor is above its limit");
    assertThat(problems(host, ", 'floor': 1"))
        .containsExactly("its floor has no effect: it follows no probe");
    assertThat(problems(host, ", 'follows': ['lag', 'lag']"))
        .containsExactly("it follows the probe \"lag\" twice");
  }

  private static List<String> rolloutProblems(String probes, String asked) {
    return ConfigFixtures.parse(
            """
            {'bistro_settings': {'nodes': {'levels': ['host', 'db'],
               'node_sources': [{'source': 'empty'}]}, 'probes': {%s}, 'resources': {}},
             'bistro_job->j': {'owner': 'o', 'command': ['x'], 'level_for_tasks': 'host',
               'rollout': {'stages': [1, '100%%'], 'probes': [%s]}}}
            """
                .formatted(probes, asked))
        .problems()
        .stream()
        .map(problem -> problem.path() + ": " + problem.message() + " " + problem.hint())
        .toList();
  }

  @Test
  void aRolloutAsksProbesOfTheLevelOfItsTasksOrAbove() {
    String probes =
        "'lag': {'level': 'host', %1$s}, 'all': {'level': 'instance', %1$s}, 'db': {'level': 'db',"
            + " %1$s}";
    assertThat(rolloutProblems(probes.formatted(PUSH), "'lag', 'all'")).isEmpty();
    assertThat(rolloutProblems(probes.formatted(PUSH), "'lga'"))
        .singleElement(STRING)
        .contains("rollout.probes[0]: unknown probe", "lag");
    assertThat(rolloutProblems(probes.formatted(PUSH), "'db'"))
        .singleElement(STRING)
        .contains(
            "rollout: probe \"db\" is about nodes of level \"db\", and the tasks do not run"
                + " below them");
  }

  @Test
  void aRolloutThatAsksABrokenProbeIsNoSecondProblem() {
    assertThat(rolloutProblems("'lag': {'level': 'hsot', " + PUSH + "}", "'lag'"))
        .singleElement(STRING)
        .contains("probes.lag.level");
  }

  private static Result<Config> groups(String follows, String resource) {
    String groups =
        "'rs': {'level': 'host', 'by': 'tag:rs', 'max_concurrent': 1, 'follows': " + follows + "}";
    String probes = "'lag': {'level': 'host', " + PUSH + "}, 'disk': {" + PUSH + "}";
    return ConfigFixtures.parse(
        """
        {'bistro_settings': {'nodes': {'levels': ['host', 'db'],
           'node_sources': [{'source': 'empty'}]}, 'groups': {%s}, 'probes': {%s},
           'resources': {'host': {'%s': {'default': 1, 'limit': 4}}}}}
        """
            .formatted(groups, probes, resource));
  }

  @Test
  void groupsFollowOnlyProbesOfTheirLevel() {
    Result<Config> good = groups("['lag']", "slots");
    assertThat(good.problems()).isEmpty();
    GroupRule rule = Objects.requireNonNull(good.value()).settings().rules().groups().get(0);
    assertThat(rule.follows()).containsExactly("lag");
    assertThat(rule.limitName()).isEqualTo("groups.rs");
    Problem unknown = groups("['log']", "slots").problems().get(0);
    assertThat(unknown.path()).isEqualTo("bistro_settings.groups.rs.follows[0]");
    assertThat(unknown.message())
        .isEqualTo("it follows the probe \"log\", and there is none of this name");
    assertThat(unknown.hint()).contains("lag");
    assertThat(groups("[5]", "slots").problems())
        .extracting(Problem::path, Problem::message)
        .containsExactly(
            tuple(
                "bistro_settings.groups.rs.follows[0]",
                "it follows the probe \"5\", and there is none of this name"));
    assertThat(groups("['disk']", "slots").problems())
        .extracting(Problem::message)
        .containsExactly("it follows the probe \"disk\", which is about another level, \"db\"");
    assertThat(groups("['lag', 'lag']", "slots").problems())
        .extracting(Problem::message)
        .containsExactly("it follows the probe \"lag\" twice");
    assertThat(groups("['lag']", "groups.rs").problems())
        .extracting(Problem::message)
        .containsExactly("it follows probes under the name \"groups.rs\", as a resource is named");
    assertThat(groups("[]", "groups.rs").problems()).isEmpty();
  }
}
