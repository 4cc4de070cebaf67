package io.espalier.core.forecast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.espalier.core.api.view.JobEta;
import io.espalier.core.config.Config;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.json.JsonReader;
import io.espalier.testkit.config.ConfigFixtures;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The estimated end of a job whose tasks start only in windows. */
final class EtaWindowsTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final SchedulingCore core = new SchedulingCore(5);

  /** Starts a job of one hundred tasks that run one at a time. */
  private void start(String windows, Instant now) {
    Config config =
        Objects.requireNonNull(
            ConfigFixtures.parser()
                .parse(
                    Objects.requireNonNull(
                        JsonReader.parse(
                                """
                                {"bistro_settings": {"nodes": {"levels": ["host"]},
                                   "resources": {"instance": {"slots": {"default": 1, "limit": 1}}}},
                                 "bistro_job->a": {"owner": "o", "command": ["x"], WINDOWS}}
                                """
                                    .replace("WINDOWS", windows))
                            .value()))
                .value());
    String[] hosts = IntStream.range(0, 100).mapToObj(i -> "h" + i).toArray(String[]::new);
    core.apply(config, TreeFixture.of(config.settings().levels(), hosts), now.toEpochMilli());
  }

  private JobEta eta(Duration task, Instant now) {
    LiveWork work = new LiveWork(core);
    int job = core.findJob("a");
    JobPace pace = JobPace.constant(task.toMillis());
    EtaScan scan = new EtaScan(work, job, Map.of(), pace);
    while (!scan.isDone()) {
      scan.step(1_000);
    }
    EtaEstimate estimate = new EtaEstimate(work, job, pace, true, scan, now.toEpochMilli());
    while (!estimate.isDone()) {
      estimate.step(1_000);
    }
    return estimate.answer();
  }

  /** Sixty tasks start in the first hour that is open, forty in the second. */
  @ParameterizedTest
  @CsvSource({
    "00:00-01:00 UTC, 2026-03-02T00:00:00Z, 2026-03-03T00:40:00Z",
    "00:00-01:00 UTC, 2026-03-02T12:00:00Z, 2026-03-04T00:40:00Z",
    "Sat-Sun 00:00-01:00 UTC, 2026-03-02T12:00:00Z, 2026-03-08T00:40:00Z",
    "00:00-01:00 Europe/Berlin, 2026-03-28T12:00:00Z, 2026-03-29T22:40:00Z",
    "00:00-02:00 UTC, 2026-03-02T12:00:00Z, 2026-03-03T01:40:00Z",
    "00:00-24:00 UTC, 2026-03-02T12:00:00Z, 2026-03-02T13:40:00Z",
  })
  void the_time_between_windows_is_part_of_it(String window, Instant now, Instant end) {
    start("\"windows\": [\"" + window + "\"]", now);
    JobEta eta = eta(MINUTE, now);
    assertThat(eta.never()).isZero();
    double expected = Duration.between(now, end).toSeconds();
    assertThat(eta.p50Seconds()).isCloseTo(expected, within(90.0));
    assertThat(eta.p90Seconds()).isCloseTo(expected, within(90.0));
  }

  @Test
  void it_is_the_same_as_without_windows_when_one_is_open_long_enough() {
    Instant now = Instant.parse("2026-03-02T00:00:00Z");
    start("\"windows\": [\"Mon 00:00-12:00 UTC\"]", now);
    JobEta with = eta(MINUTE, now);
    start("\"enabled\": true", now);
    assertThat(with).isEqualTo(eta(MINUTE, now));
  }

  @Test
  void tasks_that_fit_into_no_window_never_end() {
    Instant now = Instant.parse("2026-03-02T00:00:00Z");
    start("\"windows\": [\"00:00-01:00 UTC\"]", now);
    core.round(TestPolicies.IN_TURN, 1, run -> {});
    JobEta eta = eta(Duration.ofHours(2), now);
    assertThat(eta.never()).isEqualTo(99);
    // The one that runs.
    assertThat(eta.p90Seconds()).isBetween(3_600.0, 7_200.0);
  }

  @Test
  void tasks_that_may_overrun_their_window_start_until_its_end() {
    Instant now = Instant.parse("2026-03-02T00:00:00Z");
    start("\"windows\": [\"00:00-01:00 UTC\"], \"overrun\": \"allow\"", now);
    // One a day: each goes on beyond the end of the window.
    assertThat(eta(Duration.ofHours(2), now).p50Seconds() / 86_400).isCloseTo(99.0, within(1.0));
  }

  @Test
  void tasks_that_run_outside_of_the_window_wait_for_none() {
    Instant now = Instant.parse("2026-03-02T00:59:00Z");
    start("\"windows\": [\"00:00-02:00 UTC\"]", now);
    int job = core.findJob("a");
    for (int i = 1; i < 100; i++) {
      core.setStatus(job, core.findNode(job, "h" + i), TaskStatus.of(Main.DONE, 5, 0));
    }
    core.round(TestPolicies.IN_TURN, 1, run -> {});
    assertThat(eta(MINUTE, now.plus(Duration.ofHours(2))).p90Seconds()).isBetween(1.0, 60.0);
  }
}
