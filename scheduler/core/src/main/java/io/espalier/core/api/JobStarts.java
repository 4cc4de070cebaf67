package io.espalier.core.api;

/**
 * The starts in flight of a job that bounds them.
 *
 * @param inFlight starts that are begun and not confirmed
 * @param window how many may be so now
 */
public record JobStarts(String job, int inFlight, int window) {}
