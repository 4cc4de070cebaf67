package io.espalier.core.topology;

/** Whether the rows of a source are nodes, or values of nodes that a probe reads. */
public enum ProbeUse {
  /** The rows are nodes, and a probe can read their attributes as values. */
  POSSIBLE,
  /** The rows are values of nodes: the source is for probes only. */
  ONLY,
  /**
   * As {@link #ONLY}, and the source asks for the values of one node after the other: those that
   * {@link NodeLookup} has on level 1, below the instance.
   */
  PER_NODE
}
