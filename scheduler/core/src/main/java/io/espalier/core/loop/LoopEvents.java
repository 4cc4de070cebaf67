package io.espalier.core.loop;

import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.TaskEnd;
import io.espalier.core.status.RowEvents;
import io.espalier.core.status.StatusRow;
import io.espalier.core.status.StopReasons;
import io.espalier.core.status.TaskStatus;
import java.util.ArrayList;
import java.util.List;

/** Numbers the events of a loop and collects them until their batch goes to the store. */
final class LoopEvents {
  /** Of one event. */
  private static final int MANY_TASKS = 500;

  private final List<Event> pending = new ArrayList<>();

  /** Tasks of one job that one event will tell of, all changed in the same way at one instant. */
  private final List<Json> many = new ArrayList<>();

  private String manyKind = "";
  private String manyJob = "";
  private long manyMillis;
  private long next;

  LoopEvents(long first) {
    this.next = first;
  }

  void add(long timeMillis, String kind, Json.Obj data) {
    flush();
    pending.add(new Event(next++, timeMillis, kind, data));
  }

  /** The task's row after its start. */
  void started(LiveTasks.Live live, StatusRow row, long nowMillis) {
    String role = TaskArgument.roleIn(live.launch.argument());
    Json.Builder task = task(live).putIfPresent("role", role.isEmpty() ? null : Json.of(role));
    add(nowMillis, RowEvents.STARTED, RowEvents.put(task, row).build());
  }

  /** The task's row with a newer checkpoint. */
  void progressed(LiveTasks.Live live, StatusRow row, long nowMillis) {
    add(
        nowMillis,
        RowEvents.PROGRESS,
        RowEvents.put(task(live), row)
            .putIfPresent("data", row.status().data())
            .putIfPresent("checkpoint", row.status().checkpoint())
            .build());
  }

  /** A row that was changed by something else. */
  void changed(StatusRow row, long nowMillis) {
    add(
        nowMillis,
        RowEvents.CHANGED,
        RowEvents.put(Json.object().put("job", row.job()).put("node", row.node()), row)
            .put("status", row.status().label().word())
            .put("invocation", row.invocation().token())
            .putIfPresent("data", row.status().data())
            .putIfPresent("checkpoint", row.status().checkpoint())
            .build());
  }

  /** A row that was forgiven; many of one job are one event. */
  void forgiven(StatusRow row, long nowMillis) {
    oneOfMany(RowEvents.FORGIVEN, row, RowEvents.forgiven(row), nowMillis);
  }

  /** A row that says unstarted again; many of one job are one event. */
  void rerun(StatusRow row, long nowMillis) {
    oneOfMany(RowEvents.RERUN, row, Json.of(row.node()), nowMillis);
  }

  private void oneOfMany(String kind, StatusRow row, Json task, long nowMillis) {
    if (!row.job().equals(manyJob) || nowMillis != manyMillis || !kind.equals(manyKind)) {
      flush();
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
      Json.Obj data =
          Json.object().put("job", manyJob).put("tasks", new Json.Arr(List.copyOf(many))).build();
      many.clear();
      pending.add(new Event(next++, manyMillis, manyKind, data));
    }
  }

  void ended(LiveTasks.Live live, TaskEnd end, StatusRow row, long nowMillis) {
    TaskStatus status = row.status();
    Json.Builder data =
        RowEvents.put(task(live), row)
            .put("status", status.label().word())
            .put("result_bits", status.bits())
            .put("duration_ms", nowMillis - live.invocation().startMillis());
    if (end.stopReason() != null) {
      data.put(StopReasons.KEY, StopReasons.word(end.stopReason()));
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
    add(nowMillis, RowEvents.ENDED, data.build());
  }

  void extended(LiveTasks.Live live, long millis, long nowMillis) {
    add(nowMillis, "task_extended", task(live).put("by_ms", millis).build());
  }

  private static Json.Builder task(LiveTasks.Live live) {
    Invocation invocation = live.invocation();
    return Json.object()
        .put("job", live.key.job())
        .put("node", live.key.node())
        .put("invocation", invocation.token())
        .put("attempt", live.launch.attempt());
  }

  /** What was added since the last call. */
  List<Event> take() {
    flush();
    List<Event> taken = List.copyOf(pending);
    pending.clear();
    return taken;
  }
}
