package io.espalier.cli.client.forecast;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.forecast.Forecast;
import io.espalier.core.forecast.Forecast.JobEnd;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ForecastReportTest {
  private static Forecast run(long missedByA, long missedByB) {
    return new Forecast(
        1_000,
        true,
        7,
        Map.of("a", new JobEnd(900, 0, 3, missedByA), "b", new JobEnd(1_000, 0, 4, missedByB)),
        List.of(),
        List.of());
  }

  private static ForecastReport report(Forecast... runs) {
    return new ForecastReport(
        5_000, new Forecasts(List.of(runs)), null, List.of(), List.of(), new TreeMap<>());
  }

  @Test
  void the_most_windows_that_a_job_misses_in_any_run_are_shown() {
    ForecastReport report = report(run(0, 2), run(0, 1_204), run(0, 3));
    assertThat(report.windowsMissed()).containsExactly("b 1,204");
    assertThat(report.json().toString())
        .contains("\"a\":{\"p50_ms\":900,\"p90_ms\":900,\"never\":0,\"windows_missed\":0}")
        .contains("\"b\":{\"p50_ms\":1000,\"p90_ms\":1000,\"never\":0,\"windows_missed\":1204}");
  }

  @Test
  void no_missed_window_is_no_line() {
    assertThat(report(run(0, 0)).windowsMissed()).isEmpty();
  }
}
