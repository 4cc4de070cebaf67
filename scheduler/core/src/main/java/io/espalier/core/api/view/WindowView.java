package io.espalier.core.api.view;

/**
 * Windows of the settings, a queue or a job, as monitors see them.
 *
 * @param queue empty unless they are those of a queue
 * @param job empty unless they are those of a job
 * @param open whether tasks may start as far as they are concerned
 * @param changesMillis when that changes; 0: not for years
 * @param message the next change, in one line
 */
public record WindowView(
    String queue, String job, boolean open, long changesMillis, String message) {}
