package io.espalier.webui.http;

import io.espalier.core.api.SchedulerApi;
import io.espalier.core.health.ProbeView;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Publishes probes and the limits that follow them; without probes there is nothing to publish. */
final class ProbeMeters {
  private final SchedulerApi api;
  private final InstantSource clock;
  private final MultiGauge nodes;
  private final MultiGauge age;
  private final MultiGauge limits;

  ProbeMeters(MeterRegistry registry, SchedulerApi api, InstantSource clock) {
    this.api = api;
    this.clock = clock;
    nodes = gauge(registry, "probe.nodes", "Nodes of a probe with a value, and a bad one");
    age = gauge(registry, "probe.age.seconds", "How long ago values came; -1: never");
    limits = gauge(registry, "health.limits", "Limits that the health of nodes has lowered");
  }

  private static MultiGauge gauge(MeterRegistry registry, String name, String text) {
    return MultiGauge.builder("espalier." + name).description(text).register(registry);
  }

  /** Updates the meters to the current view. */
  void refresh() {
    List<MultiGauge.Row<?>> ofNodes = new ArrayList<>();
    List<MultiGauge.Row<?>> ages = new ArrayList<>();
    Map<String, ProbeView.Follower> followers = new LinkedHashMap<>();
    for (ProbeView probe : api.view().probes()) {
      Tags tags = Tags.of("probe", probe.probe());
      ofNodes.add(MultiGauge.Row.of(tags.and("state", "fresh"), probe.fresh()));
      ofNodes.add(MultiGauge.Row.of(tags.and("state", "bad"), probe.bad()));
      long ago = clock.millis() - probe.answeredMillis();
      ages.add(
          MultiGauge.Row.of(tags, probe.answeredMillis() == 0 ? -1 : Math.max(0, ago) / 1000.0));
      probe.resources().forEach(each -> followers.put(each.resource(), each));
    }
    List<MultiGauge.Row<?>> lowered = new ArrayList<>();
    followers.forEach(
        (resource, each) -> {
          Tags tags = Tags.of("resource", resource);
          lowered.add(MultiGauge.Row.of(tags.and("state", "lowered"), each.lowered()));
          lowered.add(MultiGauge.Row.of(tags.and("state", "floor"), each.atFloor()));
        });
    nodes.register(ofNodes, true);
    age.register(ages, true);
    limits.register(lowered, true);
  }
}
