package io.espalier.core.scheduling.index;

/** Receives every node that the index evaluates. */
public interface NodeWatcher {
  /**
   * Receives the evaluation of a node for 64 jobs.
   *
   * @param wants the bits of the jobs that could start a task there or below, regardless of the
   *     slots of this node and those above
   */
  void evaluated(int node, int level, int word, long wants);
}
