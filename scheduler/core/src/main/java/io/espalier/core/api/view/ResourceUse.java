package io.espalier.core.api.view;

/**
 * What running tasks use of a resource, summed over the nodes of its level or over all workers.
 *
 * @param level name of the level
 * @param resource name of the resource
 * @param used slots in use; they may exceed the limit
 * @param limit slots that there are by the effective limits
 */
public record ResourceUse(String level, String resource, long used, long limit) {}
