package io.espalier.core.protocol;

import io.espalier.core.config.task.KillRequest;
import org.jspecify.annotations.Nullable;

/**
 * A command from the scheduler to a worker about a running task. It is repeated until its batch is
 * answered, so a worker carries out only commands whose number is above the last one of that
 * invocation.
 *
 * @param number sequence number, growing with each command for an invocation
 * @param kill how to stop the task; null: do not stop it
 * @param extendMillis extension of its timeout and its deadline, if it has them; 0: unchanged
 */
public record TaskCommand(RunId run, long number, @Nullable KillRequest kill, long extendMillis) {}
