package io.espalier.core.topology;

import java.time.Instant;

/**
 * Fetches nodes. One refresh runs the sources of a configuration in order, so that later sources
 * can hang their nodes under those of earlier ones.
 *
 * <p>Contract: all or nothing. A source that could not read everything throws, because a silently
 * shortened node set would orphan running tasks. Called by one thread at a time; may block, and
 * then honours interruption.
 */
public interface NodeSource {
  /**
   * @param now the instant the nodes are wanted for
   * @throws NodeSourceException what went wrong, in words for the operator
   */
  void fetch(NodesSoFar soFar, Instant now, NodeSink sink)
      throws NodeSourceException, InterruptedException;
}
