package io.espalier.server.app.metrics;

import io.espalier.core.running.WorkerInfo;
import io.espalier.server.remote.RemoteRunner;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Locale;

/** Publishes the metrics of a pool of remote workers. */
public final class PoolMetrics {
  private PoolMetrics() {}

  public static void register(RemoteRunner pool, MeterRegistry metrics) {
    for (WorkerInfo.State state : WorkerInfo.State.values()) {
      Gauge.builder("espalier.workers", pool, p -> p.stats().in(state))
          .tag("state", state.name().toLowerCase(Locale.ROOT))
          .description("Workers by state; lost ones for a quarter of an hour")
          .register(metrics);
    }
    Gauge.builder(
            "espalier.workers.oldest.heartbeat.seconds",
            pool,
            p -> p.stats().oldestHeartbeatMillis() / 1e3)
        .description("Since the worker that was silent longest was heard of; lost ones apart")
        .register(metrics);
    Gauge.builder("espalier.workers.runs", pool, p -> p.stats().runs())
        .description("Invocations that may be alive on workers")
        .register(metrics);
    Gauge.builder("espalier.workers.unsettled", pool, p -> p.stats().unsettled())
        .description("Ends of remote tasks that are not durable yet")
        .register(metrics);
    FunctionCounter.builder("espalier.workers.calls", pool, p -> p.stats().calls())
        .description("Calls of workers")
        .register(metrics);
    FunctionCounter.builder("espalier.workers.calls.failed", pool, p -> p.stats().failedCalls())
        .description("Calls of workers without a good answer")
        .register(metrics);
  }
}
