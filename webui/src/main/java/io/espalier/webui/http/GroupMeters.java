package io.espalier.webui.http;

import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.group.GroupKindView;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Publishes the redundancy groups by kind; a configuration has at most 100 kinds. */
final class GroupMeters {
  private final SchedulerApi api;
  private final Map<MultiGauge, ToDoubleFunction<GroupKindView>> gauges;

  GroupMeters(MeterRegistry registry, SchedulerApi api) {
    this.api = api;
    gauges =
        Map.of(
            gauge(registry, "known", "redundancy groups"),
            GroupKindView::groups,
            gauge(registry, "full", "groups in which no further member may become busy"),
            GroupKindView::full,
            gauge(registry, "members.busy", "members with running tasks"),
            GroupKindView::busy,
            gauge(registry, "members.waiting", "members with tasks that wait for their group"),
            GroupKindView::parked);
  }

  private static MultiGauge gauge(MeterRegistry registry, String name, String text) {
    return MultiGauge.builder("espalier.groups." + name).description(text).register(registry);
  }

  /** Updates the meters to the current view. */
  void refresh() {
    List<GroupKindView> kinds = api.recentGroups();
    gauges.forEach(
        (gauge, number) -> {
          List<MultiGauge.Row<?>> rows = new ArrayList<>();
          for (GroupKindView kind : kinds) {
            rows.add(MultiGauge.Row.of(Tags.of("kind", kind.name()), number.applyAsDouble(kind)));
          }
          gauge.register(rows, true);
        });
  }
}
