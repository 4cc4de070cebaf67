package io.espalier.core.config.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** C32 (docs/design/bistro.md#conformance-of-configurations): the lenient reader of settings. */
class ConfigObjectTest {
  private final Problems problems = new Problems();

  private ConfigObject fields(Json.Obj object) {
    return ConfigObject.of(object, ProblemPath.ROOT.key("root"), problems, ConfigSection.SETTINGS);
  }

  private ConfigValue value(Json json) {
    return new ConfigValue(json, ProblemPath.ROOT.key("v"), problems);
  }

  private static Json number(String digits) {
    return new Json.Num(new BigDecimal(digits));
  }

  @Test
  void c32_whatIsThereIsReadWhateverFormItsScalarHas() {
    ConfigObject fields =
        fields(
            Json.object()
                .put("enabled", "false")
                .put("working_wait", 5.5)
                .put("idle_wait", "5")
                .put("scheduler", 7)
                .build());
    assertThat(fields.bool("enabled", true)).isFalse();
    assertThat(fields.number("working_wait", 0, 0, 10)).isEqualTo(5.5);
    assertThat(fields.number("idle_wait", 0, 0, 10)).isEqualTo(5);
    assertThat(fields.int32("idle_wait", 0, 0)).isEqualTo(5);
    assertThat(fields.text("scheduler", "")).isEqualTo("7");
    assertThat(problems.sorted()).isEmpty();
  }

  @Test
  void c32_whatIsMissingTakesTheDefault() {
    ConfigObject fields = fields(Json.Obj.EMPTY);
    assertThat(fields.bool("enabled", true)).isTrue();
    assertThat(fields.number("working_wait", 1.5, 0, 10)).isEqualTo(1.5);
    assertThat(fields.text("scheduler", "x")).isEqualTo("x");
    assertThat(fields.texts("backoff", List.of("y"))).containsExactly("y");
    assertThat(fields.object("nodes", Json.Obj.EMPTY)).isEqualTo(Json.Obj.EMPTY);
    assertThat(problems.sorted()).isEmpty();
  }

  @Test
  void c32_whatIsRequiredAndMissingIsAnError() {
    assertThat(fields(Json.Obj.EMPTY).require("nodes", "an object")).isNull();
    assertThat(problems.sorted()).extracting(Problem::path).containsExactly("root.nodes");
  }

  @ParameterizedTest
  @CsvSource({
    "5, 5",
    "5.0, 5",
    "5e0, 5",
    "0.5e1, 5",
    "-3, -3",
    "2147483647, 2147483647",
    "2147483648,",
    "5.5,",
    "1e999999999,",
    "1e-999999999,"
  })
  void wholeNumbers(String digits, @Nullable Integer expected) {
    assertThat(value(number(digits)).int32(Integer.MIN_VALUE)).isEqualTo(expected);
    assertThat(value(Json.of(" " + digits + " ")).int32(Integer.MIN_VALUE)).isEqualTo(expected);
    assertThat(problems.count()).isEqualTo(expected == null ? 2 : 0);
  }

  @Test
  void otherKindsAreErrorsThatSayWhatWasFound() {
    assertThat(value(new Json.Null(io.espalier.core.json.Position.NONE)).text()).isNull();
    assertThat(value(Json.of(true)).int32(0)).isNull();
    assertThat(value(Json.of("yes")).bool()).isNull();
    assertThat(value(Json.of(2)).bool()).isNull();
    assertThat(value(Json.Arr.EMPTY).number(0, 1)).isNull();
    assertThat(value(Json.Obj.EMPTY).items()).isNull();
    assertThat(value(Json.Arr.EMPTY).object()).isNull();
    assertThat(value(Json.of("")).integer(0, 1)).isNull();
    assertThat(problems.sorted())
        .extracting(Problem::message)
        .containsExactly(
            "expected a string, found null",
            "expected a whole number, found a boolean",
            "expected true or false, found a string",
            "expected true or false, found a number",
            "expected a number, found a list",
            "expected a list, found an object",
            "expected an object, found a list",
            "expected a whole number, found a string");
  }

  @Test
  void booleansMayBeNumbersAndWords() {
    assertThat(value(Json.of(1)).bool()).isTrue();
    assertThat(value(number("1.0")).bool()).isTrue();
    assertThat(value(Json.of("1")).bool()).isTrue();
    assertThat(value(Json.of("true")).bool()).isTrue();
    assertThat(value(Json.of(0)).bool()).isFalse();
    assertThat(value(Json.of("0")).bool()).isFalse();
  }

  @Test
  void longValuesAreShortenedInProblems() {
    assertThat(value(Json.of("x".repeat(1000))).bool()).isNull();
    assertThat(problems.sorted().get(0).value()).hasSize(101).endsWith("…");
  }

  @Test
  void ofManyUnknownKeysTheFirstAreSearchedForTyposAndTheRestIsOneError() {
    Json.Builder object = Json.object().put("_why", "a comment");
    for (int i = 0; i < 60_000; i++) {
      object.put(i == 7 ? "enable" : "key" + i, i);
    }
    ConfigObject fields = fields(object.put("enabled", false).build());
    assertThat(fields.bool("enabled", true)).isFalse();
    assertThat(problems.count()).isEqualTo(21);
    assertThat(problems.errors()).as("the typo, and that there are more").isEqualTo(2);
    assertThat(problems.sorted())
        .anyMatch(problem -> "did you mean \"enabled\"?".equals(problem.hint()))
        .anyMatch(
            problem ->
                problem.isError()
                    && problem
                        .message()
                        .equals(
                            "59980 more unknown keys from \"key20\" on, which were not looked at"));
  }
}
