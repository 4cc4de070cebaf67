package io.espalier.core.config;

import static io.espalier.testkit.config.ConfigFixtures.config;
import static io.espalier.testkit.config.ConfigFixtures.parse;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.keys.OptionKeys;
import io.espalier.core.config.task.Backoff;
import io.espalier.core.config.task.Backoff.Interval;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** C14 to C16 of docs/design/bistro.md#conformance-of-configurations. */
class BackoffConformanceTest {
  private static String document(String backoff) {
    return "{'bistro_settings': {'nodes': {'levels': []}, 'resources': {}, 'backoff': "
        + backoff
        + "}}";
  }

  private static Backoff backoff(String text) {
    return config(document(text)).settings().defaults().backoff();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[0]",
        "[-1]",
        "[1, 2, 3, 'invalid']",
        "{}",
        "[1, 2, {}]",
        "[1, 1, 2, 'fail']",
        "[2, 1]",
        "[]",
        "['repeat']",
        "[1.5]",
        "['1']",
        "[true]",
        "[null]",
        "'repeat'",
        "[99999999999]",
        "[{}, 'repeat']"
      })
  void c14_brokenOnesAreErrors(String backoff) {
    assertThat(parse(document(backoff)).problems())
        .filteredOn(Problem::isError)
        .hasSize(1)
        .allMatch(p -> p.path().startsWith("bistro_settings.backoff"));
  }

  @Test
  void c14_theNearestWordIsSuggested() {
    assertThat(parse(document("[1, 'Repeat']")).problems())
        .extracting(Problem::hint)
        .containsExactly("did you mean \"repeat\"?");
  }

  @Test
  void c15_failAtOnceHasNoMoreIntervals() {
    assertThat(backoff("['fail']").next(0)).isEqualTo(new Interval(60, true));
  }

  @ParameterizedTest
  @ValueSource(strings = {"[1, 2, 3]", "[1, 2, 3, 'fail']"})
  void c16_withoutRepeatItRunsOut(String text) {
    Backoff backoff = backoff(text);
    assertThat(List.of(backoff.next(0), backoff.next(1), backoff.next(2), backoff.next(3)))
        .containsExactly(
            new Interval(1, false),
            new Interval(2, false),
            new Interval(3, false),
            new Interval(60, true));
    assertThat(written(backoff)).hasToString("[1,2,3,\"fail\"]");
    assertThat(backoff(written(backoff).toString())).isEqualTo(backoff);
  }

  @Test
  void c16_withRepeatTheLastOneIsRepeated() {
    Backoff backoff = backoff("[1, 2, 3, 'repeat']");
    assertThat(backoff.next(2)).isEqualTo(new Interval(3, false));
    assertThat(backoff.next(3)).isEqualTo(new Interval(3, false));
    assertThat(backoff(written(backoff).toString())).isEqualTo(backoff);
  }

  @Test
  void whatFollowsTheWordIsIgnoredWithAWarning() {
    assertThat(backoff("[1, 'fail', 'repeat', {}]")).isEqualTo(new Backoff(List.of(1), false));
    assertThat(parse(document("[1, 'fail', {}]")).problems())
        .extracting(Problem::path)
        .containsExactly("bistro_settings.backoff[2]");
  }

  private static Json written(Backoff backoff) {
    JobOptions usual = JobOptions.usual(0);
    JobOptions options =
        new JobOptions(
            backoff,
            0,
            usual.killOrphansAfter(),
            usual.subprocess(),
            usual.kill(),
            usual.timeLimits(),
            usual.logs(),
            usual.scheduling(),
            usual.retry(),
            usual.outcome());
    return Objects.requireNonNull(OptionKeys.OPTIONS.write(options).get("backoff"));
  }
}
