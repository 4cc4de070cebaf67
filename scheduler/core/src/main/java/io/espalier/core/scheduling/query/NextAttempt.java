package io.espalier.core.scheduling.query;

/**
 * The back-off that ends first.
 *
 * @param atMillis when the task is ready again, epoch milliseconds; it starts then if there is room
 */
public record NextAttempt(String job, long atMillis) {}
