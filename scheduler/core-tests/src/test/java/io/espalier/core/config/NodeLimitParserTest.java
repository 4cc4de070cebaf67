package io.espalier.core.config;

import static io.espalier.testkit.config.ConfigFixtures.parse;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code node_resources_override} and {@code kill_over_limit_after_sec}. */
class NodeLimitParserTest {
  private static Result<Config> read(String entries) {
    return parse(
        "{'bistro_settings': {'nodes': {'levels': ['host']}, 'resources': {"
            + "'host': {'slots': {'default': 1, 'limit': 2}, 'io': {'default': 0, 'limit': 9}},"
            + "'worker': {'ram': {'default': 0, 'limit': 5}}},"
            + "'node_resources_override': "
            + entries
            + "}}");
  }

  private static Settings settings(String entries) {
    Config config = read(entries).value();
    assertThat(config).isNotNull();
    if (config == null) {
      throw new AssertionError("broken");
    }
    return config.settings();
  }

  @Test
  void entriesKeepTheirOrderAndTheirPlace() {
    List<NodeLimitRule> limits =
        settings(
                "[{'level': 'host', 'name': 'db7', 'limits': {'slots': 5}},"
                    + "{'level': 'host', 'tag': 'ssd', 'limits': {'slots': 3, 'io': '7'}},"
                    + "{'level': 'host', 'regex': '^old-', 'limits': {'slots': 0}},"
                    + "{'level': 'host', 'attribute': 'rack', 'value': 7, 'limits': {'io': 1}},"
                    + "{'level': 'host', 'attribute': 'iops', 'resource': 'io', '_why': 'x'}]")
            .rules()
            .nodeLimits();
    assertThat(limits)
        .extracting(NodeLimitRule::kind)
        .containsExactly(
            NodeLimitRule.Kind.NAME,
            NodeLimitRule.Kind.TAG,
            NodeLimitRule.Kind.REGEX,
            NodeLimitRule.Kind.VALUE,
            NodeLimitRule.Kind.ATTRIBUTE);
    assertThat(limits.get(1).limits()).isEqualTo(Map.of("slots", 3, "io", 7));
    assertThat(limits.get(3).value()).isEqualTo("7");
    assertThat(limits.get(4).path()).isEqualTo("bistro_settings.node_resources_override[4]");
  }

  @Test
  void entriesOfWorkersCountAfterTheirOverrides() {
    Settings settings =
        settings(
            "[{'level': 'worker', 'regex': '^big', 'limits': {'ram': 50}},"
                + "{'level': 'worker', 'name': 'h2:81', 'limits': {'ram': 7}}],"
                + "'worker_resources_override': {'h2': {'ram': 6}}");
    assertThat(WorkerSlots.of(settings, "h1:80", "h1", "w1", Map.of())).containsEntry("ram", 5);
    assertThat(WorkerSlots.of(settings, "big:80", "big", "w1", Map.of())).containsEntry("ram", 50);
    assertThat(WorkerSlots.of(settings, "h2:80", "h2", "w1", Map.of())).containsEntry("ram", 6);
    assertThat(WorkerSlots.of(settings, "h2:81", "h2", "big", Map.of())).containsEntry("ram", 7);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'level': 'hst', 'name': 'a', 'limits': {}} | [0].level | unknown level",
        "{'name': 'a', 'limits': {}} | [0].level | the key is missing",
        "{'level': 'host', 'limits': {}} | [0] | nothing says which nodes are meant",
        "{'level': 'host', 'name': 'a', 'tag': 'b', 'limits': {}} | [0].tag | chosen by \"name\"",
        "{'level': 'host', 'name': 'a'} | [0] | expected \"limits\"",
        "{'level': 'host', 'name': 'a', 'limits': {'slot': 1}} | [0].limits.slot | unknown",
        "{'level': 'host', 'name': 'a', 'limits': {'ram': 1}} | [0].limits.ram | of the level",
        "{'level': 'host', 'regex': '(', 'limits': {}} | [0].regex | not a regular expression",
        "{'level': 'worker', 'tag': 'a', 'limits': {}} | [0].tag | workers have no tags",
        "{'level': 'host', 'attribute': 'a'} | [0] | expected \"resource\"",
        "{'level': 'host', 'attribute': 'a', 'resource': 'ram'} | [0].resource | of the level",
        "{'level': 'host', 'name': 'a', 'nam': 1, 'limits': {}} | [0].nam | unknown key",
      })
  void whatIsWrongIsSaidWithItsPlace(String entry, String path, String message) {
    List<Problem> errors = read("[" + entry + "]").problems();
    assertThat(errors).filteredOn(Problem::isError).hasSize(1);
    Problem error = errors.stream().filter(Problem::isError).findFirst().orElseThrow();
    assertThat(error.path()).isEqualTo("bistro_settings.node_resources_override" + path);
    assertThat(error.message()).contains(message);
    assertThat(error.at().line()).isPositive();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-1",
        "2147483648",
        "1e400",
        "-1e400",
        "1.5",
        "'NaN'",
        "'Infinity'",
        "null",
        "true",
        "''",
        "'0x10'",
        "9223372036854775808",
        "1e-400",
        "[]"
      })
  void aNumberThatIsNoNumberOfSlotsIsAProblemWhereverItStands(String number) {
    String resource = "'resources': {'host': {'slots': {'default': 1, 'limit': 2}}}";
    String start = "{'bistro_settings': {'nodes': {'levels': ['host']}, ";
    for (String text :
        List.of(
            start + resource.replace("2", number) + "}}",
            start + resource.replace(": 1", ": " + number) + "}}",
            start + resource.replace("2}", "2, 'weight': " + number + "}") + "}}",
            start
                + resource
                + ", 'node_resources_override': [{'level': 'host', 'name': 'a',"
                + " 'limits': {'slots': "
                + number
                + "}}]}}",
            start
                + resource
                + "}, 'bistro_job->j': {'owner': 'o', 'resources': {'slots': "
                + number
                + "}}}")) {
      Result<Config> result = parse(text);
      assertThat(result.problems()).as(text).filteredOn(Problem::isError).hasSize(1);
      Problem problem =
          result.problems().stream().filter(Problem::isError).findFirst().orElseThrow();
      assertThat(problem.path()).as(text).isNotEmpty();
      assertThat(problem.value()).as(text).isNotNull();
      assertThat(problem.at().line()).as(text).isPositive();
    }
  }

  @ParameterizedTest
  @CsvSource({"0,0", "-0,0", "2147483647,2147483647", "5.0,5", "5e2,500", "'''12''',12"})
  void aWholeNumberIsOneHoweverItIsWritten(String text, int slots) {
    assertThat(
            settings("[{'level': 'host', 'name': 'a', 'limits': {'slots': " + text + "}}]")
                .rules()
                .nodeLimits()
                .get(0)
                .limits())
        .containsEntry("slots", slots);
  }

  private static Result<Config> kill(String seconds) {
    return parse(
        "{'bistro_settings': {'nodes': {'levels': ['host']}, 'resources': {'host': {'slots':"
            + " {'default': 1, 'limit': 2, 'kill_over_limit_after_sec': "
            + seconds
            + "}}}}}");
  }

  @ParameterizedTest
  @CsvSource({"0,0", "-0,0", "1.5,1500", "1e9,1000000000000", "'''60''',60000"})
  void theTimeUntilTasksAreKilledIsInSeconds(String seconds, long millis) {
    Config config = kill(seconds).value();
    assertThat(config).isNotNull();
    if (config != null) {
      assertThat(config.settings().rules().killOverLimit())
          .isEqualTo(Map.of("slots", Duration.ofMillis(millis)));
    }
  }

  @Test
  void falseIsNever() {
    Config config = kill("false").value();
    assertThat(config).isNotNull();
    if (config != null) {
      assertThat(config.settings().rules().killOverLimit()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"true", "-1", "1e400", "1.1e9", "'NaN'", "null", "[]", "'soon'"})
  void aTimeThatIsNoneIsAProblem(String seconds) {
    assertThat(kill(seconds).problems())
        .filteredOn(Problem::isError)
        .extracting(Problem::path)
        .containsExactly("bistro_settings.resources.host.slots.kill_over_limit_after_sec");
  }
}
