package io.espalier.core.scheduling.job;

/** The numbers that jobs and nodes have after a change of the configuration or of the nodes. */
public interface Renumbering {
  /** The new number of an old job whose statuses are kept, or -1. */
  int newJob(int oldJob);

  /** The new number of an old node, or -1. */
  int newNode(int oldNode);
}
