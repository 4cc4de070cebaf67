package io.espalier.core.config;

/**
 * A countable resource that every node of one level has (docs/design/bistro.md#resources).
 *
 * @param index dense index over all resources of the configuration, in the order of the levels
 * @param level index of the level whose nodes have it
 * @param defaultNeed slots that a job needs unless it specifies otherwise
 * @param limit slots on each node of the level
 * @param weight weight for the {@code busiest} worker selector
 */
public record Resource(int index, String name, int level, int defaultNeed, int limit, int weight) {}
