package io.espalier.worker.process;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.logs.LogEntry;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogStore;
import io.espalier.core.logs.Redactor;
import io.espalier.core.running.TaskResult;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes output and events of tasks to the log store (docs/design/bistro.md#events-of-a-task). */
public final class TaskLog {
  private static final Logger log = LoggerFactory.getLogger(TaskLog.class);

  private final LogStore logs;
  private final String host;
  private final Function<TaskResult, Json.Obj> statusForm;

  /**
   * @param host this host, as events name it
   * @param statusForm the {@code status} object of the event {@code got_status}; an empty object
   *     omits it
   */
  public TaskLog(LogStore logs, String host, Function<TaskResult, Json.Obj> statusForm) {
    this.logs = logs;
    this.host = host;
    this.statusForm = statusForm;
  }

  boolean hasRoom() {
    return logs.hasRoom();
  }

  Redactor redactor(String job) {
    return logs.redactor(job);
  }

  public void line(LogLine.Stream stream, JournalKey key, String text) {
    try {
      logs.append(
          new LogEntry(
              stream,
              key.job(),
              key.node(),
              key.invocation().token(),
              System.currentTimeMillis(),
              text));
    } catch (RuntimeException e) {
      log.error("the task log does not take a line of {}: {}", key, e.getMessage());
    }
  }

  public void event(JournalKey key, String name, Json.Obj about) {
    Json.Builder event =
        Json.object()
            .put("event", name)
            .put("worker_host", host)
            .put("invocation_start_time", key.invocation().startMillis() / 1000)
            .put("invocation_rand", key.invocation().sequence())
            .put("invocation", key.invocation().token());
    about.members().forEach(event::put);
    String text = redactor(key.job()).redact(JsonWriter.compact(event.build()));
    line(LogLine.Stream.STATUSES, key, text);
  }

  /** Logs the end of a task. */
  void ended(JournalKey key, String name, TaskResult end) {
    Json.Builder about = Json.object();
    if (end.message() != null && end.lastErrorLine() == null) {
      about.put("message", end.message());
    }
    Json.Obj form = statusForm(end);
    if (!form.isEmpty()) {
      about.put("status", form);
    }
    if (end.rawStatus() != null) {
      about.put("raw_status", end.rawStatus());
    }
    event(key, name, about.build());
  }

  public Json.Obj statusForm(TaskResult end) {
    try {
      return statusForm.apply(end);
    } catch (RuntimeException e) {
      log.error("no form for the status of {}", end, e);
      return Json.Obj.EMPTY;
    }
  }
}
