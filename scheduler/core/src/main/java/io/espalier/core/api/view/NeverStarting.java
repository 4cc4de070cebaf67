package io.espalier.core.api.view;

/**
 * The tasks of a job that can never start because of the limits of their nodes.
 *
 * @param tasks how many; estimated where the job has too many tasks to examine all of them
 * @param reason a clause that says why, for people: of most of them, if not all have the same
 */
public record NeverStarting(long tasks, String reason) {}
