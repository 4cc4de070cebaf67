package io.espalier.core.scheduling.index;

/** A condition on nodes beside free slots, part of {@code open(j, n)}. */
public interface NodeCondition {
  /** Bits of the jobs that the node lets start. Looked up, never computed by scanning. */
  long mask(int node, int level, int word);
}
