package io.espalier.cli.flags;

import io.espalier.cli.term.DurationConverter;
import io.espalier.core.protocol.ProtocolTimers;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The timers of the worker protocol: a preset, and the flags that override it. Timers without a
 * flag follow the lease, so that {@code --lease-ms} alone makes consistent timers.
 */
final class TimerFlags {
  @Option(
      names = "--protocol-timers",
      paramLabel = "PRESET",
      defaultValue = "balanced",
      description =
          "balanced (default: a worker is lost after 90 s of silence), patient (660 s) or quick"
              + " (20 s).")
  private String preset = "balanced";

  @Option(
      names = "--heartbeat-ms",
      paramLabel = "MS",
      converter = DurationConverter.Millis.class,
      description = "Between two heartbeats.")
  private @Nullable Long heartbeat;

  @Option(
      names = "--call-ms",
      paramLabel = "MS",
      converter = DurationConverter.Millis.class,
      description = "After it the fate of a call is unknown.")
  private @Nullable Long call;

  @Option(
      names = "--lease-ms",
      paramLabel = "MS",
      converter = DurationConverter.Millis.class,
      description = "Tasks of a worker without a scheduler are dead after it.")
  private @Nullable Long lease;

  @Option(
      names = "--lease-margin-ms",
      paramLabel = "MS",
      converter = DurationConverter.Millis.class,
      description = "How much longer than the lease the scheduler waits.")
  private @Nullable Long margin;

  @Option(
      names = "--stop-ms",
      paramLabel = "MS",
      converter = DurationConverter.Millis.class,
      description = "How long before the end of its lease a worker stops its tasks.")
  private @Nullable Long stop;

  @Option(
      names = "--kill-wait-ms",
      paramLabel = "MS",
      converter = DurationConverter.Millis.class,
      description = "From TERM to KILL then.")
  private @Nullable Long killWait;

  @Option(
      names = "--guard-ms",
      paramLabel = "MS",
      converter = DurationConverter.Millis.class,
      description = "How long before the end of the lease the guard kills what is left.")
  private @Nullable Long guard;

  @Option(
      names = "--unhealthy-ms",
      paramLabel = "MS",
      converter = DurationConverter.Millis.class,
      description = "A worker that is silent for that long gets no new tasks.")
  private @Nullable Long unhealthy;

  @Option(
      names = "--health-check-ms",
      paramLabel = "MS",
      converter = DurationConverter.Millis.class,
      description = "Between health checks.")
  private @Nullable Long healthCheck;

  @Option(
      names = "--health-check-timeout-ms",
      paramLabel = "MS",
      converter = DurationConverter.Millis.class,
      description = "After it a health check has failed.")
  private @Nullable Long healthCheckTimeout;

  @Option(
      names = "--takeover-ms",
      paramLabel = "MS",
      converter = DurationConverter.Millis.class,
      description =
          "How long a new scheduler waits before it takes an invocation that nobody confirms for"
              + " dead; longer leases of the scheduler before are waited for in any case.")
  private @Nullable Long takeover;

  /**
   * @return consistent timers; those of the preset when there were problems
   */
  ProtocolTimers timers(List<String> problems) {
    ProtocolTimers base = ProtocolTimers.presets().get(preset);
    if (base == null) {
      problems.add(
          "--protocol-timers "
              + preset
              + " is none of "
              + String.join(", ", ProtocolTimers.presets().keySet()));
      return ProtocolTimers.BALANCED;
    }
    ProtocolTimers timers = ProtocolTimers.of(values(base));
    if (timers.problems().isEmpty()) {
      return timers;
    }
    timers.problems().forEach(problem -> problems.add("timers: " + problem.message()));
    return base;
  }

  private Map<String, Long> values(ProtocolTimers base) {
    double scale = lease == null ? 1 : (double) lease / base.leaseMillis();
    Map<String, Long> values = new LinkedHashMap<>();
    base.values().forEach((name, millis) -> values.put(name, Math.max(1, (long) (millis * scale))));
    put(values, "lease", lease);
    put(values, "heartbeat", heartbeat);
    long beat = values.getOrDefault("heartbeat", 0L);
    values.put("call", Math.max(1, Math.min(base.callMillis(), beat * 2 / 3)));
    put(values, "call", call);
    put(values, "margin", margin);
    if (margin == null) {
      values.merge(
          "margin", ProtocolTimers.leastMargin(values.getOrDefault("lease", 0L)), Math::max);
    }
    put(values, "stop", stop);
    put(values, "kill_wait", killWait);
    put(values, "guard", guard);
    values.merge("unhealthy", beat + values.getOrDefault("call", 0L), Math::max);
    put(values, "unhealthy", unhealthy);
    put(values, "health_check", healthCheck);
    // A health check starts a process, which does not get faster with a shorter lease.
    values.merge(
        "health_check_timeout", Math.min(5_000, base.healthCheckTimeoutMillis()), Math::max);
    put(values, "health_check_timeout", healthCheckTimeout);
    values.put(
        "takeover",
        Math.max(
            lease == null && margin == null ? base.takeoverMillis() : 0,
            values.getOrDefault("lease", 0L) + values.getOrDefault("margin", 0L)));
    put(values, "takeover", takeover);
    return values;
  }

  private static void put(Map<String, Long> values, String name, @Nullable Long value) {
    if (value != null) {
      values.put(name, value);
    }
  }
}
