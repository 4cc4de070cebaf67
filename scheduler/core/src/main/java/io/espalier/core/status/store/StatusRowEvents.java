package io.espalier.core.status.store;

import io.espalier.core.event.Event;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.running.Counters;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.Failure;
import io.espalier.core.status.ParsedStatus;
import io.espalier.core.status.RetryCounts;
import io.espalier.core.status.StepPosition;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskTransitions;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Encodes rows in events, so that the statuses of tasks can be rebuilt from events alone
 * (docs/design/features.md#events): each change of a row is in exactly one event.
 *
 * <p>The member {@code row} of an event about one task is {@code [bits, since, backoff, position,
 * attempts, epoch, sequence, started]}; {@code worker} and {@code worker_instance} are present
 * unless the task ran on the scheduler's own host, {@code waited_ms} and {@code count} while the
 * task runs, if known. {@code task_started} and {@code tasks_forgiven} leave data and checkpoint
 * unchanged, {@code tasks_cancelled} adds an {@code exception} to the data, {@code tasks_rerun}
 * makes tasks unstarted since the time of the event, and {@code job_forgotten} deletes all rows of
 * a job; in all other events {@code data} and {@code checkpoint} are the current values. A failure
 * is given by {@code fingerprint} and {@code failure}, its message; {@code retries} contains the
 * {@link RetryCounts}, and {@code step_position} the {@link StepPosition}, if there are any.
 */
public final class StatusRowEvents {
  private static final String ROW = "row";

  private static final String WAITED = "waited_ms";

  private static final String COUNT = "count";

  private StatusRowEvents() {}

  /** Adds the row to an event about one task. */
  public static Json.Builder put(Json.Builder event, StatusRow row) {
    TaskStatus status = row.status();
    Invocation invocation = row.invocation();
    event.put(
        ROW,
        new Json.Arr(
            List.of(
                Json.of(status.bits()),
                Json.of(status.sinceMillis()),
                Json.of(status.backoffSeconds()),
                Json.of(status.position()),
                Json.of(status.attempts()),
                Json.of(invocation.epoch()),
                Json.of(invocation.sequence()),
                Json.of(invocation.startMillis()))));
    if (!row.worker().isLocal()) {
      event.put("worker", row.worker().shard());
      // A JSON number could exceed what browsers represent exactly.
      event.put("worker_instance", Long.toString(row.worker().instance()));
    }
    if (row.waitedMillis() >= 0) {
      event.put(WAITED, row.waitedMillis());
    }
    if (!row.counters().isEmpty()) {
      event.put(COUNT, row.counters().json());
    }
    Failure failure = status.failure();
    if (failure != null) {
      event.put("fingerprint", failure.fingerprint()).put("failure", failure.message());
    }
    if (!status.retries().equals(RetryCounts.NONE)) {
      event.put("retries", status.retries().json());
    }
    if (status.step() != null) {
      event.put("step_position", status.step().json());
    }
    return event;
  }

  /** The member {@code exception} of the data of a row; empty when there is none. */
  public static String exception(StatusRow row) {
    Json.Obj data = row.status().data();
    Json text = data == null ? null : data.get(ParsedStatus.EXCEPTION);
    return text instanceof Json.Str said ? said.value() : "";
  }

  /**
   * Encodes one task of {@link EventKind#TASKS_FORGIVEN} and {@link EventKind#TASKS_CANCELLED}:
   * {@code [node, bits, since, backoff, position, attempts]}.
   */
  public static Json brief(StatusRow row) {
    TaskStatus status = row.status();
    return new Json.Arr(
        List.of(
            Json.of(row.node()),
            Json.of(status.bits()),
            Json.of(status.sinceMillis()),
            Json.of(status.backoffSeconds()),
            Json.of(status.position()),
            Json.of(status.attempts())));
  }

  /** Rebuilds the rows of tasks from events. Not thread-safe. */
  public static final class Replay {
    private final Map<TaskKey, StatusRow> rows = new HashMap<>();
    private final Predicate<TaskKey> wanted;
    private long sequence;

    /** Rebuilds the rows of all tasks. */
    public Replay() {
      this(task -> true);
    }

    /**
     * @param wanted says which tasks' rows to rebuild
     */
    public Replay(Predicate<TaskKey> wanted) {
      this.wanted = wanted;
    }

    /**
     * Applies the next event; events that change no row are accepted.
     *
     * @throws IllegalArgumentException when the event is malformed, or not newer than the last one
     */
    public void apply(Event event) {
      if (event.sequence() <= sequence) {
        throw new IllegalArgumentException(
            "event " + event.sequence() + " comes after event " + sequence);
      }
      sequence = event.sequence();
      Json.Obj data = event.data();
      try {
        EventKind kind = EventKind.of(event.kind());
        if (data.get(ROW) != null) {
          put(kind == EventKind.TASK_STARTED, data, items(data.get(ROW)));
        } else if (kind != null) {
          changeMany(kind, data, event.timeMillis());
        }
      } catch (ClassCastException | IndexOutOfBoundsException | IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "event " + event.sequence() + " (" + event.kind() + ") is damaged: " + e.getMessage(),
            e);
      }
    }

    /** The rows after all events so far. */
    public Map<TaskKey, StatusRow> rows() {
      return Collections.unmodifiableMap(rows);
    }

    /** The sequence of the last applied event; 0 before the first. */
    public long sequence() {
      return sequence;
    }

    private void changeMany(EventKind kind, Json.Obj data, long timeMillis) {
      switch (kind) {
        case JOB_FORGOTTEN -> {
          String job = text(data, "job");
          rows.keySet().removeIf(key -> key.job().equals(job));
        }
        case TASKS_FORGIVEN -> {
          for (Json task : items(data.get("tasks"))) {
            change(text(data, "job"), items(task), "");
          }
        }
        case TASKS_CANCELLED -> {
          for (Json task : items(data.get("tasks"))) {
            change(text(data, "job"), items(task), text(data, ParsedStatus.EXCEPTION));
          }
        }
        case TASKS_RERUN -> {
          for (Json node : items(data.get("tasks"))) {
            rerun(text(data, "job"), ((Json.Str) node).value(), timeMillis);
          }
        }
        default -> {
          // Changes no row.
        }
      }
    }

    private void put(boolean started, Json.Obj data, List<Json> row) {
      TaskKey key = new TaskKey(text(data, "job"), text(data, "node"));
      if (!wanted.test(key)) {
        return;
      }
      StatusRow before = started ? rows.get(key) : null;
      Json.Obj said = before == null ? object(data.get("data")) : before.status().data();
      StepPosition at = StepPosition.of(data.get("step_position"));
      Json.Obj checkpoint =
          before == null
              ? object(data.get("checkpoint"))
              : at == null || at.isSameStep(before.status().step())
                  ? before.status().checkpoint()
                  : null;
      Json worker = data.get("worker");
      Json waited = data.get(WAITED);
      Failure failure =
          data.get("fingerprint") == null
              ? null
              : new Failure(text(data, "fingerprint"), text(data, "failure"));
      rows.put(
          key,
          new StatusRow(
              key.job(),
              key.node(),
              status(row, 0, said, checkpoint)
                  .withFailure(failure)
                  .withRetries(RetryCounts.of(data.get("retries")))
                  .withStep(at),
              new Invocation(number(row.get(5)), number(row.get(6)), number(row.get(7))),
              worker == null
                  ? WorkerRef.LOCAL
                  : new WorkerRef(
                      text(data, "worker"), Long.parseLong(text(data, "worker_instance"))),
              null,
              waited == null ? Attempt.UNKNOWN_WAIT : number(waited),
              Counters.of(data.get(COUNT)),
              ""));
    }

    /** Changes the status of a task but not its data, to which an exception may be added. */
    private void change(String job, List<Json> task, String exception) {
      TaskKey key = new TaskKey(job, ((Json.Str) task.get(0)).value());
      if (!wanted.test(key)) {
        return;
      }
      StatusRow before = rows.get(key);
      boolean unstarted = number(task.get(1)) == TaskStatus.Main.UNSTARTED.bit();
      TaskStatus kept = before == null || unstarted ? null : before.status();
      Json.Obj said = kept == null ? null : kept.data();
      if (!exception.isEmpty()) {
        said = TaskTransitions.explained(said, exception);
      }
      Json.Obj checkpoint = kept == null ? null : kept.checkpoint();
      StepPosition step = kept == null ? null : kept.step();
      TaskStatus changed = status(task, 1, said, checkpoint);
      StatusRow after =
          new StatusRow(
              job,
              key.node(),
              changed.withStep(step == null ? null : step.after(changed)),
              new Invocation(0, 0, 0));
      rows.put(key, after);
    }

    private void rerun(String job, String node, long atMillis) {
      StatusRow row =
          new StatusRow(job, node, TaskStatus.unstarted(atMillis), new Invocation(0, 0, 0));
      if (wanted.test(row.key())) {
        rows.put(row.key(), row);
      }
    }

    private static TaskStatus status(
        List<Json> from, int at, Json.@Nullable Obj data, Json.@Nullable Obj checkpoint) {
      return TaskStatus.ofBits(
              (int) number(from.get(at)),
              number(from.get(at + 1)),
              (int) number(from.get(at + 2)),
              (int) number(from.get(at + 3)),
              (int) number(from.get(at + 4)),
              null)
          .withData(data)
          .withCheckpoint(checkpoint);
    }

    private static long number(Json json) {
      BigDecimal value = ((Json.Num) json).value();
      return value.longValueExact();
    }

    private static String text(Json.Obj data, String member) {
      if (data.get(member) instanceof Json.Str text) {
        return text.value();
      }
      throw new IllegalArgumentException("no " + member);
    }

    private static Json.@Nullable Obj object(@Nullable Json json) {
      return json == null ? null : (Json.Obj) json;
    }

    private static List<Json> items(@Nullable Json json) {
      return json == null ? new ArrayList<>() : ((Json.Arr) json).items();
    }
  }
}
