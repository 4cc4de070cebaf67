package io.espalier.core.loop;

import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.TaskEnd;
import io.espalier.core.status.Checkpoints;
import io.espalier.core.status.StopReasons;
import io.espalier.core.status.TaskStatus;
import java.util.ArrayList;
import java.util.List;

/** Numbers the events of a loop and collects them until their batch goes to the store. */
final class LoopEvents {
  private final List<Event> pending = new ArrayList<>();
  private long next;

  LoopEvents(long first) {
    this.next = first;
  }

  void add(long timeMillis, String kind, Json.Obj data) {
    pending.add(new Event(next++, timeMillis, kind, data));
  }

  void started(LiveTasks.Live live, long nowMillis) {
    add(nowMillis, "task_started", task(live).build());
  }

  void ended(LiveTasks.Live live, TaskEnd end, TaskStatus status, long nowMillis) {
    Json.Builder data =
        task(live)
            .put("status", status.label().word())
            .put("result_bits", status.bits())
            .put("duration_ms", nowMillis - live.invocation().startMillis());
    if (end.stopReason() != null) {
      data.put(StopReasons.KEY, StopReasons.word(end.stopReason()));
    }
    if (Checkpoints.gotOn(live.checkpointAtStart, live.status.checkpoint())) {
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
    add(nowMillis, "task_ended", data.build());
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
    List<Event> taken = List.copyOf(pending);
    pending.clear();
    return taken;
  }
}
