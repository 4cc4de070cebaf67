package io.espalier.core.topology;

/**
 * Where a node source is used.
 *
 * @param configDirectory what relative paths in preferences are relative to; empty: they are
 *     refused
 * @param dataDirectory of the scheduler that wants the nodes; empty when there is none, as for
 *     {@code validate} and {@code nodes}
 */
public record NodeSourceContext(String configDirectory, String dataDirectory) {}
