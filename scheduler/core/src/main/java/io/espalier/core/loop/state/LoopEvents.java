package io.espalier.core.loop.state;

import io.espalier.core.api.Command;
import io.espalier.core.event.Event;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.ParsedStatus;
import io.espalier.core.status.StepPosition;
import io.espalier.core.status.StopReasonRules;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusRowEvents;
import java.util.ArrayList;
import java.util.List;

/** Numbers the events of a loop and collects them until their batch is sent to the store. */
public final class LoopEvents {
  /** The maximum number of tasks in one event. */
  private static final int MANY_TASKS = 500;

  private final List<Event> pending = new ArrayList<>();

  /** Tasks of one job for a single event, all changed in the same way at the same instant. */
  private final List<Json> many = new ArrayList<>();

  private EventKind manyKind = EventKind.TASKS_RERUN;
  private String manyJob = "";
  private String manyException = "";
  private long manyMillis;
  private long next;

  public LoopEvents(long first) {
    this.next = first;
  }

  public void add(long timeMillis, EventKind kind, Json.Obj data) {
    flush();
    pending.add(new Event(next++, timeMillis, kind.word(), data));
  }

  /** Adds the event that a task started. */
  public void started(LiveTasks.Live live, StatusRow row, long nowMillis) {
    Json.Builder task =
        task(live).putIfPresent("role", live.role.isEmpty() ? null : Json.of(live.role));
    add(nowMillis, EventKind.TASK_STARTED, StatusRowEvents.put(task, row).build());
  }

  /** Adds the event that a running task has a newer checkpoint. */
  public void progressed(LiveTasks.Live live, StatusRow row, long nowMillis) {
    add(
        nowMillis,
        EventKind.TASK_PROGRESS,
        StatusRowEvents.put(task(live), row)
            .putIfPresent("data", row.status().data())
            .putIfPresent("checkpoint", row.status().checkpoint())
            .build());
  }

  /** Adds the event that a row changed for a reason other than these. */
  public void changed(StatusRow row, long nowMillis) {
    add(
        nowMillis,
        EventKind.TASK_CHANGED,
        StatusRowEvents.put(Json.object().put("job", row.job()).put("node", row.node()), row)
            .put("status", row.status().label().word())
            .put("invocation", row.invocation().token())
            .putIfPresent("data", row.status().data())
            .putIfPresent("checkpoint", row.status().checkpoint())
            .build());
  }

  /** Adds a forgiven task; several tasks of one job share an event. */
  public void forgiven(StatusRow row, long nowMillis) {
    oneOfMany(EventKind.TASKS_FORGIVEN, row, StatusRowEvents.brief(row), "", nowMillis);
  }

  /** Adds a cancelled task that does not run; several tasks of one job share an event. */
  public void cancelled(StatusRow row, long nowMillis) {
    String why = StatusRowEvents.exception(row);
    oneOfMany(EventKind.TASKS_CANCELLED, row, StatusRowEvents.brief(row), why, nowMillis);
  }

  /** Adds a task that was reset to unstarted; several tasks of one job share an event. */
  public void rerun(StatusRow row, long nowMillis) {
    oneOfMany(EventKind.TASKS_RERUN, row, Json.of(row.node()), "", nowMillis);
  }

  private void oneOfMany(EventKind kind, StatusRow row, Json task, String why, long nowMillis) {
    if (!row.job().equals(manyJob)
        || nowMillis != manyMillis
        || kind != manyKind
        || !why.equals(manyException)) {
      flush();
      manyException = why;
      manyKind = kind;
      manyJob = row.job();
      manyMillis = nowMillis;
    }
    many.add(task);
    if (many.size() == MANY_TASKS) {
      flush();
    }
  }

  private void flush() {
    if (!many.isEmpty()) {
      Json.Builder data =
          Json.object().put("job", manyJob).put("tasks", new Json.Arr(List.copyOf(many)));
      if (!manyException.isEmpty()) {
        data.put(ParsedStatus.EXCEPTION, manyException);
      }
      many.clear();
      pending.add(new Event(next++, manyMillis, manyKind.word(), data.build()));
    }
  }

  public void ended(LiveTasks.Live live, TaskResult end, StatusRow row, long nowMillis) {
    TaskStatus status = row.status();
    Json.Builder data =
        StatusRowEvents.put(task(live), row)
            .put("status", status.label().word())
            .put("result_bits", status.bits())
            .put("duration_ms", nowMillis - live.invocation().startMillis());
    if (end.startedAtMillis() > 0) {
      data.put("start_ms", Math.max(0, end.startedAtMillis() - live.invocation().startMillis()));
    }
    if (end.stopReason() != null) {
      data.put(StopReasonRules.KEY, StopReasonRules.word(end.stopReason()));
    }
    if (live.status.retries().gotOn()) {
      data.put("got_on", true);
    }
    if (end.exitCode() != null) {
      data.put("exit_code", end.exitCode());
    }
    if (end.signal() != null) {
      data.put("signal", end.signal());
    }
    if (status.readyAtMillis() > nowMillis) {
      data.put("backoff_sec", status.backoffSeconds());
    }
    data.putIfPresent("data", status.data());
    data.putIfPresent("checkpoint", status.checkpoint());
    add(nowMillis, EventKind.TASK_ENDED, data.build());
  }

  /** Adds the event that an operator has extended the time limits of a task. */
  public void extended(LiveTasks.Live live, Command.Extend command, long nowMillis) {
    Json.Builder data = task(live).put("by_ms", command.millis());
    add(nowMillis, EventKind.TASK_EXTENDED, by(command, data).build());
  }

  /** Adds the author and the reason of a command to the data of an event, where they were given. */
  public static Json.Builder by(Command<?> command, Json.Builder data) {
    if (!command.author().isEmpty()) {
      data.put("author", command.author());
    }
    if (!command.reason().isEmpty()) {
      data.put("reason", command.reason());
    }
    return data;
  }

  private static Json.Builder task(LiveTasks.Live live) {
    Invocation invocation = live.invocation();
    StepPosition step = live.status.step();
    return Json.object()
        .put("job", live.key.job())
        .put("node", live.key.node())
        .put("invocation", invocation.token())
        .put("attempt", live.launch.attempt())
        .putIfPresent("step", step == null ? null : Json.of(step.label()));
  }

  /** Returns and removes the events added since the last call. */
  public List<Event> take() {
    flush();
    List<Event> taken = List.copyOf(pending);
    pending.clear();
    return taken;
  }
}
