package io.espalier.core.protocol;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.running.Throttle;
import org.jspecify.annotations.Nullable;

/**
 * A command from the scheduler to a worker about a running task. It is repeated until its batch is
 * answered, so a worker carries out only commands whose number is above the last one of that
 * invocation.
 *
 * @param number sequence number, growing with each command for an invocation
 * @param kill how to stop the task; null: do not stop it
 * @param extendMillis extension of its timeout and its deadline, if it has them; 0: unchanged
 * @param throttle how fast it is to work; null: unchanged
 */
public record TaskCommand(
    RunId run,
    long number,
    @Nullable KillRequest kill,
    long extendMillis,
    @Nullable Throttle throttle) {
  /** A command that leaves the speed unchanged. */
  public TaskCommand(RunId run, long number, @Nullable KillRequest kill, long extendMillis) {
    this(run, number, kill, extendMillis, null);
  }
}
