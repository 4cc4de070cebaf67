package io.espalier.webui.http;

import io.espalier.core.api.JobStarts;
import io.espalier.core.api.SchedulerApi;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.List;

/** Publishes the starts in flight of the first jobs by name that bound them. */
final class StartMeters {
  private final SchedulerApi api;
  private final MultiGauge inFlight;
  private final MultiGauge window;

  StartMeters(MeterRegistry registry, SchedulerApi api) {
    this.api = api;
    inFlight =
        gauge(registry, "in.flight", "starts that are not confirmed, of jobs that bound them");
    window = gauge(registry, "window", "how many starts of the job may be in flight");
  }

  private static MultiGauge gauge(MeterRegistry registry, String name, String text) {
    return MultiGauge.builder("espalier.job.starts." + name).description(text).register(registry);
  }

  /** Updates the meters to what is in flight now. */
  void refresh() {
    List<MultiGauge.Row<?>> ofFlights = new ArrayList<>();
    List<MultiGauge.Row<?>> ofWindows = new ArrayList<>();
    for (JobStarts each : api.startsOfJobs().stream().limit(HttpMetrics.MAX_JOBS).toList()) {
      Tags tags = Tags.of("espalier_job", each.job());
      ofFlights.add(MultiGauge.Row.of(tags, each.inFlight()));
      ofWindows.add(MultiGauge.Row.of(tags, each.window()));
    }
    inFlight.register(ofFlights, true);
    window.register(ofWindows, true);
  }
}
