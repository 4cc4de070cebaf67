package io.espalier.core.running;

import org.jspecify.annotations.Nullable;

/**
 * How an invocation ended, as its runner saw it. What it means is decided by {@code core.status}.
 *
 * @param kind why there is an end
 * @param rawStatus the task's last status line; null when it wrote none
 * @param exitCode of the process; null when a signal ended it or it never started
 * @param signal that ended the process; null when none did
 * @param message for {@code NOT_STARTED}, {@code START_FAILED} and {@code LOST}: the cause; of a
 *     stopped one what there is to say beside {@code stopReason}; of one that ended by itself the
 *     last line of its error output, see {@link #lastErrorLine}
 * @param stopReason why the runner stopped it; null when it ended by itself
 * @param coreDumped whether the kernel wrote a core dump
 * @param usage what it used; null when nothing is known
 * @param endedAtMillis by the clock of its host, epoch milliseconds; 0: unknown
 * @param retryAfterMillis for {@code NOT_STARTED}: when the runner would like to be asked again; 0:
 *     it does not say
 */
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
    long retryAfterMillis) {

  /** Why there is an end. */
  public enum Kind {
    /** The process ran and ended by itself. */
    EXITED,
    /** The process ended after we signalled it. */
    KILLED,
    /** The attempt to start it failed on the task's side: missing command, no directory. */
    START_FAILED,
    /** It was not started and nothing was tried: refused, shutting down. Costs no attempt. */
    NOT_STARTED,
    /**
     * Its worker was lost. It is dead by now; whether and how far it ran, and what it would have
     * said, is not known.
     */
    LOST
  }

  /** It ended so, and nothing else is known of it. */
  public static TaskResult of(String job, String node, Invocation invocation, Kind kind) {
    return new TaskResult(
        job, node, invocation, kind, null, null, null, null, null, false, null, 0, 0);
  }

  /** It ended by itself; nothing is known of what it used. */
  public static TaskResult exited(
      String job,
      String node,
      Invocation invocation,
      @Nullable String rawStatus,
      @Nullable Integer exitCode) {
    return new TaskResult(
        job,
        node,
        invocation,
        Kind.EXITED,
        rawStatus,
        exitCode,
        null,
        null,
        null,
        false,
        null,
        0,
        0);
  }

  /** It was never started; asked again after {@code retryAfterMillis}, or 0. */
  public static TaskResult notStarted(
      String job, String node, Invocation invocation, String message, long retryAfterMillis) {
    return new TaskResult(
        job,
        node,
        invocation,
        Kind.NOT_STARTED,
        null,
        null,
        null,
        message,
        null,
        false,
        null,
        0,
        retryAfterMillis);
  }

  /** Its worker was lost. */
  public static TaskResult lost(
      String job, String node, Invocation invocation, String message, long atMillis) {
    return new TaskResult(
        job,
        node,
        invocation,
        Kind.LOST,
        null,
        null,
        null,
        message,
        StopReason.LEASE_LOST,
        false,
        null,
        atMillis,
        0);
  }

  /**
   * The last line that it wrote to its error output; null: it wrote none, was stopped, or its
   * worker is too old to say.
   */
  public @Nullable String lastErrorLine() {
    return kind == Kind.EXITED && stopReason == null && message != null && !message.isBlank()
        ? message
        : null;
  }

  /** The same with its last status line. */
  public TaskResult withRawStatus(@Nullable String newStatus) {
    return new TaskResult(
        job,
        node,
        invocation,
        kind,
        newStatus,
        exitCode,
        signal,
        message,
        stopReason,
        coreDumped,
        usage,
        endedAtMillis,
        retryAfterMillis);
  }

  /** The same with how its process ended. */
  public TaskResult withExit(@Nullable Integer code, @Nullable Integer endedBy) {
    return new TaskResult(
        job,
        node,
        invocation,
        kind,
        rawStatus,
        code,
        endedBy,
        message,
        stopReason,
        coreDumped,
        usage,
        endedAtMillis,
        retryAfterMillis);
  }

  /** The same with what there is to say of it. */
  public TaskResult withMessage(@Nullable String newMessage) {
    return new TaskResult(
        job,
        node,
        invocation,
        kind,
        rawStatus,
        exitCode,
        signal,
        newMessage,
        stopReason,
        coreDumped,
        usage,
        endedAtMillis,
        retryAfterMillis);
  }

  /** The same with the reason for which it was stopped. */
  public TaskResult withStopReason(@Nullable StopReason reason) {
    return new TaskResult(
        job,
        node,
        invocation,
        kind,
        rawStatus,
        exitCode,
        signal,
        message,
        reason,
        coreDumped,
        usage,
        endedAtMillis,
        retryAfterMillis);
  }

  /** The same with what it used. */
  public TaskResult withUsage(@Nullable ResourceUsage newUsage, boolean dumped, long atMillis) {
    return new TaskResult(
        job,
        node,
        invocation,
        kind,
        rawStatus,
        exitCode,
        signal,
        message,
        stopReason,
        dumped,
        newUsage,
        atMillis,
        retryAfterMillis);
  }
}
