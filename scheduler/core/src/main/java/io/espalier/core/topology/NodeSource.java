package io.espalier.core.topology;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Fetches nodes. One refresh runs the sources of a configuration in order, so that later sources
 * can hang their nodes under those of earlier ones.
 *
 * <p>Contract: all or nothing. A source that could not read everything throws, because a silently
 * shortened node set would orphan running tasks. Called by one thread at a time; may block, and
 * then honours interruption. It lives as long as its settings are in force, so it may remember
 * things, as long as its answer does not depend on how often it was asked.
 */
public interface NodeSource {
  /**
   * @param now the instant the nodes are wanted for
   * @throws NodeSourceException what went wrong, in words for the operator
   */
  void fetch(NodeLookup soFar, Instant now, NodeSink sink)
      throws NodeSourceException, InterruptedException;

  /**
   * Whether the nodes follow from the preferences, the instant and the nodes so far, and nothing
   * outside is asked. Such a source is cheap, is asked whenever a tree is made, and may change as
   * much as it likes.
   */
  default boolean isComputed() {
    return false;
  }

  /**
   * When the nodes are going to change of themselves: the first instant after the given one, for
   * computed sources. The tree is then made anew at exactly that time.
   */
  default Optional<Instant> nextChange(Instant after) throws InterruptedException {
    return Optional.empty();
  }

  /** The time from a good answer to the next question; empty: as for all sources. */
  default Optional<Duration> refreshEvery() {
    return Optional.empty();
  }

  /**
   * Called once, before the first fetch. A source that learns of changes by itself runs {@code
   * changed}, on any thread, and will be asked anew soon; it must be quick to return.
   */
  default void watch(Runnable changed) {}

  /** The source is not needed any more: connections are given back. No fetch is under way. */
  default void close() {}
}
