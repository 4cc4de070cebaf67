package io.espalier.core.loop.rollout;

import io.espalier.core.config.rollout.RolloutSpec;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.rollout.Rollout;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What operators are told about roll-outs, and what their events say. */
final class RolloutMessages {
  private RolloutMessages() {}

  /** Returns why a job is halted whose stored roll-out cannot be read. */
  static String unread(String job, String why) {
    return "what is stored of the roll-out of job "
        + job
        + " cannot be read ("
        + why
        + "): it begins again, with the tasks that are left, when somebody resumes the job";
  }

  /** Returns the problem of the jobs whose roll-outs cannot be read; null: there is none. */
  static @Nullable String unread(Map<String, String> whyByJob) {
    if (whyByJob.isEmpty()) {
      return null;
    }
    Map.Entry<String, String> first = whyByJob.entrySet().iterator().next();
    int more = whyByJob.size() - 1;
    return unread(first.getKey(), first.getValue()) + (more == 0 ? "" : " (and " + more + " more)");
  }

  /**
   * Returns when the next stage opens.
   *
   * @param missing which value its probes must have before; empty: none
   */
  static String whenNext(Rollout now, @Nullable RolloutSpec spec, String missing) {
    if (now.isLast()) {
      return "all stages are open";
    }
    String opens = now.words(now.next()) + " opens when ";
    String stage = "stage " + (now.stage() + 1) + " has";
    String soaks = spec == null || spec.soak().isZero() ? "" : " soaked for " + words(spec.soak());
    return switch (now.phase()) {
      case HALTED -> "the roll-out is halted";
      case WAITING ->
          opens
              + "somebody promotes the job"
              + (now.reason().isEmpty() ? "" : " or lifts the quarantine: " + now.reason());
      case SOAKING -> opens + (missing.isEmpty() ? stage + soaks : missing);
      case RUNNING, PASSED ->
          opens
              + stage
              + " passed"
              + (soaks.isEmpty() ? "" : " and" + soaks)
              + (spec != null && spec.approve() ? ", and somebody promotes the job" : "");
    };
  }

  /**
   * Returns why the open stage proves too little: more than a fifth of it is in quarantine.
   *
   * @param outside how many of its tasks are in quarantine, and are left or have failed
   * @return empty: it proves enough
   */
  static String inconclusive(Rollout now, long outside) {
    long tasks = now.tasks(now.stage());
    return outside * 5 <= tasks
        ? ""
        : outside
            + " of "
            + tasks
            + " tasks of stage "
            + (now.stage() + 1)
            + " are in quarantine, and at most 20 % may be";
  }

  private static String words(Duration time) {
    long seconds = time.toSeconds();
    return seconds % 3_600 == 0
        ? seconds / 3_600 + " h"
        : seconds % 60 == 0 ? seconds / 60 + " min" : seconds + " s";
  }

  /** Returns the data of an event about the open stage. */
  static Json.Obj event(EventKind kind, Rollout now, String author, String reason) {
    Json.Builder said =
        Json.object()
            .put("job", now.job())
            .put("stage", now.stage() + 1)
            .put("stages", now.stages().size())
            .put("size", now.stages().get(now.stage()));
    if (kind == EventKind.ROLLOUT_STAGE_OPENED) {
      said.put("tasks", now.tasks(now.stage()));
    } else {
      said.put("counted", now.counted()).put("failed", now.failed()).put("p95_ms", now.p95Millis());
    }
    if (!author.isEmpty()) {
      said.put("author", author);
    }
    if (!reason.isEmpty()) {
      said.put("reason", reason);
    }
    return said.build();
  }
}
