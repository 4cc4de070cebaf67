package io.espalier.core.scheduling;

/** The numbers that jobs and nodes have after a change of the configuration or of the nodes. */
interface Renumbering {
  /** The new number of an old job whose statuses are kept, or -1. */
  int newJob(int oldJob);

  /** The new number of an old node, or -1. */
  int newNode(int oldNode);
}
