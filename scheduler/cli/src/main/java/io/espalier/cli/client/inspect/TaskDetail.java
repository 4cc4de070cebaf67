package io.espalier.cli.client.inspect;

import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.core.json.Json;
import io.espalier.core.text.ShortText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Summarizes the progress and the remaining time of a running task. */
final class TaskDetail {
  private static final int LONGEST_CURSOR = 40;
  private static final int LONGEST_REASON = 60;

  private TaskDetail() {}

  /**
   * @param task schema {@code RunningTask}
   */
  static String progress(Json.Obj task) {
    Json.Obj progress = JsonFields.object(task, "progress");
    StringBuilder text = new StringBuilder(counts(progress));
    String rate = JsonFields.text(progress, "rate_per_sec");
    if (!rate.isEmpty()) {
      text.append(" (").append(rate).append("/s");
      if (progress.get("seconds_left") != null) {
        long millis = Math.max(1, JsonFields.number(progress, "seconds_left")) * 1000;
        text.append(", ").append(HumanFormat.duration(millis)).append(" left");
      }
      text.append(')');
    }
    return text.toString();
  }

  /**
   * Returns the counts and the cursor that a task reported: {@code 120 of 300, 40 %, at pk=8123}.
   */
  static String counts(Json.Obj progress) {
    StringBuilder text = new StringBuilder();
    if (progress.get("done") != null) {
      long done = JsonFields.number(progress, "done");
      text.append(done);
      long total = JsonFields.number(progress, "total");
      if (total > 0) {
        text.append(String.format(Locale.ROOT, " of %d, %.0f %%", total, 100.0 * done / total));
      }
    }
    String cursor = JsonFields.text(progress, "cursor");
    if (!cursor.isEmpty()) {
      text.append(text.length() == 0 ? "at " : ", at ")
          .append(ShortText.shown(cursor, LONGEST_CURSOR));
    }
    return text.toString();
  }

  /** Returns what a task or an attempt has counted; empty if nothing. */
  static String counters(Json.Obj counted) {
    List<String> counters = new ArrayList<>();
    JsonFields.object(counted, "counters")
        .members()
        .forEach((name, value) -> counters.add(name + " " + value));
    return String.join(", ", counters);
  }

  /** Returns what the tasks of a job or a set have counted, with rates. */
  static String counterRates(Json.Obj jobOrSet) {
    List<String> counters = new ArrayList<>();
    for (Json.Obj counter : JsonFields.objects(jobOrSet, "counters")) {
      String rate = JsonFields.text(counter, "rate_per_sec");
      counters.add(
          JsonFields.text(counter, "name")
              + " "
              + JsonFields.number(counter, "total")
              + (rate.equals("0") ? "" : " (" + rate + "/s)"));
    }
    return String.join(", ", counters);
  }

  /** Returns how fast a task was told to work; empty at full speed. */
  static String speed(Json.Obj task) {
    Json.Obj throttle = JsonFields.object(task, "throttle");
    if (!(throttle.get("ratio") instanceof Json.Num ratio)) {
      return "";
    }
    double share = ratio.value().doubleValue();
    return share == 0 ? "paused" : String.format(Locale.ROOT, "%.0f %%", Math.ceil(100 * share));
  }

  /** Returns for how long a task has been being stopped, and why; empty: it is not. */
  static String stopping(Json.Obj task, long nowMillis) {
    Json.Obj stopping = JsonFields.object(task, "stopping");
    return stopping.isEmpty()
        ? ""
        : HumanFormat.duration(nowMillis - JsonFields.number(stopping, "since_ms"))
            + ", "
            + ShortText.shown(JsonFields.text(stopping, "reason"), LONGEST_REASON);
  }

  /** Returns how long an attempt waited before it was placed; empty if unknown. */
  static String waited(Json.Obj attempt) {
    return attempt.get("waited_ms") == null
        ? ""
        : HumanFormat.duration(JsonFields.number(attempt, "waited_ms"));
  }

  /** Returns the time until the earliest limit; empty without one. */
  static String timeLeft(Json.Obj task, long nowMillis) {
    long timeout = JsonFields.number(task, "timeout_at_ms");
    long deadline = JsonFields.number(task, "deadline_ms");
    long end = timeout == 0 || (deadline != 0 && deadline < timeout) ? deadline : timeout;
    if (end == 0) {
      return "";
    }
    return end <= nowMillis ? "over" : HumanFormat.duration(end - nowMillis);
  }
}
