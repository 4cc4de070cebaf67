package io.espalier.core.api;

/**
 * Which tasks of a job.
 *
 * @param status label, or empty for all
 * @param nodePrefix or empty for all
 * @param after cursor of the previous page, or empty
 * @param limit at most this many, 1 to 1000
 */
public record TaskQuery(String job, String status, String nodePrefix, String after, int limit) {}
