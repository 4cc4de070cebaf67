package io.espalier.core.status.store;

import io.espalier.core.json.Json;
import java.util.Comparator;

/**
 * A node on and below which no task of a job, or of any job, starts, because tasks fail there. It
 * kills nothing, and refers to names: it outlives restarts, reloads, and jobs and nodes that come
 * and go (docs/adr/0080-quarantine.md).
 *
 * @param key what is closed; there is at most one quarantine per key
 * @param suggested whether it is only suggested: then nothing is closed, and nothing is stored
 * @param author the operator; empty when none was given, or when the scheduler has set it
 * @param reason reason; may be empty
 * @param sinceMillis when it was set, epoch milliseconds
 * @param trials how many tasks were started on trial
 * @param trialMillis when the next task may start on trial, epoch milliseconds; 0: none does,
 *     because an operator has set it, who also lifts it
 */
public record Quarantine(
    Key key,
    boolean suggested,
    String author,
    String reason,
    long sinceMillis,
    int trials,
    long trialMillis) {
  private static final long TRIAL_MILLIS = 600_000;

  private static final int MOST_DOUBLINGS = 2;

  /** By node, then by job. */
  public static final Comparator<Quarantine> ORDER =
      Comparator.comparing((Quarantine each) -> each.key.level())
          .thenComparing(each -> each.key.node())
          .thenComparing(each -> each.key.job());

  /**
   * Identifies a quarantine.
   *
   * @param level level of the node; empty: an operator has not named it
   * @param node name of the node
   * @param job name of the job; empty: all jobs
   */
  public record Key(String level, String node, String job) {
    /** Returns it in words. */
    @Override
    public String toString() {
      return (level.isEmpty() ? "" : level + " ") + node + (job.isEmpty() ? "" : " for job " + job);
    }
  }

  /** Creates one that the scheduler sets, with a trial after ten minutes. */
  public static Quarantine found(Key key, String reason, long nowMillis) {
    return new Quarantine(key, false, "", reason, nowMillis, 0, nowMillis + TRIAL_MILLIS);
  }

  /** Creates a suggestion. */
  public static Quarantine suggested(Key key, String reason, long nowMillis) {
    return new Quarantine(key, true, "", reason, nowMillis, 0, 0);
  }

  /** Creates one that an operator sets. */
  public static Quarantine ordered(Key key, String author, String reason, long nowMillis) {
    return new Quarantine(key, false, author, reason, nowMillis, 0, 0);
  }

  /** Returns whether the scheduler has set it, and lifts it when a trial succeeds. */
  public boolean isAutomatic() {
    return trialMillis > 0;
  }

  /** Returns a copy after the start of a trial: the next one comes after 20, then 40 minutes. */
  public Quarantine tried(long nowMillis) {
    long wait = TRIAL_MILLIS << Math.min(trials + 1, MOST_DOUBLINGS);
    return new Quarantine(
        key, suggested, author, reason, sinceMillis, trials + 1, nowMillis + wait);
  }

  /** The form for stores, without the key; see {@link #fromJson}. */
  public Json.Obj toJson() {
    return Json.object()
        .put("author", author)
        .put("reason", reason)
        .put("since_ms", sinceMillis)
        .put("trials", trials)
        .put("trial_ms", trialMillis)
        .build();
  }

  /** Reads what {@link #toJson} has made; what is missing is empty or 0. */
  public static Quarantine fromJson(Key key, Json.Obj json) {
    return new Quarantine(
        key,
        false,
        text(json, "author"),
        text(json, "reason"),
        number(json, "since_ms"),
        (int) number(json, "trials"),
        number(json, "trial_ms"));
  }

  private static long number(Json.Obj json, String name) {
    return json.get(name) instanceof Json.Num number ? number.value().longValue() : 0;
  }

  private static String text(Json.Obj json, String name) {
    return json.get(name) instanceof Json.Str text ? text.value() : "";
  }
}
