package io.espalier.core.config;

import static io.espalier.testkit.config.ConfigFixtures.job;
import static io.espalier.testkit.config.ConfigFixtures.jobFoo;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.write.BistroJobWriter;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.testkit.config.ConfigFixtures;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code windows} and {@code freezes} in the configuration. */
class WindowsConfigTest {
  @Test
  void settingsQueueAndJobHaveTheirOwn() {
    Config config =
        jobFoo(
            ", 'windows': ['Mon-Fri UTC'], 'queues': {'q': {'windows': ['22:00-05:00 UTC']}}",
            ", 'queue': 'q', 'windows': ['Mon 00:00-04:00 Europe/Berlin'], 'freezes':"
                + " [{'from': '2026-12-18', 'to': '2027-01-04', 'reason': 'year end'}]");
    Job job = job(config, "foo");
    assertThat(job.problems()).isEmpty();
    assertThat(config.settings().schedules(job))
        .extracting(schedule -> schedule.windows().get(0).text())
        .containsExactly("Mon-Fri UTC", "22:00-05:00 UTC", "Mon 00:00-04:00 Europe/Berlin");
    Json.Obj export = BistroJobWriter.toJson(job, config.settings());
    assertThat(job(jobFoo("", ", 'windows': " + export.get("windows")), "foo").problems())
        .isEmpty();
    assertThat(String.valueOf(export.get("freezes"))).contains("2027-01-04").contains("year end");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "'windows': []; windows; it never opens",
        "'windows': ['Mon 22:00-05:00', 'Sat Mars/Base', 7]; windows[0]; the time zone is missing",
        "'windows': ['Mon UTC', 'Sat Mars/Base']; windows[1]; unknown time zone",
        "'windows': ['Mon UTC', 'Mon 9:00-10:00 UTC']; windows[1]; overlaps with \"Mon UTC\"",
        "'freezes': [{'from': '2026-12-18'}]; freezes[0].to; the key is missing",
        "'freezes': [{'from': '2026-02-30', 'to': '2026-03-01', 'zone': 'UTC'}]; from; expected a day",
        "'freezes': [{'from': '2026-12-18', 'to': '2026-12-01', 'zone': 'UTC'}]; to; ends before",
        "'freezes': [{'from': '2026-12-18', 'to': '2026-12-19'}]; freezes[0]; time zone is missing",
        "'freezes': [{'from': '2026-12-18', 'to': '2026-12-19', 'zone': 'X'}]; zone; unknown time"
      })
  void whatIsWrongIsSaidWithItsPlace(String member, String path, String message) {
    assertThat(job(jobFoo("", ", " + member), "foo").problems())
        .anySatisfy(
            problem -> {
              assertThat(problem.path()).contains(path);
              assertThat(problem.message()).contains(message);
            });
    String settings =
        "{'bistro_settings': {'nodes': {'levels': ['host'], 'node_sources': [{'source':"
            + " 'empty'}]}, 'resources': {}, "
            + member
            + "}}";
    assertThat(ConfigFixtures.parse(settings).problems())
        .extracting(Problem::message)
        .anyMatch(found -> found.contains(message));
  }

  @Test
  void freezesThatOverlapAreSaid() {
    String freezes =
        ", 'freezes': [{'from': '2026-12-18', 'to': '2026-12-20', 'zone': 'UTC'},"
            + " {'from': '2026-12-20', 'to': '2026-12-21', 'zone': 'UTC'}]";
    assertThat(job(jobFoo("", freezes), "foo").problems())
        .singleElement()
        .satisfies(
            problem -> {
              assertThat(problem.isError()).isFalse();
              assertThat(problem.message()).contains("overlap");
            });
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{'tag': 'eu', 'windows': ['Mon UTC']}; node_windows[0].level; the key is missing",
        "{'level': 'hosts', 'windows': ['Mon UTC']}; node_windows[0].level; unknown level",
        "{'level': 'worker', 'windows': ['Mon UTC']}; node_windows[0]; workers are no nodes",
        "{'level': 'host'}; node_windows[0]; expected \"windows\", \"freezes\" or \"attribute\"",
        "{'level': 'host', 'attribute': 'a', 'windows': ['Mon UTC']}; windows; remove one",
        "{'level': 'host', 'windows': ['Mon']}; node_windows[0].windows[0]; time zone is missing"
      })
  void whatIsWrongWithWindowsOfNodesIsSaid(String rule, String path, String message) {
    assertThatThrownBy(() -> jobFoo(", 'node_windows': [" + rule + "]", ""))
        .hasMessageContaining(path)
        .hasMessageContaining(message);
  }

  @Test
  void aJobThatIsAssumedToTakeLongerThanItsWindowIsAnError() {
    String window = ", 'windows': ['22:00-23:30 UTC'], 'assume': '2h'";
    assertThat(job(jobFoo("", window), "foo").problems())
        .singleElement()
        .satisfies(problem -> assertThat(problem.message()).contains("lasts 90 minutes"));
    assertThat(job(jobFoo("", window + ", 'overrun': 'allow'"), "foo").problems()).isEmpty();
    Config inherited = jobFoo(", 'assume': '1h', 'overrun': 'allow'", ", 'overrun': 'avoid'");
    assertThat(job(inherited, "foo").scheduling().assume()).contains(Duration.ofHours(1));
    assertThat(job(inherited, "foo").scheduling().mayOverrun()).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{'level': 'host', 'windows': ['20:00-22:00 UTC']}; true",
        "{'level': 'db', 'windows': ['20:00-22:00 UTC']}; true",
        "{'level': 'host', 'windows': ['Sat UTC']}, {'level': 'host', 'windows': ['20:00-22:00 UTC']};"
            + " true",
        "{'level': 'host', 'windows': ['20:00-22:00 UTC']}, {'level': 'host', 'tag': 'a', 'windows':"
            + " ['Sat UTC']}; false",
        "{'level': 'host', 'windows': ['20:00-22:00 UTC']}, {'level': 'host', 'attribute': 'a'}; false",
        "{'level': 'host', 'tag': 'a', 'windows': ['20:00-22:00 UTC']}; false",
        "{'level': 'host', 'windows': ['20:00-23:00 UTC']}; false",
        "{'level': 'host', 'freezes': [{'from': '2026-12-18', 'to': '2026-12-19', 'zone': 'UTC'}]};"
            + " false"
      })
  void assumedToTakeLongerThanTheWindowsOfAllNodesIsAWarning(String rules, boolean isWarned) {
    String settings = ", 'node_windows': [" + rules + "]";
    Job job = job(jobFoo(settings, ", 'assume': '3h'"), "foo");
    assertThat(job.isValid()).as("20 tasks may be done already").isTrue();
    if (isWarned) {
      assertThat(job.problems())
          .singleElement()
          .satisfies(
              problem -> {
                assertThat(problem.path()).contains("bistro_job->foo");
                assertThat(problem.message())
                    .contains("assumed to take 180 minutes")
                    .contains("lasts 120 minutes");
                assertThat(problem.hint()).contains("make \"assume\" shorter");
              });
    } else {
      assertThat(job.problems()).isEmpty();
    }
    Job allowed = job(jobFoo(settings, ", 'assume': '3h', 'overrun': 'allow'"), "foo");
    assertThat(allowed.problems()).isEmpty();
  }

  @Test
  void windowsOfNodesBelowTheTasksAndThoseThatLeaveEnoughTogetherAreRight() {
    String night = ", 'node_windows': [{'level': 'db', 'windows': ['20:00-22:00 UTC']}]";
    assertThat(job(jobFoo(night, ", 'assume': '3h', 'level_for_tasks': 'host'"), "foo").problems())
        .isEmpty();
    String later = ", 'windows': ['21:00-23:30 UTC'], 'assume': '90m'";
    assertThat(job(jobFoo(night, later), "foo").problems())
        .singleElement()
        .satisfies(problem -> assertThat(problem.message()).contains("lasts 60 minutes"));
    String morning = ", 'windows': ['06:00-07:00 UTC']";
    assertThat(job(jobFoo(night, morning), "foo").problems())
        .singleElement()
        .satisfies(problem -> assertThat(problem.message()).contains("can ever start"));
  }

  @Test
  void aJobWhoseWindowsAreNeverOpenTogetherIsAnError() {
    Job job = job(jobFoo(", 'windows': ['Mon-Fri UTC']", ", 'windows': ['Sun UTC']"), "foo");
    assertThat(job.isValid()).isFalse();
    assertThat(job.problems())
        .anySatisfy(problem -> assertThat(problem.message()).contains("never open together"));
    assertThatThrownBy(() -> jobFoo(", 'windows': ['Mon']", ""))
        .hasMessageContaining("bistro_settings.windows");
  }
}
