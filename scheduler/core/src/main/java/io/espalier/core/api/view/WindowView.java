package io.espalier.core.api.view;

/**
 * Windows of the settings, a queue, a job or of nodes, as monitors see them.
 *
 * @param queue empty unless they are those of a queue
 * @param job empty unless they are those of a job
 * @param level level of the nodes; empty unless they are those of nodes
 * @param nodes number of nodes; 0 unless they are those of nodes
 * @param open whether tasks may start as far as they are concerned
 * @param changesMillis when that changes; 0: not for years
 * @param message the next change, in one line
 */
public record WindowView(
    String queue,
    String job,
    String level,
    int nodes,
    boolean open,
    long changesMillis,
    String message) {}
