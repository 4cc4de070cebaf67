package io.espalier.core.status;

import io.espalier.core.json.Json;
import org.jspecify.annotations.Nullable;

/**
 * Where a task is in the program of its job: the step that runs, or with which its next start goes
 * on. It names steps, since the configuration may change meanwhile. Immutable.
 *
 * @param phase what the step is part of
 * @param step its name; of a compensation, the step that it undoes
 * @param begun the last step, in the order of the program, that any attempt has begun
 * @param follows whether it follows the end of another step, so that its start is no new attempt
 * @param tries failures of this compensation or verification so far
 * @param note what people should know about this position; empty: nothing
 */
public record StepPosition(
    Phase phase, String step, String begun, boolean follows, int tries, String note) {
  /** The parts of a program. */
  public enum Phase {
    /** The steps, forwards. */
    STEP("step"),
    /** The step has ended while the job was removed: what follows it is not known yet. */
    ENDED("ended"),
    /** Compensations, backwards, after the task has failed for good. */
    COMPENSATION("compensate"),
    /** The verification of a task whose steps are done. */
    VERIFICATION("verify");

    private final String word;

    Phase(String word) {
      this.word = word;
    }

    /** The name in stores, arguments and the API. */
    public String word() {
      return word;
    }
  }

  /** Returns the position of a step before it is started. */
  public static StepPosition step(String name, String begun, boolean follows) {
    return new StepPosition(Phase.STEP, name, begun, follows, 0, "");
  }

  /** Returns the position behind a step of a job that was removed meanwhile. */
  static StepPosition ended(String name, String begun) {
    return new StepPosition(Phase.ENDED, name, begun, true, 0, "");
  }

  /** Returns the position of a compensation before it is started. */
  public static StepPosition compensation(String name, String begun) {
    return new StepPosition(Phase.COMPENSATION, name, begun, true, 0, "");
  }

  /** Returns the position of a verification that has failed so many times. */
  static StepPosition verification(int tries) {
    return new StepPosition(Phase.VERIFICATION, Phase.VERIFICATION.word, "", true, tries, "");
  }

  /** Returns whether both are at the same step of the same phase. */
  public boolean isSameStep(@Nullable StepPosition other) {
    return other != null && phase == other.phase && step.equals(other.step);
  }

  public boolean isVerification() {
    return phase == Phase.VERIFICATION;
  }

  public boolean isCompensation() {
    return phase == Phase.COMPENSATION;
  }

  /** Returns whether the start of this step counts as an attempt of its task. */
  public boolean isAttempt() {
    return phase == Phase.STEP && !follows;
  }

  /** Returns the position of another attempt at the same step. */
  public StepPosition again() {
    return follows && phase == Phase.STEP
        ? new StepPosition(phase, step, begun, false, tries, note)
        : this;
  }

  /**
   * Returns the position of a task after a command: of one that was reset, or that was cancelled
   * while it was undone, there is none.
   */
  public @Nullable StepPosition after(TaskStatus changed) {
    boolean isCancelled = changed.main() == TaskStatus.Main.CANCELLED;
    return changed.main() == TaskStatus.Main.UNSTARTED || (isCancelled && isCompensation())
        ? null
        : again();
  }

  /** A copy with another number of failures. */
  StepPosition withTries(int newTries) {
    return new StepPosition(phase, step, begun, follows, newTries, note);
  }

  /** A copy with a note. */
  public StepPosition withNote(String newNote) {
    return new StepPosition(phase, step, begun, follows, tries, newNote);
  }

  /** The name for people and in logs, such as {@code ship} or {@code compensate ship}. */
  public String label() {
    return isCompensation() ? phase.word() + " " + step : step;
  }

  /** The form for stores and events; see {@link #of}. */
  public Json.Obj json() {
    Json.Builder out = Json.object().put("at", phase.word()).put("step", step);
    if (!begun.isEmpty()) {
      out.put("begun", begun);
    }
    if (follows) {
      out.put("follows", true);
    }
    if (tries > 0) {
      out.put("tries", tries);
    }
    if (!note.isEmpty()) {
      out.put("note", note);
    }
    return out.build();
  }

  /**
   * Decodes the result of {@link #json}; null: no position.
   *
   * @throws IllegalArgumentException when the value is malformed
   */
  public static @Nullable StepPosition of(@Nullable Json json) {
    if (json == null) {
      return null;
    }
    if (!(json instanceof Json.Obj object)) {
      throw new IllegalArgumentException("not a position in the steps of a job: " + json);
    }
    String at = text(object, "at");
    for (Phase phase : Phase.values()) {
      if (phase.word.equals(at)) {
        return new StepPosition(
            phase,
            text(object, "step"),
            text(object, "begun"),
            Json.Bool.TRUE.equals(object.get("follows")),
            object.get("tries") instanceof Json.Num number ? number.value().intValue() : 0,
            text(object, "note"));
      }
    }
    throw new IllegalArgumentException("not a position in the steps of a job: " + json);
  }

  private static String text(Json.Obj object, String key) {
    return object.get(key) instanceof Json.Str text ? text.value() : "";
  }
}
