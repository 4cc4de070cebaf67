package io.espalier.webui.fleet.poll;

import io.espalier.core.json.Json;

/** Numbers of tasks by state, of one job on one scheduler, or of many. */
public record Counts(
    long total,
    long done,
    long failed,
    long cancelled,
    long running,
    long waiting,
    long ready,
    long blocked,
    long avoided,
    long disabled) {
  public static final Counts NONE = new Counts(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  public Counts plus(Counts other) {
    return new Counts(
        total + other.total,
        done + other.done,
        failed + other.failed,
        cancelled + other.cancelled,
        running + other.running,
        waiting + other.waiting,
        ready + other.ready,
        blocked + other.blocked,
        avoided + other.avoided,
        disabled + other.disabled);
  }

  /** Encodes the schema {@code Progress}. */
  public Json.Obj json() {
    return Json.object()
        .put("total", total)
        .put("done", done)
        .put("failed", failed)
        .put("cancelled", cancelled)
        .put("running", running)
        .put("waiting", waiting)
        .put("ready", ready)
        .put("blocked", blocked)
        .put("avoided", avoided)
        .put("disabled", disabled)
        .build();
  }
}
