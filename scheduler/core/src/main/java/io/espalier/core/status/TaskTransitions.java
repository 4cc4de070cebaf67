package io.espalier.core.status;

import io.espalier.core.config.task.Backoff;
import io.espalier.core.config.task.RetryPolicy;
import io.espalier.core.json.Json;
import io.espalier.core.status.TaskStatus.Main;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The transition table of task statuses: maps a status and an event to the next status
 * (docs/design/bistro.md#transitions). Pure; docs/task-status.md shows it in full.
 *
 * <p>The caller must filter out events of superseded invocations: a status does not know its
 * invocation.
 */
public final class TaskTransitions {
  /**
   * The longest wait, in seconds, of a task that could not be started through no fault of its own.
   */
  public static final int MAX_NOT_STARTED_SECONDS = 60;

  private TaskTransitions() {}

  /** Applies an event to a task whose job has only back-off rules. */
  public static Transition apply(
      @Nullable TaskStatus current, TaskEvent event, Backoff backoff, long nowMillis) {
    return apply(current, event, RetryPolicy.of(backoff), nowMillis);
  }

  /**
   * Applies an event.
   *
   * @param current status before the event; null: never tried
   * @param retrying retry policy of the task's job
   * @param nowMillis epoch milliseconds
   */
  public static Transition apply(
      @Nullable TaskStatus current, TaskEvent event, RetryPolicy retrying, long nowMillis) {
    StepPosition at = current == null ? null : current.step();
    if (at != null && at.isCompensation() && event instanceof TaskEvent.Forgiven) {
      // It is undone before it can run again.
      return Transition.none(current);
    }
    Transition next = transition(current, event, retrying, nowMillis);
    TaskStatus status = next.status();
    return current == null || at == null || status == null || !next.changed()
        ? next
        : Transition.to(inSteps(current, at, event, status));
  }

  /**
   * Keeps the position in the steps. What only goes on with a step that follows another, or with a
   * compensation, is no new attempt.
   */
  private static TaskStatus inSteps(
      TaskStatus current, StepPosition at, TaskEvent event, TaskStatus next) {
    if (event instanceof TaskEvent.Started) {
      TaskStatus same = at.isAttempt() ? next : next.withAttempts(current.attempts());
      // The cause of what is compensated is that of the task's failure.
      return at.isCompensation()
          ? same.withStep(at).withFailure(current.failure())
          : same.withStep(at);
    }
    if (event instanceof TaskEvent.NotStarted) {
      return (at.isAttempt() ? next : next.withAttempts(current.attempts())).withStep(at);
    }
    return next.withStep(at.after(next));
  }

  private static Transition transition(
      @Nullable TaskStatus current, TaskEvent event, RetryPolicy retrying, long nowMillis) {
    if (event instanceof TaskEvent.Started) {
      return started(current, nowMillis);
    }
    if (event instanceof TaskEvent.Forgiven) {
      return forgiven(current, nowMillis);
    }
    if (event instanceof TaskEvent.Cancelled cancelled) {
      return cancelled(current, cancelled.exception(), nowMillis);
    }
    if (current == null) {
      return Transition.refused(null, "a task that was never started has ended: ignored");
    }
    if (current.isCancelled()) {
      return endedAsCancelled(current, event, nowMillis);
    }
    if (event instanceof TaskEvent.Ended ended) {
      return ended(current, ended.report(), retrying, nowMillis);
    }
    if (event instanceof TaskEvent.NotStarted notStarted) {
      return notStarted(current, notStarted, nowMillis);
    }
    if (current.main() != Main.RUNNING) {
      return Transition.refused(
          current, "a guess about a task that is not running (" + word(current) + "): ignored");
    }
    if (event instanceof TaskEvent.WorkerLost lost) {
      return Transition.to(lost(current, lost, retrying, nowMillis));
    }
    if (event instanceof TaskEvent.WasNotRunning was) {
      return Transition.to(idle(current, Main.ERROR, false, true, was.exception(), nowMillis));
    }
    if (event instanceof TaskEvent.Interrupted interrupted) {
      return Transition.to(
          idle(current, Main.INCOMPLETE, true, false, interrupted.exception(), nowMillis));
    }
    throw new IllegalArgumentException("unknown event " + event);
  }

  /**
   * Delays the next start of a task that could start again at once, so that its starts are a
   * minimum time apart, in whole seconds: a task that keeps asking for a restart must not take over
   * the machine.
   *
   * @param running status while it ran
   * @param ended status after its end
   * @param leastBetweenStarts minimum time between two starts; a task that ran longer does not wait
   */
  public static TaskStatus paced(
      TaskStatus running, TaskStatus ended, Duration leastBetweenStarts) {
    boolean again = !ended.isFinal() && ended.label() != StatusLabel.INTERRUPTED;
    if (!again || ended.usesBackoff()) {
      return ended;
    }
    // A clock that was set back must not prolong the wait.
    long ran = Math.max(0, ended.sinceMillis() - running.sinceMillis());
    long left = leastBetweenStarts.toMillis() - ran;
    return left <= 0 ? ended : ended.withBackoffSeconds((int) ((left + 999) / 1000));
  }

  /**
   * The position from which the back-off continues: an attempt that made progress is treated like
   * the first one, because a task that advances must not run out of attempts
   * (docs/design/features.md#progress-and-checkpoints).
   */
  private static int position(TaskStatus current) {
    return current.retries().gotOn() ? 0 : current.position();
  }

  /** The status of a task that runs for the first time. */
  public static TaskStatus firstStart(long nowMillis) {
    TaskStatus status = started(null, nowMillis).status();
    if (status == null) {
      throw new IllegalStateException("a started task has no status");
    }
    return status;
  }

  private static Transition started(@Nullable TaskStatus current, long nowMillis) {
    if (current == null) {
      return Transition.to(TaskStatus.of(Main.RUNNING, nowMillis, 1));
    }
    if (current.main() == Main.RUNNING || current.isFinal()) {
      return Transition.refused(
          current, "a task that is " + word(current) + " must not be started: ignored");
    }
    int grown = current.label() == StatusLabel.NEVER_STARTED ? current.backoffSeconds() : 0;
    return Transition.to(
        TaskStatus.of(Main.RUNNING, nowMillis, current.attempts() + 1)
            .with(
                s ->
                    s.backoffSeconds(grown)
                        .position(current.position())
                        .data(current.data())
                        .checkpoint(current.checkpoint())
                        .retries(current.retries().withGotOn(false))));
  }

  private static Transition ended(
      TaskStatus current, ParsedStatus report, RetryPolicy retrying, long nowMillis) {
    if (current.main() != Main.RUNNING && !current.overwriteable()) {
      return Transition.refused(
          current, "a task that is " + word(current) + " has ended again: ignored");
    }
    Json.Obj data = report.keepsData() ? merged(current.data(), report.data()) : report.data();
    RetryDecision judgement =
        retrying.rules().isPresent()
            ? RetryDecision.ended(current, report, retrying.rules().get())
            : byBackoff(current, report, retrying.backoff());
    Main main = judgement.fails() ? Main.FAILED : report.main();
    boolean waits = report.usesBackoff() && main != Main.FAILED;
    return Transition.to(
        TaskStatus.of(main, nowMillis, current.attempts())
            .with(
                s ->
                    s.usesBackoff(waits)
                        .holdsPosition(waits && report.holdsPosition())
                        .backoffSeconds(waits ? judgement.waitSeconds() : 0)
                        .position(judgement.position())
                        .data(data)
                        .checkpoint(main == Main.DONE ? null : current.checkpoint())
                        .retries(judgement.counts())));
  }

  private static RetryDecision byBackoff(TaskStatus current, ParsedStatus report, Backoff backoff) {
    // Retries are counted only where such rules are in force.
    RetryCounts counts =
        report.main() == Main.DONE ? RetryCounts.NONE : current.retries().withGotOn(false);
    if (!report.usesBackoff()) {
      return new RetryDecision(false, 0, 0, counts);
    }
    int before = position(current);
    if (report.holdsPosition()) {
      Backoff.Interval first = backoff.next(0);
      int wait = before > 0 ? before : first.seconds();
      return new RetryDecision(false, wait, before > 0 || !first.noMore() ? wait : 0, counts);
    }
    Backoff.Interval next = nextFor(current, backoff);
    return next.noMore()
        ? new RetryDecision(true, 0, before, counts)
        : new RetryDecision(false, next.seconds(), next.seconds(), counts);
  }

  /**
   * The next interval: a lost task has already advanced its back-off; its late error does not
   * advance it again.
   */
  private static Backoff.Interval nextFor(TaskStatus current, Backoff backoff) {
    if (current.savedBackoff() && current.main() == Main.FAILED) {
      return new Backoff.Interval(0, true);
    }
    return current.savedBackoff() && current.position() > 0
        ? new Backoff.Interval(current.position(), false)
        : backoff.next(position(current));
  }

  private static Transition notStarted(
      TaskStatus current, TaskEvent.NotStarted event, long nowMillis) {
    if (current.main() != Main.RUNNING && !current.overwriteable()) {
      return Transition.refused(
          current, "a task that is " + word(current) + " was not started: ignored");
    }
    int before = current.main() == Main.RUNNING ? current.backoffSeconds() : 0;
    int grown = Math.max(event.leastSeconds(), before == 0 ? 1 : before * 2);
    int wait = Math.min(MAX_NOT_STARTED_SECONDS, grown);
    return Transition.to(
        TaskStatus.of(Main.ERROR, nowMillis, Math.max(0, current.attempts() - 1))
            .with(
                s ->
                    s.usesBackoff(true)
                        .holdsPosition(true)
                        .savedBackoff(true)
                        .backoffSeconds(wait)
                        .position(current.position())
                        .data(explained(current.data(), event.exception()))
                        .checkpoint(current.checkpoint())
                        .retries(current.retries().withGotOn(false))));
  }

  private static TaskStatus lost(
      TaskStatus current, TaskEvent.WorkerLost lost, RetryPolicy retrying, long nowMillis) {
    RetryDecision judgement =
        retrying.rules().isPresent()
            ? RetryDecision.stopped(current, retrying.rules().get())
            : byBackoff(current, ParsedStatus.ERROR_BACKOFF, retrying.backoff());
    Json.Obj data =
        explained(current.data(), lost.exception())
            .with("worker_shard", Json.of(lost.workerShard()));
    return TaskStatus.of(
            judgement.fails() ? Main.FAILED : Main.ERROR, nowMillis, current.attempts())
        .with(
            s ->
                s.usesBackoff(true)
                    .overwriteable(true)
                    .savedBackoff(true)
                    .backoffSeconds(Math.max(judgement.waitSeconds(), lost.safetySeconds()))
                    .position(judgement.position())
                    .data(data)
                    .checkpoint(current.checkpoint())
                    .retries(judgement.counts()));
  }

  /** A status that is not running, may start at once, and preserves everything else. */
  private static TaskStatus idle(
      TaskStatus current,
      Main main,
      boolean holdsPosition,
      boolean overwriteable,
      String exception,
      long nowMillis) {
    return TaskStatus.of(main, nowMillis, current.attempts())
        .with(
            s ->
                s.holdsPosition(holdsPosition)
                    .overwriteable(overwriteable)
                    .position(position(current))
                    .data(explained(current.data(), exception))
                    .checkpoint(current.checkpoint())
                    .retries(current.retries().ended()));
  }

  /** A task that is done stays done; one that runs only notes how it will end. */
  private static Transition cancelled(
      @Nullable TaskStatus current, String exception, long nowMillis) {
    TaskStatus before = current == null ? TaskStatus.unstarted(nowMillis) : current;
    if (before.main() == Main.DONE || before.isCancelled()) {
      return Transition.none(current);
    }
    if (before.main() == Main.RUNNING) {
      return Transition.to(
          TaskStatus.of(Main.RUNNING, before.sinceMillis(), before.attempts())
              .with(
                  s ->
                      s.holdsPosition(true)
                          .backoffSeconds(before.backoffSeconds())
                          .position(before.position())
                          .data(explained(before.data(), exception))
                          .checkpoint(before.checkpoint())
                          .retries(before.retries())));
    }
    boolean mayLive = mayLive(before);
    int safetySeconds = mayLive ? before.backoffSeconds() : 0;
    long since = mayLive ? before.sinceMillis() : nowMillis;
    Json.Obj data = explained(before.data(), exception);
    return Transition.to(cancelled(before, data, since, safetySeconds, before.attempts()));
  }

  /** The end of a cancelled task: whatever it says, it is cancelled, unless it is done. */
  private static Transition endedAsCancelled(TaskStatus current, TaskEvent event, long nowMillis) {
    boolean isGuess = !(event instanceof TaskEvent.Ended || event instanceof TaskEvent.NotStarted);
    if (current.main() != Main.RUNNING && (isGuess || !current.overwriteable())) {
      return Transition.refused(current, "a task that is cancelled has ended again: ignored");
    }
    int attempts = current.attempts();
    int safetySeconds = 0;
    Json.Obj data = current.data();
    if (event instanceof TaskEvent.Ended ended) {
      ParsedStatus report = ended.report();
      Json.Obj others = data == null ? null : data.without(ParsedStatus.EXCEPTION);
      Json.Obj said = report.keepsData() ? merged(others, report.data()) : report.data();
      if (report.main() == Main.DONE) {
        return Transition.to(TaskStatus.of(Main.DONE, nowMillis, attempts).withData(said));
      }
      Json why = data == null ? null : data.get(ParsedStatus.EXCEPTION);
      data = explained(said, why instanceof Json.Str text ? text.value() : "cancelled");
    } else if (event instanceof TaskEvent.WorkerLost lost) {
      safetySeconds = lost.safetySeconds();
    } else if (event instanceof TaskEvent.NotStarted) {
      attempts = Math.max(0, attempts - 1);
    }
    return Transition.to(cancelled(current, data, nowMillis, safetySeconds, attempts));
  }

  /**
   * A cancelled task.
   *
   * @param safetySeconds how long it may stay alive on a lost worker; 0: it does not live
   */
  private static TaskStatus cancelled(
      TaskStatus before,
      Json.@Nullable Obj data,
      long sinceMillis,
      int safetySeconds,
      int attempts) {
    boolean mayLive = safetySeconds > 0;
    return TaskStatus.of(Main.CANCELLED, sinceMillis, attempts)
        .with(
            s ->
                s.usesBackoff(mayLive)
                    .overwriteable(mayLive)
                    .savedBackoff(mayLive)
                    .backoffSeconds(safetySeconds)
                    .position(before.position())
                    .data(data)
                    .checkpoint(before.checkpoint()));
  }

  /** Returns true when the task was lost with its worker and may still be alive there. */
  private static boolean mayLive(TaskStatus status) {
    return status.overwriteable() && status.usesBackoff();
  }

  private static Transition forgiven(@Nullable TaskStatus current, long nowMillis) {
    if (current == null || current.main() == Main.RUNNING || current.main() == Main.DONE) {
      return Transition.none(current);
    }
    boolean failed = current.main() == Main.FAILED || current.main() == Main.CANCELLED;
    // A lost task may still be alive: its back-off position is forgiven, but never that wait.
    boolean mayLive = mayLive(current);
    if (current.main() == Main.CANCELLED && current.attempts() == 0 && !mayLive) {
      return Transition.to(TaskStatus.unstarted(nowMillis));
    }
    TaskStatus free =
        current.with(
            s ->
                s.main(failed ? Main.ERROR : current.main())
                    .usesBackoff(current.usesBackoff() || failed)
                    .backoffSeconds(mayLive ? current.backoffSeconds() : 0)
                    .position(0)
                    .failure(null)
                    .retries(RetryCounts.NONE)
                    .step(null));
    if (free.equals(current)) {
      return Transition.none(current);
    }
    // Its attempts are reset too: a limit on them starts over.
    return Transition.to(
        free.withAttempts(0).withSinceMillis(mayLive ? current.sinceMillis() : nowMillis));
  }

  /** Adds an exception to data of a task, in place of an earlier one. */
  public static Json.Obj explained(Json.@Nullable Obj data, String exception) {
    // The reason of an earlier stop no longer explains anything.
    return (data == null ? Json.Obj.EMPTY : data)
        .with(ParsedStatus.EXCEPTION, Json.of(exception))
        .without(StopReasonRules.KEY);
  }

  private static Json.@Nullable Obj merged(Json.@Nullable Obj old, Json.@Nullable Obj more) {
    if (old == null || more == null) {
      return old == null ? more : old;
    }
    Json.Obj all = old;
    for (Map.Entry<String, Json> member : more.members().entrySet()) {
      all = all.with(member.getKey(), member.getValue());
    }
    return all;
  }

  private static String word(TaskStatus status) {
    return status.label().word();
  }
}
