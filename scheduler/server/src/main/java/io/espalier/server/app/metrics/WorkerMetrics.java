package io.espalier.server.app.metrics;

import io.espalier.worker.agent.AgentStats;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.ToDoubleFunction;

/** Publishes the metrics of a worker process. */
public final class WorkerMetrics {
  private WorkerMetrics() {}

  public static void register(AgentStats stats, MeterRegistry metrics) {
    gauge("tasks.running", "Tasks that run here", stats, AgentStats::running, metrics);
    gauge(
        "in.service",
        "Whether the worker gets tasks",
        stats,
        s -> s.problem().isEmpty() ? 1 : 0,
        metrics);
    gauge(
        "guard.up",
        "Whether a guard would kill the tasks if this process froze",
        stats,
        s -> s.isGuarded() ? 1 : 0,
        metrics);
    gauge(
        "heartbeat.age.seconds",
        "Seconds since the last answered heartbeat",
        stats,
        AgentStats::heartbeatAgeSeconds,
        metrics);
    count("task.starts", "Tasks given to this worker", stats, AgentStats::starts, metrics);
    count("task.ends", "Tasks that have ended here", stats, AgentStats::ends, metrics);
    count("heartbeats", "Heartbeats answered", stats, AgentStats::heartbeats, metrics);
    count(
        "heartbeats.failed",
        "Heartbeats without an answer in time",
        stats,
        AgentStats::heartbeatsFailed,
        metrics);
  }

  private static void gauge(
      String name,
      String text,
      AgentStats stats,
      ToDoubleFunction<AgentStats> number,
      MeterRegistry metrics) {
    Gauge.builder("espalier.worker." + name, stats, number).description(text).register(metrics);
  }

  private static void count(
      String name,
      String text,
      AgentStats stats,
      ToDoubleFunction<AgentStats> number,
      MeterRegistry metrics) {
    FunctionCounter.builder("espalier.worker." + name, stats, number)
        .description(text)
        .register(metrics);
  }
}
