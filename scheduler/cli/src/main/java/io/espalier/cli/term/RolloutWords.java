package io.espalier.cli.term;

import io.espalier.core.json.Json;
import java.util.List;

/** How far the roll-out of a job is, in words. */
public final class RolloutWords {
  private RolloutWords() {}

  /** Returns the open stage, such as {@code stage 2 of 4 (1%)}, of an object with a roll-out. */
  public static String stage(Json.Obj holder) {
    Json.Obj rollout = JsonFields.object(holder, "rollout");
    List<Json.Obj> stages = JsonFields.objects(rollout, "stages");
    int at = (int) JsonFields.number(rollout, "stage");
    return "stage "
        + at
        + " of "
        + stages.size()
        + (at < 1 || at > stages.size()
            ? ""
            : " (" + JsonFields.text(stages.get(at - 1), "size") + ")");
  }

  /** Returns the open stage and what it waits for in short, for a table; empty: no roll-out. */
  public static String cell(Json.Obj job) {
    Json.Obj rollout = JsonFields.object(job, "rollout");
    int stages = JsonFields.objects(rollout, "stages").size();
    return stages == 0
        ? ""
        : JsonFields.number(rollout, "stage")
            + "/"
            + stages
            + " "
            + JsonFields.text(rollout, "phase");
  }
}
