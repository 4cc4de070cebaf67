package io.espalier.core.config;

/**
 * A counter that every node of one level has (docs/design/bistro.md#resources).
 *
 * @param index dense over all resources of the configuration, in the order of the levels
 * @param level index of the level whose nodes carry it
 * @param defaultNeed slots that a job takes when it does not say
 * @param limit slots on each node of the level
 * @param weight for the {@code busiest} worker selector
 */
public record Resource(int index, String name, int level, int defaultNeed, int limit, int weight) {}
