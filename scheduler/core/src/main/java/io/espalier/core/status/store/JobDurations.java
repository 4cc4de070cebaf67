package io.espalier.core.status.store;

/**
 * How long the tasks of a job with windows have taken, so that after a restart none starts that
 * would not end in time (docs/windows.md#tasks-that-would-not-end-in-time). Each text is a
 * histogram: the number of a bucket and its count, in turn, separated by blanks.
 *
 * @param done of those that were done
 * @param stopped how long those had run that were killed because their window had ended
 */
public record JobDurations(String job, String done, String stopped) {}
