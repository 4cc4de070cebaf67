package io.espalier.core.running;

import io.soabase.recordbuilder.core.RecordBuilder;
import org.jspecify.annotations.Nullable;

/**
 * The end of an invocation as its runner saw it. {@code core.status} decides what it means for the
 * task.
 *
 * @param kind kind of end
 * @param rawStatus the task's last status line; null when it wrote none
 * @param exitCode exit code of the process; null when a signal ended it or it never started
 * @param signal signal that ended the process; null when none did
 * @param message for {@code NOT_STARTED}, {@code START_FAILED} and {@code LOST}: the cause; for a
 *     stopped task: details beyond {@code stopReason}; for a task that ended by itself: the last
 *     line of its error output, see {@link #lastErrorLine}
 * @param stopReason why the runner stopped it; null when it ended by itself
 * @param coreDumped whether the kernel wrote a core dump
 * @param usage resource usage; null when nothing is known
 * @param endedAtMillis end by the clock of its host, epoch milliseconds; 0: unknown
 * @param retryAfterMillis for {@code NOT_STARTED}: how long the runner asks to wait before a retry;
 *     0: not specified
 * @param startedAtMillis start of its process, or sending of its call, by the clock of its host,
 *     epoch milliseconds; 0: it did not start, or its worker is too old to say
 * @param counters what it has counted, as far as its runner knows
 */
@RecordBuilder
public record TaskResult(
    String job,
    String node,
    Invocation invocation,
    Kind kind,
    @Nullable String rawStatus,
    @Nullable Integer exitCode,
    @Nullable Integer signal,
    @Nullable String message,
    @Nullable StopReason stopReason,
    boolean coreDumped,
    @Nullable ResourceUsage usage,
    long endedAtMillis,
    long retryAfterMillis,
    long startedAtMillis,
    Counters counters)
    implements TaskResultBuilder.With {

  /** The kind of end. */
  public enum Kind {
    /** The process ran and ended by itself. */
    EXITED,
    /** The process ended after we signalled it. */
    KILLED,
    /** The attempt to start it failed because of the task: missing command, no directory. */
    START_FAILED,
    /**
     * It was not started and nothing was tried: refused, shutting down. This does not count as an
     * attempt.
     */
    NOT_STARTED,
    /**
     * Its worker was lost. The task is dead by now; whether and how far it ran, and its result, are
     * unknown.
     */
    LOST,
    /** The service that was called said that the task has failed; or its call may be sent again. */
    CALL_FAILED,
    /**
     * The service that was called may have carried out the task, or may still do so; nobody can
     * find out. The call must not be sent again.
     */
    OUTCOME_UNKNOWN
  }

  /** Creates an end of that kind without further details. */
  public static TaskResult of(String job, String node, Invocation invocation, Kind kind) {
    return new TaskResult(
        job,
        node,
        invocation,
        kind,
        null,
        null,
        null,
        null,
        null,
        false,
        null,
        0,
        0,
        0,
        Counters.NONE);
  }

  /** Creates the end of a task that ended by itself, without resource usage. */
  public static TaskResult exited(
      String job,
      String node,
      Invocation invocation,
      @Nullable String rawStatus,
      @Nullable Integer exitCode) {
    return of(job, node, invocation, Kind.EXITED).withRawStatus(rawStatus).withExitCode(exitCode);
  }

  /**
   * Creates the end of a task that was never started; it may be retried after {@code
   * retryAfterMillis}, or 0.
   */
  public static TaskResult notStarted(
      String job, String node, Invocation invocation, String message, long retryAfterMillis) {
    return of(job, node, invocation, Kind.NOT_STARTED)
        .withMessage(message)
        .withRetryAfterMillis(retryAfterMillis);
  }

  /** Creates the end of a task whose worker was lost. */
  public static TaskResult lost(
      String job, String node, Invocation invocation, String message, long atMillis) {
    return of(job, node, invocation, Kind.LOST)
        .with(
            end -> end.message(message).stopReason(StopReason.LEASE_LOST).endedAtMillis(atMillis));
  }

  /**
   * The last line that it wrote to its error output; null when it wrote none, was stopped, or its
   * worker is too old to report it.
   */
  public @Nullable String lastErrorLine() {
    return kind == Kind.EXITED && stopReason == null && message != null && !message.isBlank()
        ? message
        : null;
  }

  /** A copy with the exit code or signal of its process. */
  public TaskResult withExit(@Nullable Integer code, @Nullable Integer endedBy) {
    return withExitCode(code).withSignal(endedBy);
  }

  /** A copy with its resource usage. */
  public TaskResult withUsage(@Nullable ResourceUsage newUsage, boolean dumped, long atMillis) {
    return with(end -> end.usage(newUsage).coreDumped(dumped).endedAtMillis(atMillis));
  }
}
