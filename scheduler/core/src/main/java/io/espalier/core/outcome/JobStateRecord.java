package io.espalier.core.outcome;

import io.espalier.core.json.Json;
import io.espalier.core.running.Counters;

/**
 * The stored state of a job: what could not be derived from its tasks after a restart, and since
 * when it applies. Immutable.
 *
 * @param state last observed state
 * @param reason reason for people; may be empty
 * @param sinceMillis when it entered that state, epoch milliseconds
 * @param failure see {@link JobFlags#failure}
 * @param stopped see {@link JobFlags#stopped}; a pause is stored separately
 * @param goesOn see {@link JobFlags#goesOn}
 * @param countedFrom what the failure rule does not count, because an operator has lifted a failure
 * @param counters what its tasks have counted, in all attempts
 */
public record JobStateRecord(
    String job,
    JobState state,
    String reason,
    long sinceMillis,
    String failure,
    boolean stopped,
    boolean goesOn,
    Start countedFrom,
    Counters counters) {

  /** Creates the state of a job whose tasks have counted nothing. */
  public JobStateRecord(
      String job,
      JobState state,
      String reason,
      long sinceMillis,
      String failure,
      boolean stopped,
      boolean goesOn,
      Start countedFrom) {
    this(job, state, reason, sinceMillis, failure, stopped, goesOn, countedFrom, Counters.NONE);
  }

  /**
   * Where the failure rule starts counting.
   *
   * @param failed number of failed tasks that do not count
   * @param ended number of ended tasks that do not count
   * @param millis with a window: ends before that time do not count
   */
  public record Start(long failed, long ended, long millis) {
    public static final Start ALL = new Start(0, 0, 0);
  }

  /** The form for stores, without the job's name; see {@link #fromJson}. */
  public Json.Obj toJson() {
    Json.Builder out =
        Json.object().put("state", state.word()).put("reason", reason).put("since_ms", sinceMillis);
    if (!failure.isEmpty()) {
      out.put("failure", failure);
    }
    if (stopped) {
      out.put("stopped", true);
    }
    if (goesOn) {
      out.put("goes_on", true);
    }
    if (!countedFrom.equals(Start.ALL)) {
      out.put("failed_before", countedFrom.failed())
          .put("ended_before", countedFrom.ended())
          .put("counted_from_ms", countedFrom.millis());
    }
    if (!counters.isEmpty()) {
      out.put("count", counters.json());
    }
    return out.build();
  }

  /**
   * Parses the result of {@link #toJson}.
   *
   * @throws IllegalArgumentException for anything else, including a state of a later version
   */
  public static JobStateRecord fromJson(String job, Json.Obj json) {
    JobState state = JobState.ofWord(text(json, "state"));
    if (state == null) {
      throw new IllegalArgumentException("no state of a job: " + json.get("state"));
    }
    return new JobStateRecord(
        job,
        state,
        text(json, "reason"),
        number(json, "since_ms"),
        text(json, "failure"),
        Json.Bool.TRUE.equals(json.get("stopped")),
        Json.Bool.TRUE.equals(json.get("goes_on")),
        new Start(
            number(json, "failed_before"),
            number(json, "ended_before"),
            number(json, "counted_from_ms")),
        Counters.of(json.get("count")));
  }

  private static String text(Json.Obj json, String key) {
    return json.get(key) instanceof Json.Str text ? text.value() : "";
  }

  private static long number(Json.Obj json, String key) {
    return json.get(key) instanceof Json.Num number ? number.value().longValue() : 0;
  }
}
