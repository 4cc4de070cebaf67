package io.espalier.core.config;

/**
 * The rule of a set of jobs.
 *
 * @param failWhenFailedJobs number of failed jobs at which the other jobs of the set fail too; 0:
 *     never
 */
public record SetRule(int failWhenFailedJobs) {}
