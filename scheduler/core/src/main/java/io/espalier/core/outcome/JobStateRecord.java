package io.espalier.core.outcome;

import io.espalier.core.json.Json;

/**
 * How a job stands, as it is stored: what would not follow from its tasks after a restart, and
 * since when it is so. Immutable.
 *
 * @param state as last observed
 * @param reason for people; may be empty
 * @param sinceMillis since when it has that state, epoch milliseconds
 * @param failure see {@link JobFlags#failure}
 * @param stopped see {@link JobFlags#stopped}; that it is paused is stored as a pause
 * @param goesOn see {@link JobFlags#goesOn}
 * @param countedFrom what the failure rule does not count, because an operator has lifted a failure
 */
public record JobStateRecord(
    String job,
    JobState state,
    String reason,
    long sinceMillis,
    String failure,
    boolean stopped,
    boolean goesOn,
    Start countedFrom) {

  /**
   * Where the failure rule begins to count.
   *
   * @param failed failed tasks that do not count
   * @param ended the same of ended ones
   * @param millis with a window: ends before that time do not count
   */
  public record Start(long failed, long ended, long millis) {
    public static final Start ALL = new Start(0, 0, 0);
  }

  /** As stores keep it, without the job's name; for {@link #fromJson}. */
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
    return out.build();
  }

  /**
   * Reads what {@link #toJson} wrote.
   *
   * @throws IllegalArgumentException for anything else; a state of a later version included
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
            number(json, "counted_from_ms")));
  }

  private static String text(Json.Obj json, String key) {
    return json.get(key) instanceof Json.Str text ? text.value() : "";
  }

  private static long number(Json.Obj json, String key) {
    return json.get(key) instanceof Json.Num number ? number.value().longValue() : 0;
  }
}
