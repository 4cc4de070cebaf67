package io.espalier.worker.call;

import io.espalier.core.call.CallCourse;
import io.espalier.core.json.Json;
import io.espalier.core.running.Counters;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskResult;
import io.espalier.worker.process.JournalKey;
import io.espalier.worker.process.TaskLog;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the log and the listener what happens to calls. A failure of either must not cost a call
 * its end. For any thread.
 */
final class CallReports {
  private static final Logger LOG = LoggerFactory.getLogger(CallReports.class);

  private final TaskLog log;
  private volatile @Nullable TaskListener listener;

  CallReports(TaskLog log) {
    this.log = log;
  }

  void open(TaskListener newListener) {
    listener = newListener;
  }

  boolean isOpen() {
    return listener != null;
  }

  /** Writes an event of a call to its log. */
  void event(JournalKey key, String name, Json.Builder about) {
    try {
      log.event(key, name, about.build());
    } catch (RuntimeException e) {
      LOG.error("{} of a call is not in its log", name, e);
    }
  }

  /** Writes the end of a call to its log, and returns it for the listener. */
  TaskResult result(JournalKey key, CallCourse.End end, long startedMillis, Counters counters) {
    TaskResult result =
        key.end(end.kind())
            .withRawStatus(end.status())
            .withMessage(end.message())
            .withStopReason(end.stop())
            .withUsage(null, false, System.currentTimeMillis())
            .withRetryAfterMillis(end.retryAfterMillis())
            .withStartedAtMillis(startedMillis)
            .withCounters(counters);
    Json.Builder about = Json.object();
    if (end.message() != null) {
      about.put("message", end.message());
    }
    if (end.status() != null) {
      about.put("raw_status", end.status());
    }
    Json.Obj form = log.statusForm(result);
    if (!form.isEmpty()) {
      about.put("status", form);
    }
    event(
        key,
        end.kind() == TaskResult.Kind.START_FAILED || end.kind() == TaskResult.Kind.NOT_STARTED
            ? "task_failed_to_start"
            : "got_status",
        about);
    return result;
  }

  /** Tells the listener, if there is one. */
  void tell(Consumer<TaskListener> news) {
    TaskListener sink = listener;
    if (sink == null) {
      return;
    }
    try {
      news.accept(sink);
    } catch (RuntimeException e) {
      LOG.error("nobody took the news of a call", e);
    }
  }
}
