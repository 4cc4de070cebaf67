package io.espalier.core.scheduling.query;

/**
 * The highest use of one resource so far.
 *
 * @param used slots in use on the fullest node; 0 when the resource was never used
 * @param limit slots of that node at that time
 * @param node its name; empty when the resource was never used
 */
public record PeakUsage(String level, String resource, int used, int limit, String node) {}
