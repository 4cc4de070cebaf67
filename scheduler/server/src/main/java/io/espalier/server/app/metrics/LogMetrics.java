package io.espalier.server.app.metrics;

import io.espalier.core.logs.LogStore;
import io.espalier.server.shipping.LogShipper;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;

/** Publishes the metrics of a task log store and of the shipping of its lines. */
public final class LogMetrics {
  private LogMetrics() {}

  public static void register(LogStore logs, MeterRegistry metrics) {
    FunctionCounter.builder("espalier.logs.lines", logs, l -> l.stats().lines())
        .description("Lines of task logs")
        .register(metrics);
    FunctionCounter.builder("espalier.logs.text.bytes", logs, l -> l.stats().textBytes())
        .description("Text of task logs")
        .register(metrics);
    FunctionCounter.builder("espalier.logs.dropped", logs, l -> l.stats().droppedLines())
        .description("Lines of task logs that could not be kept")
        .register(metrics);
    FunctionCounter.builder("espalier.logs.write.seconds", logs, l -> l.stats().writeNanos() / 1e9)
        .description("Time spent writing task logs")
        .register(metrics);
    Gauge.builder("espalier.logs.buffered.bytes", logs, l -> l.stats().bufferedBytes())
        .description("Task logs in memory")
        .register(metrics);
    Gauge.builder("espalier.logs.stored.bytes", logs, l -> l.stats().storedBytes())
        .description("Task logs on the disk")
        .register(metrics);
    Gauge.builder("espalier.logs.files", logs, l -> l.stats().files())
        .description("Files of task logs")
        .register(metrics);
    Gauge.builder("espalier.logs.full", logs, l -> l.hasRoom() && l.problem().isEmpty() ? 0 : 1)
        .description(
            "1 while output of tasks is not kept: it cannot be written, or not as fast as it comes")
        .register(metrics);
  }

  public static void register(LogShipper shipper, MeterRegistry metrics) {
    FunctionCounter.builder("espalier.logs.shipped", shipper, LogShipper::shipped)
        .description("Lines of task logs that the receiver of --ship-logs has taken")
        .register(metrics);
    FunctionCounter.builder("espalier.logs.shipping.failures", shipper, LogShipper::failures)
        .description("Failed requests to the receiver of --ship-logs")
        .register(metrics);
    Gauge.builder("espalier.logs.shipping.delay.seconds", shipper, s -> s.behind().toMillis() / 1e3)
        .description("Age of the oldest line that waits for the receiver of --ship-logs")
        .register(metrics);
  }
}
