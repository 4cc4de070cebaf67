package io.espalier.core.status;

/** Identifies one task: a job and a node of its task level. */
public record TaskKey(String job, String node) {}
