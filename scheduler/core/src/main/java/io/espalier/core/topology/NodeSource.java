package io.espalier.core.topology;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Fetches nodes. A refresh runs the sources of a configuration in order, so that later sources can
 * add children to the nodes of earlier ones.
 *
 * <p>Contract: all or nothing. A source that could not read everything throws, because a silently
 * shortened node set would orphan running tasks. It is called by one thread at a time; it may
 * block, and must then respond to interruption. A source lives as long as its settings are in
 * force, so it may have state, provided that its results do not depend on how often it was called.
 */
public interface NodeSource {
  /**
   * Fetches all nodes.
   *
   * @param now time for which the nodes are requested
   * @throws NodeSourceException when the nodes cannot be delivered; explains why to the operator
   */
  void fetch(NodeLookup soFar, Instant now, NodeSink sink)
      throws NodeSourceException, InterruptedException;

  /**
   * Returns true when the nodes depend only on the preferences, the time and the nodes so far, and
   * nothing external is queried. Such a source is cheap, is called whenever a tree is built, and
   * its nodes may change by any amount.
   */
  default boolean isComputed() {
    return false;
  }

  /**
   * When the nodes of a computed source will next change by themselves: the first such time after
   * the given one. The tree is then rebuilt at exactly that time.
   */
  default Optional<Instant> nextChange(Instant after) throws InterruptedException {
    return Optional.empty();
  }

  /**
   * Returns whether the source may be shown only the parents that belong to a scheduler's
   * partition; then it must deliver the children of those it was shown.
   */
  default PushDown pushDown() {
    return PushDown.NONE;
  }

  /** Returns whether the source is for probes (docs/probes.md). */
  default ProbeUse probeUse() {
    return ProbeUse.POSSIBLE;
  }

  /** The time from a good answer to the next fetch; empty: as for all sources. */
  default Optional<Duration> refreshEvery() {
    return Optional.empty();
  }

  /**
   * Called once, before the first fetch. A source that detects changes by itself runs {@code
   * changed}, on any thread, and will soon be fetched again. This method must return quickly.
   */
  default void watch(Runnable changed) {}

  /** Releases connections when the source is no longer needed. No fetch is running. */
  default void close() {}
}
