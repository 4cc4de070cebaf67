package io.espalier.core.config.write;

import io.espalier.core.config.CgroupLimits;
import io.espalier.core.config.JobScheduling;
import io.espalier.core.config.LogOptions;
import io.espalier.core.config.ProcessAttributes;
import io.espalier.core.config.TaskVariables;
import io.espalier.core.config.TimeLimits;
import io.espalier.core.config.read.ReserveAfterParser;
import io.espalier.core.json.Json;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * Writes the options that Bistro does not have. An option without effect is omitted, so that the
 * export of a Bistro job is valid in Bistro; {@code false} is written where it removes an inherited
 * value. The output parses to the same options under the same settings.
 */
public final class OptionsExport {
  private OptionsExport() {}

  /** {@code timeout_sec}, {@code complete_by} and {@code no_output_timeout_sec}. */
  public static void putTimeLimits(Json.Builder out, TimeLimits limits, TimeLimits inherited) {
    put(out, "timeout_sec", limits.timeout(), inherited.timeout(), OptionsExport::seconds);
    put(
        out,
        "complete_by",
        limits.completeBy(),
        inherited.completeBy(),
        instant -> Json.of(instant.toString()));
    put(
        out,
        "no_output_timeout_sec",
        limits.noOutput(),
        inherited.noOutput(),
        OptionsExport::seconds);
  }

  /** {@code reserve_after_sec}, which all jobs have; omitted where it is inherited. */
  static void putReserveAfter(Json.Builder out, JobScheduling job, JobScheduling inherited) {
    if (!job.reserveAfter().equals(inherited.reserveAfter())) {
      out.put(
          ReserveAfterParser.KEY,
          job.reserveAfter().map(OptionsExport::seconds).orElse(Json.Bool.FALSE));
    }
  }

  private static Json seconds(Duration duration) {
    return Json.of(duration.toMillis() / 1000.0);
  }

  /** {@code log_retention} and {@code redact}. */
  public static void putLogs(Json.Builder out, LogOptions logs, LogOptions inherited) {
    Json.Builder retention = Json.object();
    put(retention, "days", logs.retentionDays(), inherited.retentionDays());
    put(retention, "max_mb", logs.maxMb(), inherited.maxMb());
    putUnlessEmpty(out, "log_retention", retention.build());
    putNames(out, "redact", logs.redact(), inherited.redact());
  }

  static void putAttributes(
      Json.Builder out, ProcessAttributes attributes, ProcessAttributes inherited) {
    put(
        out,
        "umask",
        boxed(attributes.umask()),
        boxed(inherited.umask()),
        umask -> Json.of(String.format(Locale.ROOT, "%03o", umask)));
    put(out, "nice", attributes.nice(), inherited.nice());
    put(
        out,
        "ionice",
        attributes.ioNice(),
        inherited.ioNice(),
        io -> Json.object().put("class", io.ioClass().label()).put("level", io.level()).build());
    put(out, "run_as", attributes.runAs(), inherited.runAs(), runAs -> Json.of(runAs.text()));
  }

  static void putVariables(Json.Builder out, TaskVariables variables, TaskVariables inherited) {
    putNames(out, "pass_environment", variables.passed(), inherited.passed());
    Json.Builder set = Json.object();
    variables.set().forEach(set::put);
    putUnlessEmpty(out, "environment", set.build());
  }

  static void putLimits(Json.Builder out, CgroupLimits limits, CgroupLimits inherited) {
    Json.Builder json = Json.object();
    put(json, "memory_mb", limits.memoryMb(), inherited.memoryMb());
    put(json, "memory_swap_mb", limits.memorySwapMb(), inherited.memorySwapMb());
    put(json, "cpu_weight", limits.cpuWeight(), inherited.cpuWeight());
    put(json, "cpu_quota_percent", limits.cpuQuotaPercent(), inherited.cpuQuotaPercent());
    put(json, "pids_max", limits.pidsMax(), inherited.pidsMax());
    put(json, "io_weight", limits.ioWeight(), inherited.ioWeight());
    if (limits.required() || inherited.required()) {
      json.put("enforce", limits.required() ? CgroupLimits.REQUIRED : CgroupLimits.IF_AVAILABLE);
    }
    putUnlessEmpty(out, "cgroup_limits", json.build());
  }

  private static Optional<Integer> boxed(OptionalInt value) {
    return value.isPresent() ? Optional.of(value.getAsInt()) : Optional.empty();
  }

  private static void put(Json.Builder out, String key, OptionalInt value, OptionalInt inherited) {
    put(out, key, boxed(value), boxed(inherited), Json::of);
  }

  private static void put(
      Json.Builder out, String key, OptionalLong value, OptionalLong inherited) {
    if (value.isPresent()) {
      out.put(key, value.getAsLong());
    } else if (inherited.isPresent()) {
      out.put(key, Json.Bool.FALSE);
    }
  }

  private static <T> void put(
      Json.Builder out,
      String key,
      Optional<T> value,
      Optional<T> inherited,
      Function<T, Json> write) {
    if (value.isPresent()) {
      out.put(key, write.apply(value.get()));
    } else if (inherited.isPresent()) {
      out.put(key, Json.Bool.FALSE);
    }
  }

  private static void putNames(
      Json.Builder out, String key, List<String> names, List<String> inherited) {
    if (!names.isEmpty() || !inherited.isEmpty()) {
      out.put(key, Json.strings(names));
    }
  }

  private static void putUnlessEmpty(Json.Builder out, String key, Json.Obj value) {
    if (!value.isEmpty()) {
      out.put(key, value);
    }
  }
}
