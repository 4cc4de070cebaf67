package io.espalier.core.status;

/**
 * A job that an operator has paused: nothing of it is started, nothing is killed, reloads do not
 * end it (docs/design/design.md#pauses).
 *
 * @param operator who did it; empty when nobody had to say
 * @param reason why; may be empty
 * @param sinceMillis epoch milliseconds
 * @param untilMillis when it ends by itself, epoch milliseconds; 0: never
 */
public record Pause(
    String job, String operator, String reason, long sinceMillis, long untilMillis) {}
