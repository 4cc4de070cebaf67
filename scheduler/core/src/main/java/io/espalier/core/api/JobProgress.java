package io.espalier.core.api;

/**
 * Counts of one job's tasks. {@code total} leaves out avoided and disabled tasks; {@code total =
 * done + failed + running + waiting + ready}.
 *
 * @param waiting in back-off
 * @param ready neither running, waiting nor ended
 * @param avoided excluded by filters
 * @param disabled on a disabled node
 */
public record JobProgress(
    String job,
    long total,
    long done,
    long failed,
    long running,
    long waiting,
    long ready,
    long avoided,
    long disabled) {}
