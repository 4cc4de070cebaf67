package io.espalier.webui.http;

import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.QueueView;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Publishes the usage and the entitlement of queues; only of configured queues, which are few. */
final class QueueMeters {
  private final SchedulerApi api;
  private final List<PerQueue> perQueue = new ArrayList<>();
  private final MultiGauge held;
  private final MultiGauge cap;

  private record PerQueue(MultiGauge gauge, ToDoubleFunction<QueueView> number) {}

  QueueMeters(MeterRegistry registry, SchedulerApi api) {
    this.api = api;
    add(registry, "running", "tasks of the queue that run", QueueView::running);
    add(registry, "use", "largest part of any resource that it holds", QueueView::use);
    add(registry, "priority", "what it has used lately", QueueView::currentPriority);
    add(
        registry,
        "priority.effective",
        "the same times its factor: the lower, the more is due to it",
        QueueView::effectivePriority);
    add(registry, "share", "part of starts that is due to it", QueueView::share);
    held =
        MultiGauge.builder("espalier.queue.slots.held")
            .description("slots that its running tasks hold")
            .register(registry);
    cap =
        MultiGauge.builder("espalier.queue.slots.cap")
            .description("slots that its running tasks may hold")
            .register(registry);
  }

  private void add(
      MeterRegistry registry, String name, String text, ToDoubleFunction<QueueView> number) {
    perQueue.add(
        new PerQueue(
            MultiGauge.builder("espalier.queue." + name).description(text).register(registry),
            number));
  }

  /** Updates the meters to the current view. */
  void refresh() {
    List<QueueView> queues = api.recentQueues();
    for (PerQueue meter : perQueue) {
      List<MultiGauge.Row<?>> rows = new ArrayList<>();
      for (QueueView queue : queues) {
        rows.add(
            MultiGauge.Row.of(Tags.of("queue", queue.name()), meter.number().applyAsDouble(queue)));
      }
      meter.gauge().register(rows, true);
    }
    List<MultiGauge.Row<?>> slots = new ArrayList<>();
    List<MultiGauge.Row<?>> caps = new ArrayList<>();
    for (QueueView queue : queues) {
      for (QueueView.Held of : queue.resources()) {
        Tags tags = Tags.of("queue", queue.name(), "resource", of.resource());
        slots.add(MultiGauge.Row.of(tags, of.held()));
        if (of.cap() >= 0) {
          caps.add(MultiGauge.Row.of(tags, of.cap()));
        }
      }
    }
    held.register(slots, true);
    cap.register(caps, true);
  }
}
