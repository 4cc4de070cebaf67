package io.espalier.core.protocol;

import io.espalier.core.config.KillRequest;
import org.jspecify.annotations.Nullable;

/**
 * Scheduler to worker, about a task that runs there. Repeated until its batch is answered, so a
 * worker carries out only numbers above the last one of that invocation.
 *
 * @param number grows with each order of an invocation
 * @param kill how to stop it; null: it is not to be stopped
 * @param extendMillis added to its timeout and its deadline, where it has them; 0: unchanged
 */
public record TaskCommand(RunId run, long number, @Nullable KillRequest kill, long extendMillis) {}
