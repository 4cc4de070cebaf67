package io.espalier.core.loop.command;

import io.espalier.core.api.RefusedException;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.status.store.Pause;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Pauses jobs on command until they are resumed or the pause expires. The core has the pauses. */
public final class PauseRegistry {
  private final SchedulingCore core;
  private final LoopEvents events;

  public PauseRegistry(SchedulingCore core, LoopEvents events) {
    this.core = core;
    this.events = events;
  }

  /** Restores pauses after a restart; those that have expired meanwhile end in the next step. */
  public void restore(List<Pause> stored) {
    stored.forEach(this::put);
  }

  private void put(Pause pause) {
    core.gates()
        .close(
            new Gate(
                GateKind.PAUSE,
                Scope.job(pause.job()),
                pause.operator(),
                pause.reason(),
                pause.sinceMillis(),
                pause.untilMillis()));
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
    events.add(nowMillis, EventKind.JOB_PAUSED, event.build());
  }

  /**
   * Ends the pause, if there is one, and adds an event.
   *
   * @throws RefusedException for a job that is neither paused nor configured
   */
  public void resume(String job, String author, String reason, long nowMillis) {
    if (core.gates().get(GateKind.PAUSE, job) == null && core.job(core.findJob(job)) == null) {
      throw new RefusedException(RefusedException.Reason.CONFLICT, "job " + job + " is not paused");
    }
    core.gates().open(GateKind.PAUSE, job);
    Json.Builder event = Json.object().put("job", job);
    if (!author.isEmpty()) {
      event.put("author", author);
    }
    if (!reason.isEmpty()) {
      event.put("reason", reason);
    }
    events.add(nowMillis, EventKind.JOB_RESUMED, event.build());
  }

  /**
   * Resumes the jobs whose pause has expired.
   *
   * @param resumed receives the name of each
   */
  public void step(long nowMillis, Consumer<String> resumed) {
    for (Gate gate : core.gates().due(GateKind.PAUSE, nowMillis)) {
      core.gates().open(GateKind.PAUSE, gate.scope());
      resumed.accept(gate.name());
      events.add(
          nowMillis,
          EventKind.JOB_RESUMED,
          Json.object()
              .put("job", gate.name())
              .put("reason", "the pause was until now")
              .put("expired", true)
              .build());
    }
  }

  /** When the next pause may expire; {@link Long#MAX_VALUE} when none does. */
  public long nextMillis() {
    return core.gates().nextMillis(GateKind.PAUSE);
  }

  /** All pauses by job, as an immutable copy. */
  public Map<String, Pause> all() {
    return core.gates().of(GateKind.PAUSE).stream()
        .map(
            gate ->
                new Pause(
                    gate.name(),
                    gate.author(),
                    gate.reason(),
                    gate.sinceMillis(),
                    gate.untilMillis()))
        .collect(Collectors.toUnmodifiableMap(Pause::job, pause -> pause));
  }
}
