package io.espalier.core.status;

import io.espalier.core.config.Backoff;
import io.espalier.core.json.Json;
import io.espalier.core.status.TaskStatus.Main;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The one table of task statuses: status and event to status (behaviour 6.5 to 6.8 with the defects
 * L13, L14, L15 and L35 mended). Pure; docs/task-status.md shows it in full.
 *
 * <p>Events of superseded invocations must be kept away: a status does not know its invocation.
 */
public final class TaskTransitions {
  /** The longest wait of a task that could not be started although nothing is wrong with it. */
  public static final int MAX_NOT_STARTED_SECONDS = 60;

  private TaskTransitions() {}

  /**
   * @param current null: never tried
   * @param backoff of the task's job
   * @param nowMillis epoch milliseconds
   */
  public static Transition apply(
      @Nullable TaskStatus current, TaskEvent event, Backoff backoff, long nowMillis) {
    if (event instanceof TaskEvent.Started) {
      return started(current, nowMillis);
    }
    if (event instanceof TaskEvent.Forgiven) {
      return forgiven(current, nowMillis);
    }
    if (current == null) {
      return Transition.refused(null, "a task that was never started has ended: ignored");
    }
    if (event instanceof TaskEvent.Ended ended) {
      return ended(current, ended.report(), backoff, nowMillis);
    }
    if (event instanceof TaskEvent.NotStarted notStarted) {
      return notStarted(current, notStarted, nowMillis);
    }
    if (current.main() != Main.RUNNING) {
      return Transition.refused(
          current, "a guess about a task that is not running (" + word(current) + "): ignored");
    }
    if (event instanceof TaskEvent.WorkerLost lost) {
      return Transition.to(lost(current, lost, backoff, nowMillis));
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
   * The status from which an attempt that got on is judged: as if it were the first, because a task
   * that advances must not run out of attempts (features R15).
   */
  public static TaskStatus withLadderAnew(TaskStatus running) {
    return new TaskStatus(
        running.main(),
        running.usesBackoff(),
        running.holdsPosition(),
        running.overwriteable(),
        running.savedBackoff(),
        running.sinceMillis(),
        running.backoffSeconds(),
        0,
        running.attempts(),
        running.data(),
        running.checkpoint());
  }

  /** Of a task that runs for the first time. */
  public static TaskStatus firstStart(long nowMillis) {
    TaskStatus status = started(null, nowMillis).status();
    if (status == null) {
      throw new IllegalStateException("a started task has no status");
    }
    return status;
  }

  private static Transition started(@Nullable TaskStatus current, long nowMillis) {
    if (current == null) {
      return Transition.to(running(nowMillis, 0, 0, 1, null));
    }
    if (current.main() == Main.RUNNING || current.isFinal()) {
      return Transition.refused(
          current, "a task that is " + word(current) + " must not be started: ignored");
    }
    int grown = current.label() == StatusLabel.NEVER_STARTED ? current.backoffSeconds() : 0;
    return Transition.to(
        running(nowMillis, grown, current.position(), current.attempts() + 1, current.data())
            .withCheckpoint(current.checkpoint()));
  }

  private static TaskStatus running(
      long nowMillis, int grown, int position, int attempts, Json.@Nullable Obj data) {
    return new TaskStatus(
        Main.RUNNING, false, false, false, false, nowMillis, grown, position, attempts, data);
  }

  private static Transition ended(
      TaskStatus current, TaskReport report, Backoff backoff, long nowMillis) {
    if (current.main() != Main.RUNNING && !current.overwriteable()) {
      return Transition.refused(
          current, "a task that is " + word(current) + " has ended again: ignored");
    }
    Json.Obj data = report.keepsData() ? merged(current.data(), report.data()) : report.data();
    Main main = report.main();
    int wait = 0;
    int position = 0;
    if (report.usesBackoff() && report.holdsPosition()) {
      Backoff.Interval first = backoff.next(0);
      wait = current.position() > 0 ? current.position() : first.seconds();
      position = current.position() > 0 || !first.noMore() ? wait : 0;
    } else if (report.usesBackoff()) {
      Backoff.Interval next = nextFor(current, backoff);
      main = next.noMore() ? Main.FAILED : main;
      wait = next.noMore() ? 0 : next.seconds();
      position = next.noMore() ? current.position() : next.seconds();
    }
    boolean waits = report.usesBackoff() && main != Main.FAILED;
    return Transition.to(
        new TaskStatus(
            main,
            waits,
            waits && report.holdsPosition(),
            false,
            false,
            nowMillis,
            wait,
            position,
            current.attempts(),
            data,
            main == Main.DONE ? null : current.checkpoint()));
  }

  /** A lost task has taken its step on the ladder already; its late error takes none. */
  private static Backoff.Interval nextFor(TaskStatus current, Backoff backoff) {
    if (current.savedBackoff() && current.main() == Main.FAILED) {
      return new Backoff.Interval(0, true);
    }
    return current.savedBackoff() && current.position() > 0
        ? new Backoff.Interval(current.position(), false)
        : backoff.next(current.position());
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
        new TaskStatus(
            Main.ERROR,
            true,
            true,
            false,
            true,
            nowMillis,
            wait,
            current.position(),
            Math.max(0, current.attempts() - 1),
            explained(current.data(), event.exception()),
            current.checkpoint()));
  }

  private static TaskStatus lost(
      TaskStatus current, TaskEvent.WorkerLost lost, Backoff backoff, long nowMillis) {
    Backoff.Interval next = backoff.next(current.position());
    Json.Obj data =
        explained(current.data(), lost.exception())
            .with("worker_shard", Json.of(lost.workerShard()));
    return new TaskStatus(
        next.noMore() ? Main.FAILED : Main.ERROR,
        true,
        false,
        true,
        true,
        nowMillis,
        next.noMore() ? lost.safetySeconds() : Math.max(next.seconds(), lost.safetySeconds()),
        next.noMore() ? current.position() : next.seconds(),
        current.attempts(),
        data,
        current.checkpoint());
  }

  /** Not running any more and eligible at once, with everything kept. */
  private static TaskStatus idle(
      TaskStatus current,
      Main main,
      boolean holdsPosition,
      boolean overwriteable,
      String exception,
      long nowMillis) {
    return new TaskStatus(
        main,
        false,
        holdsPosition,
        overwriteable,
        false,
        nowMillis,
        0,
        current.position(),
        current.attempts(),
        explained(current.data(), exception),
        current.checkpoint());
  }

  private static Transition forgiven(@Nullable TaskStatus current, long nowMillis) {
    if (current == null || current.main() == Main.RUNNING || current.main() == Main.DONE) {
      return Transition.none(current);
    }
    boolean failed = current.main() == Main.FAILED;
    // A lost task may still be alive: only its place on the ladder is forgiven, never that wait.
    boolean mayLive = current.overwriteable() && current.usesBackoff();
    TaskStatus free =
        new TaskStatus(
            failed ? Main.ERROR : current.main(),
            current.usesBackoff() || failed,
            current.holdsPosition(),
            current.overwriteable(),
            current.savedBackoff(),
            current.sinceMillis(),
            mayLive ? current.backoffSeconds() : 0,
            0,
            current.attempts(),
            current.data(),
            current.checkpoint());
    if (free.equals(current)) {
      return Transition.none(current);
    }
    // Its attempts are forgiven with the rest: a bound on them counts anew.
    return Transition.to(anew(free, mayLive ? current.sinceMillis() : nowMillis));
  }

  private static TaskStatus anew(TaskStatus status, long sinceMillis) {
    return new TaskStatus(
        status.main(),
        status.usesBackoff(),
        status.holdsPosition(),
        status.overwriteable(),
        status.savedBackoff(),
        sinceMillis,
        status.backoffSeconds(),
        status.position(),
        0,
        status.data(),
        status.checkpoint());
  }

  private static Json.Obj explained(Json.@Nullable Obj data, String exception) {
    // The reason for an earlier stop explains nothing any more.
    return (data == null ? Json.Obj.EMPTY : data)
        .with(TaskReport.EXCEPTION, Json.of(exception))
        .without(StopReasons.KEY);
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
