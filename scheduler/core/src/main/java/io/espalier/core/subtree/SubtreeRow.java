package io.espalier.core.subtree;

/**
 * Which scheduler has a subtree, in the store that all schedulers share. A subtree without a row
 * belongs to the scheduler that the hash of its name gives.
 *
 * @param name of the node directly under the instance
 * @param owner number of the scheduler
 * @param taken false: the one before has let go, and its statuses wait for the owner
 */
public record SubtreeRow(String name, int owner, boolean taken) {}
