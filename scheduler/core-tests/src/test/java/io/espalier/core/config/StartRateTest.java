package io.espalier.core.config;

import static io.espalier.testkit.config.ConfigFixtures.job;
import static io.espalier.testkit.config.ConfigFixtures.jobFoo;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.keys.StartRateKeys;
import io.espalier.core.config.write.BistroJobWriter;
import io.espalier.core.json.Json;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code max_concurrent}, {@code max_starting}, {@code start_rate} and {@code start_rates}. */
class StartRateTest {
  private static Job read(String members) {
    return job(jobFoo("", members), "foo");
  }

  @Test
  void aJobWithoutThemHasNeither() {
    for (String none :
        new String[] {
          "", ", 'max_concurrent': false, 'max_starting': false, 'start_rate': false"
        }) {
      Job job = read(none);
      assertThat(job.problems()).isEmpty();
      assertThat(job.scheduling().maxConcurrent()).isZero();
      assertThat(job.scheduling().maxStarting()).isZero();
      assertThat(job.scheduling().startRate()).isEmpty();
      Json.Obj export = BistroJobWriter.toJson(job, jobFoo("", none).settings());
      assertThat(export.get("max_concurrent")).isNull();
      assertThat(export.get("max_starting")).isNull();
      assertThat(export.get("start_rate")).isNull();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{'per_second': 5, 'burst': 10}; 5; 10",
        "{'per_second': 5}; 5; 5",
        "{'per_second': 2.5}; 2.5; 3",
        "{'per_second': 0.1}; 0.1; 1",
        "7; 7; 7",
        "0.5; 0.5; 1"
      })
  void aRateIsReadInAllItsForms(String text, double perSecond, int burst) {
    StartRate rate = new StartRate(perSecond, burst);
    Job job =
        read(", 'max_concurrent': 3, 'max_starting': 2, 'start_rate': " + text.replace('`', '\''));
    assertThat(job.problems()).isEmpty();
    assertThat(job.scheduling().maxConcurrent()).isEqualTo(3);
    assertThat(job.scheduling().maxStarting()).isEqualTo(2);
    assertThat(job.scheduling().startRate()).contains(rate);
    Config levels = jobFoo(", 'start_rates': {'host': " + text + ", 'db': false}", "");
    assertThat(levels.problems()).isEmpty();
    assertThat(levels.settings().rules().startRates()).isEqualTo(Map.of(1, rate));
    Json.Obj export = BistroJobWriter.toJson(job, jobFoo("", "").settings());
    assertThat(export.get("max_concurrent")).isEqualTo(Json.of(3));
    assertThat(export.get("max_starting")).isEqualTo(Json.of(2));
    assertThat(export.get("start_rate")).isEqualTo(StartRateKeys.START_RATE.write(rate));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "'max_concurrent': 0",
        "'max_concurrent': true",
        "'max_concurrent': 1.5",
        "'max_starting': 0",
        "'max_starting': '1 per second'",
        "'start_rate': 0",
        "'start_rate': -1",
        "'start_rate': true",
        "'start_rate': {'burst': 1}",
        "'start_rate': {'per_second': 1, 'burst': 0}",
        "'start_rate': {'per_second': 1, 'bursts': 1}"
      })
  void whatIsWrongStopsTheJobAndNamesItsPlace(String member) {
    Job job = read(", " + member);
    assertThat(job.isValid()).isFalse();
    String key = member.substring(1, member.indexOf('\'', 1));
    assertThat(job.problems())
        .allSatisfy(problem -> assertThat(problem.path().toString()).contains(key));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{'hosts': 1}; unknown level \"hosts\"",
        "{'worker': 1}; workers are no nodes",
        "{'host': 'x'}; expected a number",
        "{'host': []}; expected false, a number of starts per second"
      })
  void whatIsWrongWithALevelIsSaid(String rates, String message) {
    assertThatThrownBy(() -> jobFoo(", 'start_rates': " + rates, ""))
        .hasMessageContaining("bistro_settings.start_rates")
        .hasMessageContaining(message);
  }
}
