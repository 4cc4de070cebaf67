package io.espalier.core.topology;

/**
 * The environment of a node source.
 *
 * @param configDirectory base directory for relative paths in preferences; empty: they are refused
 * @param dataDirectory data directory of the scheduler; empty when there is none, as for {@code
 *     validate} and {@code nodes}
 */
public record NodeSourceContext(String configDirectory, String dataDirectory) {}
