package io.espalier.webui.v1.json;

import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.api.view.RunningCall;
import io.espalier.core.api.view.RunningTaskView;
import io.espalier.core.api.view.RunningTaskView.Stopping;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.api.view.TaskDeadlines;
import io.espalier.core.api.view.TaskView;
import io.espalier.core.config.Config;
import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.outcome.JobState;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.problem.Problem;
import io.espalier.core.running.CallPoll;
import io.espalier.core.running.Counters;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.Progress;
import io.espalier.core.running.Throttle;
import io.espalier.core.status.RetryCounts;
import io.espalier.core.status.StepPosition;
import io.espalier.core.status.TaskPhase;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Encodes the schemas of {@code openapi.yaml}. Times are epoch milliseconds and are left out if
 * unknown.
 */
public final class ApiJson {
  private static final int HASH_BYTES = 8;

  private ApiJson() {}

  /** Returns the partition of a scheduler; null: all nodes. */
  public static @Nullable Json shard(@Nullable Config config) {
    return config == null || config.shard().isWhole() ? null : Json.of(config.shard().toString());
  }

  /** Schema {@code Task}. */
  public static Json.Obj task(TaskView task, SchedulerView view) {
    Json.Builder json =
        Json.object()
            .put("job", task.job())
            .put("node", task.node())
            .put("level", task.level())
            .put("status", task.status())
            .put("phase", phase(task, view))
            .put("bits", task.bits())
            .put("attempts", task.attempts());
    time(json, "since_ms", task.sinceMillis());
    time(json, "until_ms", task.untilMillis());
    time(json, "eligible_at_ms", task.eligibleMillis());
    json.putIfPresent("data", task.data()).putIfPresent("checkpoint", task.checkpoint());
    StepPosition step = task.step();
    if (step != null) {
      json.put("step", step.label());
      if (!step.note().isEmpty()) {
        json.put("step_note", step.note());
      }
    }
    RetryCounts retries = task.retries();
    if (!retries.withGotOn(false).equals(RetryCounts.NONE)) {
      json.put(
          "retries",
          Json.object()
              .put("successive_no_progress", retries.successive())
              .put("total_no_progress", retries.noProgress())
              .put("total_progress", retries.progress())
              .build());
    }
    RunningTaskView running = task.running();
    return running == null ? json.build() : json.put("running", running(running)).build();
  }

  private static String phase(TaskView task, SchedulerView view) {
    JobStateRecord job = view.jobStates().get(task.job());
    boolean isOver = job != null && (job.state().isEnd() || job.state() == JobState.STOPPED);
    return TaskPhase.of(task.bits(), task.attempts(), isOver).word();
  }

  /** Schema {@code Progress}. */
  public static Json.Obj progress(JobProgress progress) {
    return Json.object()
        .put("total", progress.total())
        .put("done", progress.done())
        .put("failed", progress.failed())
        .put("cancelled", progress.cancelled())
        .put("running", progress.running())
        .put("waiting", progress.waiting())
        .put("ready", progress.ready())
        .put("blocked", progress.blocked())
        .put("avoided", progress.avoided())
        .put("disabled", progress.disabled())
        .build();
  }

  /** Schema {@code Explanation}. */
  public static Json.Obj explanation(Explanation explanation) {
    List<Json> reasons = new ArrayList<>();
    for (Explanation.Reason reason : explanation.reasons()) {
      reasons.add(reason(reason));
    }
    Json.Builder json =
        Json.object()
            .put("job", explanation.job())
            .put("node", explanation.node())
            .put("startable", explanation.startable())
            .put("status", explanation.status());
    time(json, "eligible_at_ms", explanation.eligibleMillis());
    RunningTaskView running = explanation.running();
    return json.putIfPresent("running", running == null ? null : running(running))
        .put("reasons", new Json.Arr(reasons))
        .put("path", QueryJson.path(explanation.path()))
        .putIfPresent("alternatives", QueryJson.alternatives(explanation.alternatives()))
        .build();
  }

  static Json reason(Explanation.Reason reason) {
    Json.Builder json = Json.object().put("kind", reason.kind().name().toLowerCase(Locale.ROOT));
    String node = reason.node();
    if (node != null) {
      json.put("node", node);
    }
    String resource = reason.resource();
    if (resource != null) {
      json.put("resource", resource);
    }
    if (resource != null || reason.limit() > 0) {
      // More may be in use than a limit that was lowered allows.
      int free = Math.max(0, reason.free());
      json.put("need", reason.need()).put("free", free).put("limit", reason.limit());
    }
    if (reason.kind() == Explanation.Kind.RESOURCE) {
      json.put("holders", QueryJson.holders(reason.holders(), false))
          .put("holders_total", reason.holdersTotal());
      time(json, "free_at_ms", reason.freeAtMillis());
    }
    time(json, "until_ms", reason.untilMillis());
    return json.put("message", reason.message()).build();
  }

  /** Schema {@code RunningTaskView}. */
  public static Json.Obj running(RunningTaskView task) {
    Json.Builder json =
        Json.object()
            .put("job", task.job())
            .put("node", task.node())
            .put("attempt", task.attempt())
            .put("worker", task.workerShard())
            .put("started_at_ms", task.invocation().startMillis())
            .put("invocation", task.invocation().token())
            .putIfPresent("role", task.role().isEmpty() ? null : Json.of(task.role()))
            .putIfPresent("step", task.step().isEmpty() ? null : Json.of(task.step()))
            .putIfPresent("batch", task.batch().isEmpty() ? null : Json.of(task.batch()));
    waited(json, task.waitedMillis(), task.invocation());
    limits(json, task.limits());
    Progress progress = task.progress();
    counters(json, progress == null ? Counters.NONE : progress.counters());
    RunningCall call = task.call();
    if (call != null) {
      Json.Builder about =
          Json.object()
              .put("executor", call.executor())
              .put("awaits", call.awaitsCallback() ? "callback" : "answer");
      CallPoll poll = call.poll();
      if (poll != null || !call.awaitsCallback()) {
        // A callback may come at any time, unless polls are not answered or the call is in doubt.
        about.put("unknown_hold_ms", call.unknownHoldMillis());
      }
      if (poll != null) {
        about.put("polled_at_ms", poll.atMillis()).put("poll_answer", poll.answer());
        time(about, "next_poll_at_ms", poll.nextMillis());
        about.put("in_doubt", poll.isInDoubt());
      }
      json.put("call", about.build());
    }
    Throttle throttle = task.throttle();
    if (throttle != null) {
      json.put(
          "throttle",
          Json.object().put("ratio", throttle.ratio()).put("reason", throttle.reason()).build());
    }
    Stopping stopping = task.stopping();
    if (stopping != null) {
      json.put(
          "stopping",
          Json.object()
              .put("since_ms", stopping.sinceMillis())
              .put("reason", stopping.reason())
              .build());
    }
    return json.putIfPresent("progress", progressOf(task))
        .putIfPresent("usage", task.usage() == null ? null : AttemptJson.usage(task.usage()))
        .build();
  }

  /** Adds the remaining time of a task's limits; nothing for a task without limits. */
  public static void limits(Json.Builder json, TaskDeadlines limits) {
    time(json, "timeout_at_ms", limits.timeoutAtMillis());
    time(json, "deadline_ms", limits.deadlineMillis());
    if (limits.noOutputMillis() > 0) {
      json.put("no_output_timeout_ms", limits.noOutputMillis());
    }
  }

  private static Json.@Nullable Obj progressOf(RunningTaskView task) {
    Progress progress = task.progress();
    if (progress == null || progress.isEmpty()) {
      return null;
    }
    Json.Builder json = Json.object();
    if (progress.done() != null) {
      json.put("done", progress.done());
    }
    if (progress.total() != null) {
      json.put("total", progress.total());
    }
    if (progress.cursor() != null) {
      json.put("cursor", progress.cursor());
    }
    if (task.ratePerSecond() > 0) {
      json.put("rate_per_sec", rounded(task.ratePerSecond()));
    }
    if (task.secondsLeft() >= 0) {
      json.put("seconds_left", rounded(task.secondsLeft()));
    }
    return json.build();
  }

  /** Adds the pace of a job to its summary. */
  public static void pace(Json.Builder json, JobProgress progress) {
    json.put("rate_per_second", rounded(progress.ratePerSecond()));
    if (progress.secondsLeft() >= 0) {
      json.put("seconds_left", rounded(progress.secondsLeft()));
    }
    if (progress.waits().isKnown()) {
      json.put("waited_p50_sec", rounded(progress.waits().p50Seconds()))
          .put("waited_p95_sec", rounded(progress.waits().p95Seconds()));
    }
  }

  private static double rounded(double number) {
    return Math.round(number * 1000) / 1000.0;
  }

  /** Schema {@code Event}. */
  public static Json.Obj event(Event event) {
    return Json.object()
        .put("sequence", event.sequence())
        .put("time_ms", event.timeMillis())
        .put("kind", event.kind())
        .put("data", event.data())
        .build();
  }

  /** Schema {@code ConfigProblem}. */
  public static Json.Obj problem(Problem problem) {
    Json.Builder json =
        Json.object()
            .put("severity", problem.severity().name().toLowerCase(Locale.ROOT))
            .put("path", problem.path())
            .put("message", problem.message());
    if (!problem.at().file().isEmpty()) {
      json.put("file", problem.at().file());
    }
    if (problem.at().line() > 0) {
      json.put("line", problem.at().line()).put("column", problem.at().column());
    }
    String value = problem.value();
    if (value != null) {
      json.put("value", value);
    }
    String hint = problem.hint();
    if (hint != null) {
      json.put("hint", hint);
    }
    return json.build();
  }

  /** Returns a short hash of a value, of 16 characters. */
  public static String hash(Json json) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256")
              .digest(JsonWriter.compact(json).getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest, 0, HASH_BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Adds what was counted, if anything was. */
  public static void counters(Json.Builder json, Counters counters) {
    if (!counters.isEmpty()) {
      json.put("counters", counters.json());
    }
  }

  /** Returns counters with their rates, schema {@code CountersWithRates}; null: none. */
  public static @Nullable Json counters(Counters counters, Map<String, Double> rates) {
    if (counters.isEmpty()) {
      return null;
    }
    List<Json> list = new ArrayList<>();
    counters
        .values()
        .forEach(
            (name, total) ->
                list.add(
                    Json.object()
                        .put("name", name)
                        .put("total", total)
                        .put("rate_per_sec", rounded(rates.getOrDefault(name, 0.0)))
                        .build()));
    return new Json.Arr(list);
  }

  /** Adds how long a task had been eligible when it was placed, and since when; if known. */
  public static void waited(Json.Builder json, long waitedMillis, Invocation placed) {
    if (waitedMillis >= 0) {
      json.put("waited_ms", waitedMillis)
          .put("eligible_at_ms", placed.startMillis() - waitedMillis);
    }
  }

  public static void time(Json.Builder json, String key, long millis) {
    if (millis > 0) {
      json.put(key, millis);
    }
  }
}
