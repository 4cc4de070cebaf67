package io.espalier.webui.http;

import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.ResourceUse;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.List;

/** Publishes the use and the effective limit of each resource, summed over its level. */
final class ResourceMeters {
  private final SchedulerApi api;
  private final MultiGauge used;
  private final MultiGauge limit;

  ResourceMeters(MeterRegistry registry, SchedulerApi api) {
    this.api = api;
    used = gauge(registry, "used", "slots that running tasks hold");
    limit = gauge(registry, "limit", "slots that there are by the effective limits");
  }

  private static MultiGauge gauge(MeterRegistry registry, String name, String text) {
    return MultiGauge.builder("espalier.resource.slots." + name)
        .description(text)
        .register(registry);
  }

  /** Updates the meters to the current view. */
  void refresh() {
    List<MultiGauge.Row<?>> ofUse = new ArrayList<>();
    List<MultiGauge.Row<?>> ofLimits = new ArrayList<>();
    for (ResourceUse each : api.recentResources()) {
      Tags tags = Tags.of("level", each.level(), "resource", each.resource());
      ofUse.add(MultiGauge.Row.of(tags, each.used()));
      ofLimits.add(MultiGauge.Row.of(tags, each.limit()));
    }
    used.register(ofUse, true);
    limit.register(ofLimits, true);
  }
}
