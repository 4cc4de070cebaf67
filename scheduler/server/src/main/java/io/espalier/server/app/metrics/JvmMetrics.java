package io.espalier.server.app.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.logging.LogbackMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;

/**
 * Publishes the metrics of the process: memory, garbage collection, threads, files, log messages.
 */
public final class JvmMetrics implements AutoCloseable {
  private final JvmGcMetrics collections = new JvmGcMetrics();
  private final LogbackMetrics messages = new LogbackMetrics();

  public JvmMetrics(MeterRegistry metrics) {
    new JvmMemoryMetrics().bindTo(metrics);
    new JvmThreadMetrics().bindTo(metrics);
    new ClassLoaderMetrics().bindTo(metrics);
    new ProcessorMetrics().bindTo(metrics);
    new FileDescriptorMetrics().bindTo(metrics);
    new UptimeMetrics().bindTo(metrics);
    collections.bindTo(metrics);
    messages.bindTo(metrics);
  }

  @Override
  public void close() {
    collections.close();
    messages.close();
  }
}
