package io.espalier.core.scheduling.index;

/** A condition on nodes other than free slots; part of {@code open(j, n)}. */
public interface NodeCondition {
  /** Returns the bits of the jobs that may start at the node. Must be a lookup, not a scan. */
  long mask(int node, int level, int word);
}
