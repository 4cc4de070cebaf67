package io.espalier.core.api;

/**
 * A running task that holds slots of a resource on a node.
 *
 * @param resource its name
 * @param slots how many, at least 1
 * @param sinceMillis when it was started
 * @param expectedEndMillis by its own progress, else by how long tasks of its job took before; 0:
 *     unknown, also when it runs longer than any of them did
 */
public record ResourceHolder(
    String job,
    String node,
    String resource,
    int slots,
    long sinceMillis,
    long expectedEndMillis) {}
