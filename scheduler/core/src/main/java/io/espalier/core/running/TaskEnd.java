package io.espalier.core.running;

import org.jspecify.annotations.Nullable;

/**
 * How an invocation ended, as its runner saw it. What it means is decided by {@code core.status}.
 *
 * @param kind why there is an end
 * @param rawStatus the task's last status line; null when it wrote none
 * @param exitCode of the process; null when a signal ended it or it never started
 * @param signal that ended the process; null when none did
 * @param message for {@code NOT_STARTED} and {@code START_FAILED}: the cause
 */
public record TaskEnd(
    String job,
    String node,
    Invocation invocation,
    Kind kind,
    @Nullable String rawStatus,
    @Nullable Integer exitCode,
    @Nullable Integer signal,
    @Nullable String message) {

  /** Why there is an end. */
  public enum Kind {
    /** The process ran and ended by itself. */
    EXITED,
    /** The process ended after we signalled it. */
    KILLED,
    /** The attempt to start it failed on the task's side: missing command, no directory. */
    START_FAILED,
    /** It was not started and nothing was tried: refused, shutting down. Costs no attempt. */
    NOT_STARTED
  }
}
