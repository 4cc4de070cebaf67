package io.espalier.core.status.store;

/**
 * An operator's pause of a job: none of its tasks are started, none are killed, and reloads do not
 * end it (docs/design/design.md#pauses).
 *
 * @param operator the operator; empty when none was given
 * @param reason reason; may be empty
 * @param sinceMillis time of the command, epoch milliseconds
 * @param untilMillis expiry, epoch milliseconds; 0: never
 */
public record Pause(
    String job, String operator, String reason, long sinceMillis, long untilMillis) {}
