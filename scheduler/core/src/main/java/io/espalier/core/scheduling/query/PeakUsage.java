package io.espalier.core.scheduling.query;

/**
 * The peak usage of one resource.
 *
 * @param used the slots in use on the fullest node; 0 when the resource was never used
 * @param limit the limit of that node at that time
 * @param node the name of the node; empty when the resource was never used
 */
public record PeakUsage(String level, String resource, int used, int limit, String node) {}
