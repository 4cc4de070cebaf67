package io.espalier.server.app.metrics;

import io.espalier.core.event.Event;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.running.StopReason;
import io.espalier.core.status.StatusLabel;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Counts what happens to tasks, based on their durable events. */
public final class EventMetrics {
  private static final Duration[] TASK_BUCKETS = {
    Duration.ofSeconds(1),
    Duration.ofSeconds(10),
    Duration.ofMinutes(1),
    Duration.ofMinutes(10),
    Duration.ofHours(1),
    Duration.ofHours(6),
    Duration.ofDays(1)
  };

  private final Counter all;
  private final Counter starts;
  private final Timer durations;
  private final JobMetrics byJob;
  private final Map<String, Counter> ends = new HashMap<>();
  private final Map<StopReason, Counter> stops = new EnumMap<>(StopReason.class);

  /**
   * @param jobs returns the names of the configured jobs; any thread may call it
   */
  public EventMetrics(MeterRegistry metrics, Supplier<Set<String>> jobs) {
    byJob = new JobMetrics(metrics, jobs);
    all =
        Counter.builder("espalier.events")
            .description("Events, all of them durable")
            .register(metrics);
    starts =
        Counter.builder("espalier.task.starts")
            .description("Starts of tasks made durable")
            .register(metrics);
    durations =
        Timer.builder("espalier.task.duration")
            .description("How long invocations took, from their placement to their end")
            .serviceLevelObjectives(TASK_BUCKETS)
            .register(metrics);
    for (StatusLabel status : StatusLabel.values()) {
      if (canBeLeft(status)) {
        ends.put(
            status.word(),
            Counter.builder("espalier.task.ends")
                .description("Ends of invocations by the status that they left their task in")
                .tag("status", status.word())
                .register(metrics));
      }
    }
    for (StopReason reason : StopReason.values()) {
      stops.put(
          reason,
          Counter.builder("espalier.task.stops")
              .description("Ends of invocations that were stopped, by reason")
              .tag("reason", reason.name().toLowerCase(Locale.ROOT))
              .register(metrics));
    }
  }

  private static boolean canBeLeft(StatusLabel status) {
    return switch (status) {
      case UNSTARTED, RUNNING, AVOIDED_NODE, DISABLED_NODE -> false;
      default -> true;
    };
  }

  /** Counts the given events. Runs on the thread that publishes them. */
  public void happened(List<Event> events) {
    for (Event event : events) {
      all.increment();
      if (event.kind().equals(EventKind.TASK_STARTED.word())) {
        starts.increment();
        byJob.of(job(event.data())).started(millis(event.data(), "waited_ms"));
      } else if (event.kind().equals(EventKind.TASK_ENDED.word())) {
        ended(event.data());
      }
    }
  }

  private void ended(Json.Obj data) {
    Duration took = millis(data, "duration_ms");
    Counter end = data.get("status") instanceof Json.Str status ? ends.get(status.value()) : null;
    if (end != null && data.get("status") instanceof Json.Str status) {
      end.increment();
      byJob.of(job(data)).ended(status.value(), took, millis(data, "start_ms"));
    }
    if (data.get("stop_reason") instanceof Json.Str word) {
      for (Map.Entry<StopReason, Counter> stop : stops.entrySet()) {
        if (stop.getKey().name().equalsIgnoreCase(word.value())) {
          stop.getValue().increment();
        }
      }
    }
    if (took != null) {
      durations.record(took);
    }
  }

  private static String job(Json.Obj data) {
    return data.get("job") instanceof Json.Str job ? job.value() : "";
  }

  private static @Nullable Duration millis(Json.Obj data, String key) {
    return data.get(key) instanceof Json.Num millis
        ? Duration.ofMillis(Math.max(0, millis.value().longValue()))
        : null;
  }
}
