package io.espalier.core.status;

import io.espalier.core.config.task.Backoff;
import io.espalier.core.config.task.Program;
import io.espalier.core.config.task.Step;
import io.espalier.core.config.task.Verification;
import io.espalier.core.json.Json;
import io.espalier.core.status.TaskStatus.Main;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The transitions of tasks that have several steps: where a start begins, and what follows the end
 * of a step (docs/writing-tasks.md#steps). Pure; {@link TaskTransitions} decides first what the end
 * would mean for a task of one step.
 */
public final class ProgramTransitions {
  /** The key, in the data of a failed task, of whether all its compensations were done. */
  public static final String COMPENSATED = "compensated";

  /** The key of the cause for which a compensation has failed. */
  private static final String COMPENSATION_FAILED = "compensation_exception";

  private ProgramTransitions() {}

  /**
   * Returns where the start of a task begins.
   *
   * @param before its position before the start; null: at the beginning
   * @return null when its job has no steps and it has nothing else to run; a position that has
   *     ended when nothing is left to run
   */
  public static @Nullable StepPosition begin(@Nullable StepPosition before, Program program) {
    if (before != null && (before.isCompensation() || before.isVerification())) {
      return before;
    }
    if (program.steps().isEmpty()) {
      return null;
    }
    String first = program.steps().get(0).name();
    if (before == null) {
      return StepPosition.step(first, first, false);
    }
    int at = program.find(before.step());
    if (at < 0) {
      String note = "step \"" + before.step() + "\" is gone: begun again with the first step";
      return StepPosition.step(first, first, before.follows()).withNote(note);
    }
    if (before.phase() == StepPosition.Phase.ENDED) {
      boolean isLast = at == program.steps().size() - 1;
      return isLast
          ? before
          : StepPosition.step(program.steps().get(at + 1).name(), before.begun(), true);
    }
    boolean fromFirst = program.restartsFromFirst() && before.isAttempt();
    int reached = Math.max(at, program.find(before.begun()));
    return StepPosition.step(
        fromFirst ? first : before.step(), program.steps().get(reached).name(), before.follows());
  }

  /**
   * Returns the status after the end of a step.
   *
   * @param running status while it ran
   * @param ended what {@link TaskTransitions} made of its end
   * @param program the program of the job now; null: the job was removed, and it is not known
   * @param mayCompensate whether a final failure is the task's own, and not that of the one who
   *     stopped it, and whether the step is known to have ended
   */
  public static TaskStatus ended(
      TaskStatus running, TaskStatus ended, @Nullable Program program, boolean mayCompensate) {
    StepPosition at = running.step();
    if (at == null || ended.main() == Main.CANCELLED) {
      return ended;
    }
    TaskStatus next = next(running, at, ended, program, mayCompensate);
    if (!running.isCancelled() || next.isFinal()) {
      return next;
    }
    // This step is done all the same, but those after it are not wanted.
    Json why = running.data() == null ? null : running.data().get(ParsedStatus.EXCEPTION);
    TaskEvent cancel =
        new TaskEvent.Cancelled(why instanceof Json.Str text ? text.value() : "cancelled");
    TaskStatus cancelled =
        TaskTransitions.apply(next, cancel, Backoff.DEFAULT, next.sinceMillis()).status();
    return Objects.requireNonNull(cancelled);
  }

  private static TaskStatus next(
      TaskStatus running,
      StepPosition at,
      TaskStatus ended,
      @Nullable Program program,
      boolean mayCompensate) {
    if (at.isVerification()) {
      return verified(running, at, ended, program, mayCompensate);
    }
    if (at.phase() == StepPosition.Phase.ENDED) {
      return ended.main() == Main.DONE ? ended.withStep(null) : ended;
    }
    if (program == null) {
      return ended.main() == Main.DONE && !at.isCompensation()
          ? ready(Main.INCOMPLETE, ended, ended.data())
              .withStep(StepPosition.ended(at.step(), at.begun()))
          : ended.main() == Main.DONE
              ? ready(Main.ERROR, ended, running.data()).withStep(at)
              : ended;
    }
    return at.isCompensation()
        ? compensated(running, at, ended, program)
        : stepped(running, at, ended, program, mayCompensate);
  }

  private static TaskStatus stepped(
      TaskStatus running,
      StepPosition at,
      TaskStatus ended,
      Program program,
      boolean mayCompensate) {
    int place = program.find(at.step());
    if (ended.main() == Main.DONE) {
      if (place >= 0 && place == program.steps().size() - 1) {
        return ended.withStep(null);
      }
      // With a step that is gone, the next start begins again.
      String next = place < 0 ? at.step() : program.steps().get(place + 1).name();
      TaskStatus ready =
          ready(Main.INCOMPLETE, ended, ended.data())
              .withStep(StepPosition.step(next, later(program, at.begun(), next), true));
      return program.restartsFromFirst() ? withBackoffOf(running, ready) : ready;
    }
    boolean fails =
        ended.main() == Main.FAILED
            || (ended.main() == Main.ERROR
                && !ended.savedBackoff()
                && !ended.overwriteable()
                && place >= 0
                && program.steps().get(place).undoesOnFailure());
    if (!fails) {
      return ended;
    }
    int reached = Math.max(place, program.find(at.begun()));
    Step undo = program.compensationFrom(reached);
    if (undo == null || !mayCompensate) {
      TaskStatus failed = ended.main() == Main.FAILED ? ended : failed(ended, ended.data());
      return program.compensations().isEmpty()
          ? failed.withStep(at.again())
          : failed.withStep(at.again()).withData(with(failed, undo == null && reached >= 0));
    }
    return ready(Main.ERROR, ended, ended.data())
        .withStep(StepPosition.compensation(undo.name(), at.begun()));
  }

  // ---- verification

  /** Returns the status of a task that is done and is to be verified when all of its job are. */
  public static TaskStatus toVerify(TaskStatus done) {
    return done(done, true, false, false, 0, done.data()).withStep(StepPosition.verification(0));
  }

  /** Returns the status of a task that is done and may be verified now. */
  public static TaskStatus mayBeVerified(TaskStatus done) {
    return done(done, true, true, false, 0, done.data()).withStep(StepPosition.verification(0));
  }

  /** Returns the status of a task that is done and needs no verification any more. */
  public static TaskStatus withoutVerification(TaskStatus done) {
    return done(done, false, false, false, 0, done.data());
  }

  /** Returns the status of a verification that was interrupted: it is tried again. */
  public static TaskStatus interrupted(TaskStatus running, TaskStatus interrupted) {
    StepPosition at = running.step();
    return at != null && at.isVerification() && interrupted.main() != Main.CANCELLED
        ? done(interrupted, true, true, false, interrupted.backoffSeconds(), running.data())
            .withStep(at)
        : interrupted;
  }

  private static TaskStatus verified(
      TaskStatus running,
      StepPosition at,
      TaskStatus ended,
      @Nullable Program program,
      boolean isItsOwn) {
    Verification how = program == null ? null : program.verification().orElse(null);
    if (ended.main() == Main.FAILED && !isItsOwn) {
      // Its outcome is unknown: it may still run. It is verified again once somebody forgives it.
      return at(Main.FAILED, ended, 0, failedVerification(running, ended)).withStep(at);
    }
    if (ended.main() == Main.DONE || (program != null && how == null)) {
      // Flagged as verified, so that it is not verified again.
      return done(ended, false, false, how != null, 0, running.data());
    }
    boolean isSynthetic = ended.savedBackoff() || ended.overwriteable();
    boolean fails = !isSynthetic && (ended.main() == Main.FAILED || ended.main() == Main.ERROR);
    if (how == null || !fails || !isItsOwn) {
      int pause = isSynthetic ? Math.max(1, ended.backoffSeconds()) : ended.backoffSeconds();
      return done(ended, true, true, false, pause, running.data()).withStep(at);
    }
    if (ended.main() == Main.ERROR && at.tries() < how.retries()) {
      return done(ended, true, true, false, ended.backoffSeconds(), running.data())
          .withStep(at.withTries(at.tries() + 1));
    }
    int wait = Math.max(1, Math.max(ended.backoffSeconds(), running.position()));
    return TaskStatus.waiting(ended.sinceMillis(), wait, ended.attempts())
        .withData(failedVerification(running, ended))
        .withFailure(ended.failure());
  }

  private static Json.Obj failedVerification(TaskStatus running, TaskStatus ended) {
    Json.Obj data = Objects.requireNonNullElse(running.data(), Json.Obj.EMPTY);
    Json why = ended.data() == null ? null : ended.data().get(ParsedStatus.EXCEPTION);
    String text = why instanceof Json.Str said ? ": " + said.value() : "";
    return data.with(ParsedStatus.EXCEPTION, Json.of("verification failed" + text));
  }

  private static TaskStatus done(
      TaskStatus of,
      boolean awaits,
      boolean mayStart,
      boolean isVerified,
      int wait,
      Json.@Nullable Obj data) {
    return TaskStatus.of(Main.DONE, of.sinceMillis(), of.attempts())
        .with(
            s ->
                s.usesBackoff(wait > 0)
                    .holdsPosition(isVerified)
                    .overwriteable(awaits)
                    .savedBackoff(mayStart)
                    .backoffSeconds(wait)
                    .position(of.position())
                    .data(data));
  }

  // ---- compensation

  private static TaskStatus compensated(
      TaskStatus running, StepPosition at, TaskStatus ended, Program program) {
    if (ended.main() == Main.DONE) {
      boolean isKnown = program.compensation(at.step()) != null;
      Step next = isKnown ? program.compensationFrom(program.find(at.step()) - 1) : null;
      return next == null
          ? failed(ended, with(running, isKnown)).withCheckpoint(null).withStep(null)
          : ready(Main.ERROR, ended, running.data())
              .withStep(StepPosition.compensation(next.name(), at.begun()));
    }
    if (ended.main() == Main.FAILED) {
      Json.Obj data = with(running, false);
      Json why = ended.data() == null ? null : ended.data().get(ParsedStatus.EXCEPTION);
      return failed(ended, why == null ? data : data.with(COMPENSATION_FAILED, why))
          .withCheckpoint(null)
          .withStep(null);
    }
    boolean isTry = ended.main() == Main.ERROR && !ended.savedBackoff() && !ended.overwriteable();
    return ended.withData(running.data()).withStep(isTry ? at.withTries(at.tries() + 1) : at);
  }

  private static String later(Program program, String one, String other) {
    return program.find(one) > program.find(other) ? one : other;
  }

  private static Json.Obj with(TaskStatus status, boolean compensated) {
    Json.Obj data = Objects.requireNonNullElse(status.data(), Json.Obj.EMPTY);
    return data.with(COMPENSATED, Json.of(compensated));
  }

  private static TaskStatus failed(TaskStatus ended, Json.@Nullable Obj data) {
    return at(Main.FAILED, ended, ended.position(), data);
  }

  /** A status that may start at once and begins its back-off again. */
  private static TaskStatus ready(Main main, TaskStatus ended, Json.@Nullable Obj data) {
    return at(main, ended, 0, data);
  }

  private static TaskStatus at(Main main, TaskStatus ended, int position, Json.@Nullable Obj data) {
    return TaskStatus.of(main, ended.sinceMillis(), ended.attempts())
        .with(
            s ->
                s.position(position)
                    .data(data)
                    // A checkpoint belongs to one step.
                    .checkpoint(main == Main.FAILED ? ended.checkpoint() : null)
                    .failure(ended.failure())
                    .retries(main == Main.FAILED ? ended.retries() : RetryCounts.NONE));
  }

  private static TaskStatus withBackoffOf(TaskStatus running, TaskStatus ready) {
    return ready
        .withPosition(running.position())
        .withFailure(null)
        .withRetries(running.retries().withGotOn(false));
  }
}
