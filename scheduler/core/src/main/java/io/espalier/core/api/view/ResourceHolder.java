package io.espalier.core.api.view;

/**
 * A running task that uses slots of a resource on a node.
 *
 * @param resource name of the resource
 * @param slots number of slots, at least 1
 * @param sinceMillis start time
 * @param expectedEndMillis expected end by its own progress, otherwise by the durations of earlier
 *     tasks of its job; 0: unknown, also when it already runs longer than any of them
 */
public record ResourceHolder(
    String job,
    String node,
    String resource,
    int slots,
    long sinceMillis,
    long expectedEndMillis) {}
