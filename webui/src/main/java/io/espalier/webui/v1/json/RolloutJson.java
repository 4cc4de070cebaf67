package io.espalier.webui.v1.json;

import io.espalier.core.json.Json;
import io.espalier.core.rollout.Rollout;
import io.espalier.core.rollout.Rollout.Phase;
import java.util.ArrayList;
import java.util.List;

/** Schema {@code Rollout}: how far the roll-out of a job is. */
public final class RolloutJson {
  private RolloutJson() {}

  public static Json of(Rollout now) {
    List<Json> stages = new ArrayList<>();
    for (int i = 0; i < now.stages().size(); i++) {
      stages.add(
          Json.object()
              .put("size", now.stages().get(i))
              .put("tasks", now.tasks(i))
              .put("verdict", verdict(now, i))
              .build());
    }
    Json.Builder out =
        Json.object()
            .put("stage", now.stage() + 1)
            .put("phase", now.phase().word())
            .put("opened_ms", now.openedMillis())
            .put("counted", now.counted())
            .put("failed", now.failed())
            .put("stages", new Json.Arr(stages));
    if (now.endedMillis() > 0) {
      out.put("ended_ms", now.endedMillis());
    }
    if (!now.reason().isEmpty()) {
      out.put("reason", now.reason());
    }
    if (!now.author().isEmpty()) {
      out.put("author", now.author());
    }
    return out.build();
  }

  private static String verdict(Rollout now, int stage) {
    if (stage > now.stage()) {
      return "closed";
    }
    if (stage < now.stage()) {
      return "passed";
    }
    // With a reason it proves too little, and has not passed.
    return now.phase() != Phase.WAITING
        ? now.phase().word()
        : now.reason().isEmpty() ? "passed" : "running";
  }
}
