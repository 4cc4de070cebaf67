package io.espalier.core.scheduling.job;

/** Maps the numbers of jobs and nodes before an update to their numbers after it. */
public interface Renumbering {
  /** Returns the new number of an old job whose statuses are kept, or -1. */
  int newJob(int oldJob);

  /** Returns the new number of an old node, or -1. */
  int newNode(int oldNode);
}
