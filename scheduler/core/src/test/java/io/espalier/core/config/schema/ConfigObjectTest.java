package io.espalier.core.config.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import java.math.BigDecimal;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** C32 (docs/design/bistro.md#conformance-of-configurations): the lenient reader of settings. */
class ConfigObjectTest {
  private final Problems problems = new Problems();

  private record Sample(
      boolean enabled, double pause, int count, String name, List<String> words, Json.Obj more) {}

  private static final class SampleKeys extends Section<Sample> {
    private final Key<Sample, Boolean> enabled =
        key("enabled", ValueType.bool(), Sample::enabled, "");
    private final Key<Sample, Double> pause =
        key("pause", ValueType.number(0, 10), Sample::pause, "").required("seconds");
    private final Key<Sample, Integer> count = key("count", ValueType.int32(0), Sample::count, "");
    private final Key<Sample, String> name = key("name", ValueType.text(), Sample::name, "");
    private final Key<Sample, List<String>> words =
        key("words", ValueType.texts(), Sample::words, "");
    private final Key<Sample, Json.Obj> more = key("more", ValueType.object(), Sample::more, "");

    SampleKeys() {
      super("sample", "", new Sample(true, 1.5, 0, "x", List.of("y"), Json.Obj.EMPTY));
    }

    @Override
    public Sample read(ConfigObject in, Sample base) {
      return new Sample(
          in.get(enabled, base),
          in.get(pause, base),
          in.get(count, base),
          in.get(name, base),
          in.get(words, base),
          in.get(more, base));
    }
  }

  private static final SampleKeys KEYS = new SampleKeys();

  private Sample sample(Json.Obj object) {
    return Objects.requireNonNull(KEYS.read(value(object), KEYS.usual()));
  }

  private ConfigValue value(Json json) {
    return new ConfigValue(
        json, ProblemPath.ROOT.key("v"), problems, new Names(List.of(), List.of(), List.of()));
  }

  private static Json number(String digits) {
    return new Json.Num(new BigDecimal(digits));
  }

  @Test
  void c32_whatIsThereIsReadWhateverFormItsScalarHas() {
    Json.Obj object =
        Json.object()
            .put("enabled", "false")
            .put("pause", 5.5)
            .put("count", "5")
            .put("name", 7)
            .put("words", new Json.Arr(List.of(Json.of("a"), Json.of(1))))
            .put("more", Json.object().put("a", 1).build())
            .build();
    assertThat(sample(object))
        .isEqualTo(
            new Sample(false, 5.5, 5, "7", List.of("a", "1"), Json.object().put("a", 1).build()));
    assertThat(problems.sorted()).isEmpty();
  }

  @Test
  void c32_whatIsMissingTakesTheDefault() {
    assertThat(sample(Json.object().put("pause", 1.5).build())).isEqualTo(KEYS.usual());
    assertThat(problems.sorted()).isEmpty();
  }

  @Test
  void c32_whatIsBrokenTakesTheDefaultAndIsAnError() {
    Json.Obj object = Json.object().put("pause", 11).put("count", -1).put("words", 1).build();
    assertThat(sample(object)).isEqualTo(KEYS.usual());
    assertThat(problems.sorted())
        .extracting(Problem::message)
        .containsExactly(
            "expected a number from 0 to 10",
            "expected a whole number from 0 to 2147483647",
            "expected a list, found a number");
  }

  @Test
  void c32_whatIsRequiredAndMissingIsAnError() {
    assertThat(sample(Json.Obj.EMPTY)).isEqualTo(KEYS.usual());
    assertThat(problems.sorted())
        .extracting(Problem::path, Problem::message)
        .containsExactly(tuple("v.pause", "the key is missing, expected seconds"));
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
  void wholeNumbers(String digits, @Nullable Long expected) {
    assertThat(value(number(digits)).integer(Integer.MIN_VALUE, Integer.MAX_VALUE))
        .isEqualTo(expected);
    assertThat(value(Json.of(" " + digits + " ")).integer(Integer.MIN_VALUE, Integer.MAX_VALUE))
        .isEqualTo(expected);
    assertThat(problems.count()).isEqualTo(expected == null ? 2 : 0);
  }

  @Test
  void otherKindsAreErrorsThatSayWhatWasFound() {
    assertThat(value(new Json.Null(io.espalier.core.json.Position.NONE)).text()).isNull();
    assertThat(value(Json.of(true)).integer(0, 1)).isNull();
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
    Sample sample = sample(object.put("enabled", false).put("pause", 1).build());
    assertThat(sample.enabled()).isFalse();
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
