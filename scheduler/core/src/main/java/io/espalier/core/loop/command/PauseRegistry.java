package io.espalier.core.loop.command;

import io.espalier.core.api.RefusedException;
import io.espalier.core.json.Json;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.Pause;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Keeps the jobs that operators have paused, until they are resumed or their pause expires. */
public final class PauseRegistry {
  private final SchedulingCore core;
  private final LoopEvents events;
  private final Map<String, Pause> pauses = new TreeMap<>();
  private long next = Long.MAX_VALUE;

  public PauseRegistry(SchedulingCore core, LoopEvents events) {
    this.core = core;
    this.events = events;
  }

  /** Restores pauses after a restart; those that have expired meanwhile end in the next step. */
  public void restore(List<Pause> stored) {
    stored.forEach(this::put);
  }

  private void put(Pause pause) {
    pauses.put(pause.job(), pause);
    core.pause(pause.job());
    if (pause.untilMillis() > 0) {
      next = Math.min(next, pause.untilMillis());
    }
  }

  /**
   * Pauses a job, replacing an older pause.
   *
   * @throws RefusedException for an unknown job
   */
  public void pause(Pause pause, long nowMillis) {
    if (core.findJob(pause.job()) < 0) {
      throw new RefusedException(RefusedException.Reason.UNKNOWN, "no such job: " + pause.job());
    }
    put(pause);
    Json.Builder event = Json.object().put("job", pause.job()).put("reason", pause.reason());
    if (!pause.operator().isEmpty()) {
      event.put("author", pause.operator());
    }
    if (pause.untilMillis() > 0) {
      event.put("expires_at_ms", pause.untilMillis());
    }
    events.add(nowMillis, "job_paused", event.build());
  }

  boolean isPaused(String job) {
    return pauses.containsKey(job);
  }

  /** Why the job is paused, and by whom; empty when it is not paused or nothing was given. */
  public String why(String job) {
    Pause pause = pauses.get(job);
    if (pause == null) {
      return "";
    }
    return pause.operator().isEmpty() || pause.reason().isEmpty()
        ? pause.operator() + pause.reason()
        : pause.operator() + ": " + pause.reason();
  }

  /**
   * Ends the pause, if there is one, and adds an event.
   *
   * @throws RefusedException for a job that is neither paused nor configured
   */
  public void resume(String job, String author, String reason, long nowMillis) {
    if (pauses.remove(job) == null && core.job(core.findJob(job)) == null) {
      throw new RefusedException(RefusedException.Reason.CONFLICT, "job " + job + " is not paused");
    }
    core.resume(job);
    Json.Builder event = Json.object().put("job", job);
    if (!author.isEmpty()) {
      event.put("author", author);
    }
    if (!reason.isEmpty()) {
      event.put("reason", reason);
    }
    events.add(nowMillis, "job_resumed", event.build());
  }

  /**
   * Resumes the jobs whose pause has expired.
   *
   * @param resumed receives the name of each
   */
  public void step(long nowMillis, Consumer<String> resumed) {
    if (nowMillis < next) {
      return;
    }
    next = Long.MAX_VALUE;
    for (Pause pause : List.copyOf(pauses.values())) {
      if (pause.untilMillis() > nowMillis) {
        next = Math.min(next, pause.untilMillis());
      } else if (pause.untilMillis() > 0) {
        pauses.remove(pause.job());
        core.resume(pause.job());
        resumed.accept(pause.job());
        events.add(
            nowMillis,
            "job_resumed",
            Json.object()
                .put("job", pause.job())
                .put("reason", "the pause was until now")
                .put("expired", true)
                .build());
      }
    }
  }

  /** When the next pause expires; {@link Long#MAX_VALUE} when none does. */
  public long nextMillis() {
    return next;
  }

  /** All pauses by job, as an immutable copy. */
  public Map<String, Pause> all() {
    return Map.copyOf(pauses);
  }
}
