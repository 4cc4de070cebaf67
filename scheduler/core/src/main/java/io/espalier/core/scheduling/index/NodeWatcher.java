package io.espalier.core.scheduling.index;

/** Told of every node that the index evaluates. */
public interface NodeWatcher {
  /**
   * The index evaluates a node for 64 jobs.
   *
   * @param wants bits of the jobs that would start something there or below, slots of this node and
   *     those above aside
   */
  void evaluated(int node, int level, int word, long wants);
}
