package io.espalier.cli.client.inspect;

import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import java.util.ArrayList;
import java.util.List;

/** Formats one task with its attempts for people. */
final class TaskDetailPrinter {
  private TaskDetailPrinter() {}

  /** Returns the phase in brackets; older schedulers do not report it. */
  private static String phase(Json.Obj task) {
    String phase = JsonFields.text(task, "phase");
    boolean says = !phase.isEmpty() && !phase.equals(JsonFields.text(task, "status"));
    return says ? " (" + phase + ")" : "";
  }

  private static String attempts(long count) {
    return count == 1 ? "1 attempt" : count + " attempts";
  }

  /** Returns the current state, one property per line. */
  static List<String> heading(Json.Obj task) {
    List<String> lines = new ArrayList<>();
    lines.add(
        JsonFields.text(task, "job")
            + " on "
            + JsonFields.text(task, "node")
            + ": "
            + JsonFields.text(task, "status")
            + phase(task)
            + ", "
            + attempts(JsonFields.number(task, "attempts"))
            + (task.get("running") == null ? step(", next step ", task) : "")
            + since(" since ", JsonFields.number(task, "since_ms"))
            + since(", waits until ", JsonFields.number(task, "until_ms"))
            + since(", could start since ", JsonFields.number(task, "eligible_at_ms")));
    String note = JsonFields.text(task, "step_note");
    if (!note.isEmpty()) {
      lines.add(note);
    }
    Json.Obj data = JsonFields.object(task, "data");
    if (!data.isEmpty()) {
      lines.add("data: " + JsonWriter.compact(data));
    }
    running(lines, JsonFields.object(task, "running"));
    Json.Obj history = JsonFields.object(task, "history");
    lines.add(
        "ended: "
            + attempts(JsonFields.number(history, "ended"))
            + ", "
            + HumanFormat.seconds(history, "cpu_ms")
            + " of CPU time");
    String counters = TaskDetail.counters(history);
    if (!counters.isEmpty()) {
      lines.add("counted by them: " + counters);
    }
    return lines;
  }

  /** Adds what runs of a task; nothing if nothing does. */
  static void running(List<String> lines, Json.Obj running) {
    if (!running.isEmpty()) {
      Json.Obj usage = JsonFields.object(running, "usage");
      lines.add(
          "running: attempt "
              + JsonFields.number(running, "attempt")
              + step(", step ", running)
              + (running.get("batch") == null ? "" : ", batch " + JsonFields.text(running, "batch"))
              + on(JsonFields.text(running, "worker"))
              + since(" since ", JsonFields.number(running, "started_at_ms"))
              + (running.get("waited_ms") == null ? "" : ", waited " + TaskDetail.waited(running))
              + (usage.isEmpty() ? "" : "; " + usage(usage)));
      String speed = TaskDetail.speed(running);
      if (!speed.isEmpty()) {
        String reason = JsonFields.text(JsonFields.object(running, "throttle"), "reason");
        lines.add(
            (speed.equals("paused") ? "told to pause" : "told to work at " + speed)
                + (reason.isEmpty() ? "" : ": " + reason));
      }
      Json.Obj stopping = JsonFields.object(running, "stopping");
      if (!stopping.isEmpty()) {
        lines.add(
            "being stopped since "
                + HumanFormat.time(JsonFields.number(stopping, "since_ms"))
                + ": "
                + JsonFields.text(stopping, "reason"));
      }
      String progress = TaskDetail.progress(running);
      if (!progress.isEmpty()) {
        lines.add("progress: " + progress);
      }
      String counting = TaskDetail.counters(running);
      if (!counting.isEmpty()) {
        lines.add("counts: " + counting);
      }
      call(lines, JsonFields.object(running, "call"));
    }
  }

  private static void call(List<String> lines, Json.Obj call) {
    if (call.isEmpty()) {
      return;
    }
    long polled = JsonFields.number(call, "polled_at_ms");
    long next = JsonFields.number(call, "next_poll_at_ms");
    String answer = JsonFields.text(call, "poll_answer");
    boolean inDoubt = JsonFields.isTrue(call, "in_doubt");
    boolean callsBack = JsonFields.text(call, "awaits").equals("callback");
    lines.add(
        "calls a service over "
            + JsonFields.text(call, "executor")
            + (callsBack ? ", which is to call back" : inDoubt ? "" : ", and waits for its answer")
            + (call.get("unknown_hold_ms") == null
                ? ""
                : "; the outcome is unknown after "
                    + HumanFormat.duration(JsonFields.number(call, "unknown_hold_ms"))
                    + " without any"));
    if (inDoubt) {
      lines.add("in doubt since " + HumanFormat.time(polled) + ": " + answer);
    } else if (polled > 0) {
      lines.add(
          "last polled at "
              + HumanFormat.time(polled)
              + ": "
              + answer
              + (next > 0 ? "; the next poll is at " + HumanFormat.time(next) : ""));
    }
  }

  private static String step(String word, Json.Obj task) {
    String step = JsonFields.text(task, "step");
    return step.isEmpty() ? "" : word + step;
  }

  private static String on(String worker) {
    return worker.isEmpty() ? "" : " on worker " + worker;
  }

  private static String since(String word, long millis) {
    return millis <= 0 ? "" : word + HumanFormat.time(millis);
  }

  private static String usage(Json.Obj usage) {
    List<String> parts = new ArrayList<>();
    add(parts, "CPU ", HumanFormat.seconds(usage, "cpu_ms"));
    add(parts, "memory ", HumanFormat.bytes(usage, "memory_bytes"));
    add(parts, "at most ", HumanFormat.bytes(usage, "peak_memory_bytes"));
    add(parts, "read ", HumanFormat.bytes(usage, "read_bytes"));
    add(parts, "written ", HumanFormat.bytes(usage, "written_bytes"));
    add(parts, "GPUs ", String.join(" and ", JsonFields.texts(usage, "gpus")));
    return String.join(", ", parts);
  }

  private static void add(List<String> parts, String name, String amount) {
    if (!amount.isEmpty()) {
      parts.add(name + amount);
    }
  }

  /** Returns the attempts, oldest first. */
  static Table attempts(Json.Obj history) {
    Table table =
        new Table(
            ">#",
            "?STEP",
            "?>WAITED",
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
            "?~COUNTERS",
            "?~CAUSE",
            "?MESSAGE");
    for (Json.Obj attempt : JsonFields.objects(history, "attempts")) {
      Json.Obj usage = JsonFields.object(attempt, "usage");
      long started = JsonFields.number(attempt, "started_at_ms");
      table.row(
          JsonFields.number(attempt, "attempt"),
          JsonFields.text(attempt, "step"),
          TaskDetail.waited(attempt),
          HumanFormat.time(started),
          HumanFormat.duration(JsonFields.number(attempt, "ended_at_ms") - started),
          JsonFields.text(attempt, "worker"),
          JsonFields.text(attempt, "status"),
          end(attempt),
          JsonFields.isTrue(attempt, "made_progress") ? "yes" : "",
          attempt.get("backoff_sec") == null
              ? ""
              : HumanFormat.duration(1000 * JsonFields.number(attempt, "backoff_sec")),
          HumanFormat.seconds(usage, "cpu_ms"),
          HumanFormat.bytes(usage, "peak_memory_bytes"),
          HumanFormat.bytes(usage, "read_bytes"),
          HumanFormat.bytes(usage, "written_bytes"),
          TaskDetail.counters(attempt),
          JsonFields.text(attempt, "fingerprint"),
          JsonFields.text(attempt, "message"));
    }
    return table;
  }

  private static String end(Json.Obj attempt) {
    String end = JsonFields.text(attempt, "end");
    if (attempt.get("exit_code") != null) {
      end += " with " + JsonFields.number(attempt, "exit_code");
    }
    if (attempt.get("signal") != null) {
      end += " by signal " + JsonFields.number(attempt, "signal");
    }
    if (JsonFields.isTrue(attempt, "core_dumped")) {
      end += ", core dumped";
    }
    String reason = JsonFields.text(attempt, "stop_reason");
    return reason.isEmpty() ? end : end + " (" + reason.replace('_', ' ') + ")";
  }
}
