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
 * @param recall whether the task is not to start any more, if it has not begun; it then ends as
 *     never started
 */
public record TaskCommand(
    RunId run,
    long number,
    @Nullable KillRequest kill,
    long extendMillis,
    @Nullable Throttle throttle,
    boolean recall) {
  /** A command that leaves the speed unchanged. */
  public TaskCommand(RunId run, long number, @Nullable KillRequest kill, long extendMillis) {
    this(run, number, kill, extendMillis, null, false);
  }

  /** A command that tells a task how fast to work. */
  public static TaskCommand throttle(RunId run, long number, Throttle throttle) {
    return new TaskCommand(run, number, null, 0, throttle, false);
  }

  /** A command that takes a start back. */
  public static TaskCommand recall(RunId run, long number) {
    return new TaskCommand(run, number, null, 0, null, true);
  }
}
