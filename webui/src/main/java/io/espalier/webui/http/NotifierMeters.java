package io.espalier.webui.http;

import io.espalier.core.api.SchedulerApi;
import io.espalier.core.notification.NotifierView;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Publishes what waits for each notifier; without notifiers there is nothing to publish. */
final class NotifierMeters {
  private final SchedulerApi api;
  private final Map<MultiGauge, ToDoubleFunction<NotifierView>> gauges;

  NotifierMeters(MeterRegistry registry, SchedulerApi api, InstantSource clock) {
    this.api = api;
    gauges =
        Map.of(
            gauge(registry, "waiting", "notifications that are not sent yet"),
            NotifierView::waiting,
            gauge(registry, "oldest.age.seconds", "how long ago the oldest of them happened"),
            notifier -> ageSeconds(notifier, clock.millis()),
            gauge(registry, "sent", "notifications that the receiver has taken"),
            NotifierView::sent,
            gauge(registry, "failures", "attempts that have failed"),
            NotifierView::failures,
            gauge(registry, "failing", "1 while no attempt succeeds"),
            notifier -> notifier.failingSinceMillis() > 0 ? 1 : 0);
  }

  private static MultiGauge gauge(MeterRegistry registry, String name, String text) {
    return MultiGauge.builder("espalier.notifications." + name)
        .description(text)
        .register(registry);
  }

  private static double ageSeconds(NotifierView notifier, long nowMillis) {
    return notifier.oldestMillis() == 0
        ? 0
        : Math.max(0, nowMillis - notifier.oldestMillis()) / 1000.0;
  }

  /** Updates the meters to the current view. */
  void refresh() {
    List<NotifierView> notifiers = api.notifiers();
    gauges.forEach(
        (gauge, number) -> {
          List<MultiGauge.Row<?>> rows = new ArrayList<>();
          for (NotifierView notifier : notifiers) {
            rows.add(
                MultiGauge.Row.of(
                    Tags.of("notifier", notifier.name()), number.applyAsDouble(notifier)));
          }
          gauge.register(rows, true);
        });
  }
}
