package io.espalier.server.nodes;

import org.jspecify.annotations.Nullable;

/**
 * Summarizes the nodes of an answer that were not kept because other schedulers have them. It
 * suffices to detect when they are needed after all. Immutable.
 *
 * @param parents the parents of these nodes; when one of the parents becomes this scheduler's, the
 *     nodes are needed
 * @param nodes the nodes themselves, when other sources have nodes of their level too: a node in
 *     both is needed. Null when there were no such sources
 */
record ExcludedNodes(LongHashSet parents, @Nullable LongHashSet nodes) {}
