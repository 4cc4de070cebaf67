package io.espalier.webui.http;

import io.espalier.core.api.JobStarts;
import io.espalier.core.api.SchedulerApi;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.List;

/** Publishes the starts in flight of jobs that bound them, and tasks that can never start. */
final class StartMeters {
  private final SchedulerApi api;
  private final MultiGauge inFlight;
  private final MultiGauge window;
  private final MultiGauge never;

  StartMeters(MeterRegistry registry, SchedulerApi api) {
    this.api = api;
    inFlight =
        gauge(
            registry, "starts.in.flight", "starts that are not confirmed, of jobs that bound them");
    window = gauge(registry, "starts.window", "how many starts of the job may be in flight");
    never = gauge(registry, "tasks.never", "tasks that can never start as the limits are");
  }

  private static MultiGauge gauge(MeterRegistry registry, String name, String text) {
    return MultiGauge.builder("espalier.job." + name).description(text).register(registry);
  }

  /** Updates the meters, for the first jobs by name. */
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
    List<MultiGauge.Row<?>> ofNever = new ArrayList<>();
    api.neverStarting().entrySet().stream()
        .limit(HttpMetrics.MAX_JOBS)
        .forEach(
            each ->
                ofNever.add(
                    MultiGauge.Row.of(
                        Tags.of("espalier_job", each.getKey()), each.getValue().tasks())));
    never.register(ofNever, true);
  }
}
