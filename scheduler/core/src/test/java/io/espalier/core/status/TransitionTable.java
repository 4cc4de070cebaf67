package io.espalier.core.status;

import io.espalier.core.config.task.RetryPolicy;
import io.espalier.core.json.Json;
import io.espalier.core.status.TaskStatus.Main;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Every state under every event, by the real transitions, as Markdown. */
final class TransitionTable {
  static final long NOW = 1_000_000;

  private TransitionTable() {}

  /** Names of states to a status in that state; all that ran before stand on the 2 s step. */
  static Map<String, Optional<TaskStatus>> states() {
    Map<String, Optional<TaskStatus>> states = new LinkedHashMap<>();
    states.put("unstarted", Optional.empty());
    put(states, "running", of(Main.RUNNING, 0, 0));
    TaskStatus running = of(Main.RUNNING, 0, 0);
    put(states, "running, got on", running.withRetries(running.retries().withGotOn(true)));
    put(states, "done", of(Main.DONE, 0, 0));
    put(states, "incomplete", TaskStatus.of(Main.INCOMPLETE, 0, 3).withData(data()));
    put(states, "incomplete_backoff", of(Main.INCOMPLETE, 64 + 512, 2));
    put(states, "error", TaskStatus.of(Main.ERROR, 0, 3).withData(data()));
    put(states, "error_backoff", of(Main.ERROR, 64, 2));
    put(states, "failed", of(Main.FAILED, 0, 0));
    put(states, "never_started", of(Main.ERROR, 64 + 512 + 2048, 4));
    put(states, "was_not_running", of(Main.ERROR, 1024, 0));
    put(states, "interrupted", of(Main.INCOMPLETE, 512, 0));
    put(states, "lost", of(Main.ERROR, 64 + 1024 + 2048, 66));
    put(states, "running, cancelled", of(Main.RUNNING, 512, 0));
    put(states, "cancelled", of(Main.CANCELLED, 0, 0).withRetries(RetryCounts.NONE));
    put(
        states,
        "lost, cancelled",
        of(Main.CANCELLED, 64 + 1024 + 2048, 66).withRetries(RetryCounts.NONE));
    put(states, "lost, failed", of(Main.FAILED, 64 + 1024 + 2048, 66));
    return states;
  }

  private static void put(
      Map<String, Optional<TaskStatus>> states, String name, TaskStatus status) {
    states.put(name, Optional.of(status));
  }

  private static TaskStatus of(Main main, int flags, int wait) {
    int position = main == Main.DONE ? 0 : 2;
    RetryCounts counts = main == Main.DONE ? RetryCounts.NONE : new RetryCounts(2, 3, 4, false);
    return TaskStatus.ofBits(main.bit() | flags, 0, wait, position, 3, data()).withRetries(counts);
  }

  private static Json.Obj data() {
    return Json.object().put("at", 7).build();
  }

  static List<TaskEvent> events() {
    return List.copyOf(named().values());
  }

  static Map<String, TaskEvent> named() {
    Map<String, TaskEvent> events = new LinkedHashMap<>();
    events.put("started", new TaskEvent.Started());
    events.put("says done", new TaskEvent.Ended(ParsedStatus.DONE));
    events.put("says incomplete", new TaskEvent.Ended(ParsedStatus.INCOMPLETE));
    events.put("says incomplete_backoff", new TaskEvent.Ended(ParsedStatus.INCOMPLETE_BACKOFF));
    events.put("killed", new TaskEvent.Ended(ParsedStatus.killed("killed")));
    events.put("says error_backoff", new TaskEvent.Ended(ParsedStatus.ERROR_BACKOFF));
    events.put("ends without a valid status", new TaskEvent.Ended(ParsedStatus.error("why")));
    events.put("says failed", new TaskEvent.Ended(ParsedStatus.FAILED));
    events.put("not started", new TaskEvent.NotStarted("why"));
    events.put("was not running", new TaskEvent.WasNotRunning("why"));
    events.put("worker lost", new TaskEvent.WorkerLost("w", "why", 66));
    events.put("interrupted", new TaskEvent.Interrupted("why"));
    events.put("cancelled", new TaskEvent.Cancelled("why"));
    events.put("forgiven", new TaskEvent.Forgiven());
    return events;
  }

  /** One table: a row per event, a column per state. */
  static String markdown(RetryPolicy retrying) {
    Map<String, Optional<TaskStatus>> states = states();
    StringBuilder out = new StringBuilder("| event |");
    states.keySet().forEach(name -> out.append(' ').append(name).append(" |"));
    out.append("\n|---|").append("---|".repeat(states.size())).append('\n');
    named()
        .forEach(
            (name, event) -> {
              out.append("| **").append(name).append("** |");
              for (Optional<TaskStatus> state : states.values()) {
                TaskStatus before = state.orElse(null);
                Transition to = TaskTransitions.apply(before, event, retrying, NOW);
                out.append(' ').append(cell(before, to, retrying)).append(" |");
              }
              out.append('\n');
            });
    return out.toString();
  }

  private static String counts(RetryCounts counts) {
    return counts.successive() + "/" + counts.noProgress() + "/" + counts.progress();
  }

  private static String cell(@Nullable TaskStatus before, Transition to, RetryPolicy retrying) {
    if (to.warning() != null) {
      return "!";
    }
    TaskStatus after = to.status();
    if (!to.changed() || after == null) {
      return "-";
    }
    StringBuilder cell = new StringBuilder("`").append(after.label().word()).append('`');
    if (after.main() == Main.RUNNING && after.isCancelled()) {
      cell.append(", cancelled");
    }
    if (after.usesBackoff()) {
      cell.append(", wait ").append(after.backoffSeconds()).append(" s");
    }
    int stepBefore = before == null ? 0 : before.position();
    RetryCounts counted = before == null ? RetryCounts.NONE : before.retries().withGotOn(false);
    if (retrying.rules().isPresent()) {
      if (!after.retries().equals(counted)) {
        cell.append(", ").append(counts(counted)).append(" to ").append(counts(after.retries()));
      }
    } else if (after.position() != stepBefore) {
      cell.append(", step ").append(stepBefore).append(" to ").append(after.position());
    }
    int triedBefore = before == null ? 0 : before.attempts();
    if (after.attempts() != triedBefore) {
      cell.append(
          after.attempts() == 0
              ? ", attempts to 0"
              : after.attempts() > triedBefore ? ", attempt +1" : ", attempt -1");
    }
    if (before != null && !Objects.equals(before.data(), after.data())) {
      cell.append(
          after.data() == null
              ? ", data cleared"
              : after.data().get("at") == null ? ", data replaced" : ", data explained");
    }
    return cell.toString();
  }
}
