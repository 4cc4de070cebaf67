package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import java.util.ArrayList;
import java.util.List;

/** One task with its attempts, for people. */
final class TaskPage {
  private TaskPage() {}

  /** In brackets; older schedulers do not know it. */
  private static String phase(Json.Obj task) {
    String phase = Fields.text(task, "phase");
    boolean says = !phase.isEmpty() && !phase.equals(Fields.text(task, "status"));
    return says ? " (" + phase + ")" : "";
  }

  /** What it is now, a line each. */
  static List<String> heading(Json.Obj task) {
    List<String> lines = new ArrayList<>();
    lines.add(
        Fields.text(task, "job")
            + " on "
            + Fields.text(task, "node")
            + ": "
            + Fields.text(task, "status")
            + phase(task)
            + ", "
            + Fields.number(task, "attempts")
            + " attempts"
            + since(" since ", Fields.number(task, "since_ms"))
            + since(", waits until ", Fields.number(task, "until_ms")));
    Json.Obj data = Fields.object(task, "data");
    if (!data.isEmpty()) {
      lines.add("data: " + JsonWriter.compact(data));
    }
    Json.Obj running = Fields.object(task, "running");
    if (!running.isEmpty()) {
      Json.Obj usage = Fields.object(running, "usage");
      lines.add(
          "running: attempt "
              + Fields.number(running, "attempt")
              + on(Fields.text(running, "worker"))
              + since(" since ", Fields.number(running, "started_at_ms"))
              + (usage.isEmpty() ? "" : "; " + usage(usage)));
      String progress = LiveTask.progress(running);
      if (!progress.isEmpty()) {
        lines.add("progress: " + progress);
      }
    }
    Json.Obj history = Fields.object(task, "history");
    lines.add(
        "ended: "
            + Fields.number(history, "ended")
            + " attempts, "
            + Screen.seconds(history, "cpu_ms")
            + " of CPU time");
    return lines;
  }

  private static String on(String worker) {
    return worker.isEmpty() ? "" : " on worker " + worker;
  }

  private static String since(String word, long millis) {
    return millis <= 0 ? "" : word + Screen.time(millis);
  }

  private static String usage(Json.Obj usage) {
    List<String> parts = new ArrayList<>();
    add(parts, "CPU ", Screen.seconds(usage, "cpu_ms"));
    add(parts, "memory ", Screen.bytes(usage, "memory_bytes"));
    add(parts, "at most ", Screen.bytes(usage, "peak_memory_bytes"));
    add(parts, "read ", Screen.bytes(usage, "read_bytes"));
    add(parts, "written ", Screen.bytes(usage, "written_bytes"));
    add(parts, "GPUs ", String.join(" and ", Fields.texts(usage, "gpus")));
    return String.join(", ", parts);
  }

  private static void add(List<String> parts, String name, String amount) {
    if (!amount.isEmpty()) {
      parts.add(name + amount);
    }
  }

  /** Oldest first. */
  static Table attempts(Json.Obj history) {
    Table table =
        new Table(
            ">#",
            "STARTED",
            ">FOR",
            "?WORKER",
            "STATUS",
            "END",
            "?PROGRESS",
            "?>BACKOFF",
            "?~>CPU",
            "?~>MEMORY",
            "?~>READ",
            "?~>WRITTEN",
            "?~CAUSE",
            "?MESSAGE");
    for (Json.Obj attempt : Fields.objects(history, "attempts")) {
      Json.Obj usage = Fields.object(attempt, "usage");
      long started = Fields.number(attempt, "started_at_ms");
      table.row(
          Fields.number(attempt, "attempt"),
          Screen.time(started),
          Screen.duration(Fields.number(attempt, "ended_at_ms") - started),
          Fields.text(attempt, "worker"),
          Fields.text(attempt, "status"),
          end(attempt),
          Fields.isTrue(attempt, "made_progress") ? "yes" : "",
          attempt.get("backoff_sec") == null
              ? ""
              : Screen.duration(1000 * Fields.number(attempt, "backoff_sec")),
          Screen.seconds(usage, "cpu_ms"),
          Screen.bytes(usage, "peak_memory_bytes"),
          Screen.bytes(usage, "read_bytes"),
          Screen.bytes(usage, "written_bytes"),
          Fields.text(attempt, "fingerprint"),
          Fields.text(attempt, "message"));
    }
    return table;
  }

  private static String end(Json.Obj attempt) {
    String end = Fields.text(attempt, "end");
    if (attempt.get("exit_code") != null) {
      end += " with " + Fields.number(attempt, "exit_code");
    }
    if (attempt.get("signal") != null) {
      end += " by signal " + Fields.number(attempt, "signal");
    }
    if (Fields.isTrue(attempt, "core_dumped")) {
      end += ", core dumped";
    }
    String reason = Fields.text(attempt, "stop_reason");
    return reason.isEmpty() ? end : end + " (" + reason.replace('_', ' ') + ")";
  }
}
