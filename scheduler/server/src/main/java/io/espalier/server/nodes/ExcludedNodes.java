package io.espalier.server.nodes;

import org.jspecify.annotations.Nullable;

/**
 * What is remembered of the nodes of an answer that were not kept because other schedulers have
 * them: enough to know when they are needed after all. Never changed.
 *
 * @param parents under which they hang; when one of them becomes this scheduler's, they are needed
 * @param nodes they themselves, when other sources have nodes of their level too: one of both is
 *     needed. Null when there were no such sources
 */
record ExcludedNodes(LongHashSet parents, @Nullable LongHashSet nodes) {}
