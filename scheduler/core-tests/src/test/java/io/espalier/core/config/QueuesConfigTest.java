package io.espalier.core.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.write.BistroJobWriter;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.testkit.config.ConfigFixtures;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

/** {@code queues}, {@code priority_half_life_sec} and {@code queue}. */
final class QueuesConfigTest {
  private static final String TREE =
      "'nodes': {'levels': ['host'], 'node_sources': [{'source': 'empty'}]},"
          + " 'resources': {'host': {'slots': {'default': 1, 'limit': 2}}}";

  private static final String QUEUES =
      "{"
          + TREE
          + ", 'priority_half_life_sec': 60, 'queue': 'etl', 'queues': {'etl': {'priority_factor':"
          + " 0.5, 'max_slots': {'slots': 7}, 'max_fraction': {'slots': 0.25}}, 'web': {}}}";

  private static Job job(String settings, String member) {
    return ConfigFixtures.job(
        ConfigFixtures.withJobs(settings, "j", "{'owner': 'o'" + member + "}"), "j");
  }

  private static List<String> problems(String members) {
    return ConfigFixtures.parse("{'bistro_settings': {" + TREE + ", " + members + "}}")
        .problems()
        .stream()
        .filter(Problem::isError)
        .map(problem -> problem.path() + ": " + problem.message() + ", " + problem.hint())
        .toList();
  }

  @Test
  void queuesAreReadInTheirOrder() {
    Config config = ConfigFixtures.withJobs(QUEUES);
    LimitRules rules = config.settings().rules();
    assertThat(rules.priorityHalfLife()).isEqualTo(Duration.ofMinutes(1));
    assertThat(rules.queues())
        .containsExactly(
            new QueueSpec("etl", 0.5, Map.of(0, 7), Map.of(0, 0.25)),
            new QueueSpec("web", 1, Map.of(), Map.of()));
  }

  @Test
  void withoutThemThereIsTheDefaultQueueAndAnHour() {
    Config config = ConfigFixtures.withJobs("{" + TREE + "}", "j", "{'owner': 'o'}");
    assertThat(config.settings().rules()).isEqualTo(LimitRules.NONE);
    assertThat(LimitRules.NONE.priorityHalfLife()).isEqualTo(Duration.ofHours(1));
    assertThat(ConfigFixtures.job(config, "j").scheduling().queue()).isEqualTo("default");
  }

  @Test
  void aJobNamesItsQueueOrInheritsIt() {
    assertThat(job(QUEUES, "").scheduling().queue()).isEqualTo("etl");
    assertThat(job(QUEUES, ", 'queue': 'web'").scheduling().queue()).isEqualTo("web");
    assertThat(job(QUEUES, ", 'queue': 'default'").scheduling().queue()).isEqualTo("default");
  }

  @Test
  void aQueueThatIsNotConfiguredIsAnErrorOfTheJob() {
    Job job = job(QUEUES, ", 'queue': 'wib'");
    assertThat(job.canRun()).isFalse();
    assertThat(job.problems())
        .singleElement()
        .satisfies(
            problem -> {
              assertThat(problem.path()).isEqualTo("bistro_job->j.queue");
              assertThat(problem.message()).isEqualTo("unknown queue");
              assertThat(problem.hint()).contains("did you mean \"web\"?");
            });
    assertThat(job("{" + TREE + "}", ", 'queue': 'etl'").problems())
        .singleElement()
        .satisfies(problem -> assertThat(problem.hint()).contains("list it in \"queues\""));
  }

  @Test
  void brokenQueuesAreAllReported() {
    assertThat(
            problems(
                "'queues': {'a b': {}, 'c': {'priority_factor': 0, 'max_slots': {'slotz': 1,"
                    + " 'slots': -1}, 'max_fraction': {'slots': 2}}}, 'queue': 'd',"
                    + " 'priority_half_life_sec': 0"))
        .hasSize(7)
        .anySatisfy(text -> assertThat(text).contains("did you mean \"slots\"?"));
  }

  @Test
  void weightsAreReadAndQueuesWithoutOneHaveNone() {
    Config config =
        ConfigFixtures.withJobs("{" + TREE + ", 'queues': {'a': {'weight': 3}, 'b': {}}}");
    assertThat(config.settings().rules().queues())
        .extracting(QueueSpec::weight)
        .containsExactly(OptionalDouble.of(3), OptionalDouble.empty());
  }

  @Test
  void weightsAndFactorsAreNotMixed() {
    String wrong =
        "\"priority_factor\" cannot stand beside \"weight\", here or in another queue,"
            + " give all queues weights, or all of them factors";
    assertThat(problems("'queues': {'a': {'weight': 3, 'priority_factor': 1}}"))
        .containsExactly("bistro_settings.queues.a.priority_factor: " + wrong);
    assertThat(problems("'queues': {'a': {'weight': 3}, 'b': {'priority_factor': 2}}"))
        .containsExactly("bistro_settings.queues.b.priority_factor: " + wrong);
  }

  @Test
  void aWeightIsANumberAboveZero() {
    for (String bad : List.of("0", "-1", "1e7", "'three'", "[]", "null")) {
      assertThat(problems("'queues': {'a': {'weight': " + bad + "}}"))
          .as(bad)
          .singleElement()
          .asString()
          .startsWith("bistro_settings.queues.a.weight: ");
    }
  }

  @Test
  void theExportSaysTheQueueWhereItIsNotTheInheritedOne() {
    Config config = ConfigFixtures.withJobs(QUEUES);
    Json.Obj other = BistroJobWriter.toJson(job(QUEUES, ", 'queue': 'web'"), config.settings());
    assertThat(other.get("queue")).isEqualTo(Json.of("web"));
    assertThat(BistroJobWriter.toJson(job(QUEUES, ""), config.settings()).get("queue")).isNull();
  }
}
