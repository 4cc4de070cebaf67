package io.espalier.server.app.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.event.Event;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class EventMetricsTest {
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final Set<String> configured = new HashSet<>();
  private final EventMetrics metrics = new EventMetrics(registry, () -> configured);

  private void started(String job) {
    happened(
        EventKind.TASK_STARTED.word(),
        Json.object().put("job", job).put("waited_ms", 1_500L).build());
  }

  private void ended(String job, String status) {
    happened(
        EventKind.TASK_ENDED.word(),
        Json.object()
            .put("job", job)
            .put("status", status)
            .put("duration_ms", 4_000L)
            .put("start_ms", 20L)
            .build());
  }

  private void happened(String kind, Json.Obj data) {
    metrics.happened(List.of(new Event(1, 1_000, kind, data)));
  }

  @Test
  void startsAndEndsAreCountedByJob() {
    started("backup");
    started("backup");
    ended("backup", "done");
    ended("backup", "error_backoff");
    started("scrub");
    assertThat(registry.scrape())
        .contains("espalier_job_starts_total{espalier_job=\"backup\"} 2.0")
        .contains("espalier_job_starts_total{espalier_job=\"scrub\"} 1.0")
        .contains("espalier_job_ends_total{espalier_job=\"backup\",status=\"done\"} 1.0")
        .contains("espalier_job_ends_total{espalier_job=\"backup\",status=\"error_backoff\"} 1.0")
        .contains("espalier_job_duration_seconds_sum{espalier_job=\"backup\"} 8.0")
        .contains("espalier_task_wait_seconds_sum{espalier_job=\"backup\",until=\"placed\"} 3.0")
        .contains("espalier_task_starts_total 3.0");
  }

  @Test
  void aStatusThatNobodyKnowsIsNoLabel() {
    started("backup");
    ended("backup", "made up");
    assertThat(registry.scrape()).doesNotContain("made up");
  }

  @Test
  void thousandsOfJobsAreOneAndThoseThatAreGoneMakeRoom() {
    for (int i = 0; i < 1_000; i++) {
      configured.add("job" + i);
      started("job" + i);
    }
    started("one more");
    started("two more");
    assertThat(registry.scrape())
        .contains("espalier_job_starts_total{espalier_job=\"job999\"} 1.0")
        .contains("espalier_job_starts_total{espalier_job=\"other\"} 2.0")
        .doesNotContain("one more");
  }

  @Test
  void aJobThatIsNoLongerConfiguredMakesRoom() {
    for (int i = 0; i < 1_000; i++) {
      started("job" + i);
    }
    ended("job7", "done");
    configured.add("job8");
    started("late");
    assertThat(registry.scrape())
        .contains("espalier_job_starts_total{espalier_job=\"late\"} 1.0")
        .contains("espalier_job_starts_total{espalier_job=\"job8\"} 1.0")
        .doesNotContain("espalier_job=\"job7\"");
  }
}
