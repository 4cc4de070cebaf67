package io.espalier.webui.v1.json;

import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.api.view.TaskView;
import io.espalier.core.json.Json;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.store.TaskHistory;
import io.espalier.core.status.store.TaskTotals;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Encodes the schemas of {@code openapi.yaml} for the attempts of a task and their resource usage.
 */
public final class AttemptJson {
  private AttemptJson() {}

  /** Schema {@code TaskDetail}. */
  public static Json.Obj detail(TaskView task, TaskHistory history, SchedulerView view) {
    List<Json> attempts = new ArrayList<>();
    history.attempts().forEach(attempt -> attempts.add(attempt(attempt)));
    return ApiJson.task(task, view)
        .with("history", totals(history.totals()).put("attempts", new Json.Arr(attempts)).build());
  }

  /** Schema {@code Totals}. */
  public static Json.Builder totals(TaskTotals totals) {
    Json.Builder json =
        Json.object()
            .put("ended", totals.ended())
            .put("cpu_ms", totals.cpuMillis())
            .put("ran_ms", totals.ranMillis())
            .put("waited_ms", totals.waitedMillis());
    ApiJson.counters(json, totals.counters());
    return json;
  }

  /** Schema {@code Attempt}. */
  private static Json.Obj attempt(Attempt attempt) {
    Json.Builder json =
        Json.object()
            .put("attempt", attempt.number())
            .put("invocation", attempt.invocation().token())
            .put("worker", attempt.worker().shard());
    if (!attempt.worker().isLocal()) {
      json.put("worker_instance", Long.toHexString(attempt.worker().instance()));
    }
    ApiJson.waited(json, attempt.waitedMillis(), attempt.invocation());
    ApiJson.time(json, "process_started_at_ms", attempt.startedAtMillis());
    json.put("started_at_ms", attempt.invocation().startMillis())
        .put("ended_at_ms", attempt.endedAtMillis())
        .put("end", attempt.kind().name().toLowerCase(Locale.ROOT))
        .put("status", StatusLabel.of(attempt.bits()).word())
        .put("bits", attempt.bits());
    Integer exitCode = attempt.exitCode();
    if (exitCode != null) {
      json.put("exit_code", exitCode);
    }
    Integer signal = attempt.signal();
    if (signal != null) {
      json.put("signal", signal);
    }
    json.put("core_dumped", attempt.coreDumped());
    if (attempt.stopReason() != null) {
      json.put("stop_reason", attempt.stopReason().name().toLowerCase(Locale.ROOT));
    }
    json.put("usage", usage(attempt.usage()));
    json.put("made_progress", attempt.gotOn());
    if (attempt.backoffSeconds() > 0) {
      json.put("backoff_sec", attempt.backoffSeconds());
    }
    ApiJson.counters(json, attempt.counters());
    if (!attempt.step().isEmpty()) {
      json.put("step", attempt.step());
    }
    if (!attempt.message().isEmpty()) {
      json.put("message", attempt.message());
    }
    if (!attempt.fingerprint().isEmpty()) {
      json.put("fingerprint", attempt.fingerprint());
    }
    return json.build();
  }

  /** Schema {@code ResourceUsage}; unknown values are left out. */
  public static Json.Obj usage(ResourceUsage usage) {
    Json.Builder json = Json.object();
    amount(json, "cpu_ms", usage.cpuMillis());
    amount(json, "memory_bytes", usage.memoryBytes());
    amount(json, "peak_memory_bytes", usage.peakMemoryBytes());
    amount(json, "read_bytes", usage.readBytes());
    amount(json, "written_bytes", usage.writtenBytes());
    if (!usage.gpus().isEmpty()) {
      json.put("gpus", Json.strings(usage.gpus()));
    }
    return json.build();
  }

  private static void amount(Json.Builder json, String key, long amount) {
    if (amount >= 0) {
      json.put(key, amount);
    }
  }
}
