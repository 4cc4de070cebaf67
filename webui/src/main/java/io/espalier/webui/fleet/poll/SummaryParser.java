package io.espalier.webui.fleet.poll;

import io.espalier.core.json.Json;
import io.espalier.core.text.ShortText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Parses answers of {@code /api/v1/summary}. Another scheduler may send anything: the data kept of
 * one is bounded, and names that many of them share are stored once. Thread-safe.
 */
public final class SummaryParser {
  public static final int MOST_JOBS = 5_000;
  static final int MOST_TROUBLES = 100;
  static final int MOST_RUNNING = 1_000;
  private static final int LONGEST_NAME = 512;
  private static final int LONGEST_TEXT = 1_000;
  private static final int MOST_WORDS = 100_000;

  private final Map<String, String> words = new ConcurrentHashMap<>();

  /**
   * Parses one answer.
   *
   * @throws IllegalArgumentException with the reason why this is not a scheduler's summary
   */
  public SchedulerSummary read(@Nullable Json json) {
    if (!(json instanceof Json.Obj all)) {
      throw new IllegalArgumentException("it is not an object");
    }
    if (!(all.get("jobs") instanceof Json.Arr jobs)) {
      throw new IllegalArgumentException("\"jobs\" is not a list");
    }
    if (!(all.get("at_ms") instanceof Json.Num)) {
      throw new IllegalArgumentException("\"at_ms\" is missing");
    }
    boolean cut = jobs.items().size() > MOST_JOBS;
    List<SchedulerSummary.Job> kept = new ArrayList<>();
    for (Json job : items(all.get("jobs"), MOST_JOBS)) {
      kept.add(job(object(job, "a job")));
    }
    List<SchedulerSummary.Trouble> troubles = new ArrayList<>();
    for (Json error : items(all.get("errors"), MOST_TROUBLES)) {
      Json.Obj o = object(error, "an error");
      troubles.add(new SchedulerSummary.Trouble(true, word(o, "source"), text(o, "message")));
    }
    for (Json problem : items(all.get("problems"), MOST_TROUBLES)) {
      Json.Obj o = object(problem, "a problem");
      troubles.add(
          new SchedulerSummary.Trouble(
              "error".equals(word(o, "severity")), word(o, "path"), text(o, "message")));
    }
    List<SchedulerSummary.Running> running = new ArrayList<>();
    for (Json task : items(all.get("running"), MOST_RUNNING)) {
      Json.Obj o = object(task, "a task");
      running.add(
          new SchedulerSummary.Running(
              word(o, "job"), word(o, "node"), number(o, "started_at_ms")));
    }
    return new SchedulerSummary(
        word(all, "process"),
        word(all, "version"),
        word(all, "runner"),
        word(all, "shard"),
        number(all, "at_ms"),
        number(all, "published_at_ms"),
        truth(all, "config_in_force"),
        number(all, "nodes"),
        number(all, "nodes_at_ms"),
        kept,
        troubles,
        number(all, "running_total"),
        running,
        cut);
  }

  private SchedulerSummary.Job job(Json.Obj job) {
    String name = word(job, "name");
    if (name.isEmpty()) {
      throw new IllegalArgumentException("a job has no name");
    }
    Json.Obj counts = job.get("progress") instanceof Json.Obj o ? o : Json.Obj.EMPTY;
    Json rate = job.get("rate_per_second");
    Json priority = job.get("priority");
    return new SchedulerSummary.Job(
        name,
        word(job, "owner"),
        word(job, "level"),
        priority instanceof Json.Num n ? shared(Json.of(finite(n)).toString()) : "",
        truth(job, "enabled"),
        truth(job, "valid"),
        truth(job, "paused"),
        text(job, "pause_reason"),
        word(job, "config_hash"),
        text(job, "problem"),
        truth(job, "past_deadline"),
        word(job, "state"),
        text(job, "state_reason"),
        number(job, "tasks_never"),
        text(job, "never_reason"),
        rate instanceof Json.Num n ? finite(n) : -1,
        new Counts(
            number(counts, "total"),
            number(counts, "done"),
            number(counts, "failed"),
            number(counts, "cancelled"),
            number(counts, "running"),
            number(counts, "waiting"),
            number(counts, "ready"),
            number(counts, "blocked"),
            number(counts, "avoided"),
            number(counts, "disabled")));
  }

  private static List<Json> items(@Nullable Json list, int most) {
    List<Json> items = list instanceof Json.Arr arr ? arr.items() : List.of();
    return items.size() <= most ? items : items.subList(0, most);
  }

  private static Json.Obj object(Json json, String what) {
    if (json instanceof Json.Obj object) {
      return object;
    }
    throw new IllegalArgumentException(what + " is " + json.kind());
  }

  private String word(Json.Obj of, String key) {
    return shared(
        ShortText.shown(of.get(key) instanceof Json.Str s ? s.value() : "", LONGEST_NAME));
  }

  private static String text(Json.Obj of, String key) {
    return ShortText.shown(of.get(key) instanceof Json.Str s ? s.value() : "", LONGEST_TEXT);
  }

  private static boolean truth(Json.Obj of, String key) {
    return of.get(key) instanceof Json.Bool bool && bool.value();
  }

  /** Reads a count from 0 to 10^15, so that sums over all schedulers do not overflow. */
  private static long number(Json.Obj of, String key) {
    if (!(of.get(key) instanceof Json.Num number)) {
      return 0;
    }
    double value = number.value().doubleValue();
    return value > 0 && value <= 1e15 ? (long) value : 0;
  }

  private static double finite(Json.Num number) {
    double value = number.value().doubleValue();
    return Double.isFinite(value) ? value : 0;
  }

  private String shared(String word) {
    String known = words.get(word);
    if (known != null) {
      return known;
    }
    if (words.size() >= MOST_WORDS) {
      words.clear();
    }
    words.put(word, word);
    return word;
  }
}
