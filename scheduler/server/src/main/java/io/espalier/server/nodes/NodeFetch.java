package io.espalier.server.nodes;

import io.espalier.core.config.Settings;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.Topology;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Supplies the nodes of a {@link NodesPoller}, which change by fetches and over time. */
public interface NodeFetch {
  /**
   * @return no value if there is any error
   */
  Result<Topology> fetch(Settings settings, Instant now) throws InterruptedException;

  /**
   * Fetches only the sources that are due.
   *
   * @return a value with errors: some sources failed, and the tree contains their last good nodes
   */
  default Result<Topology> refresh(Settings settings, Instant now) throws InterruptedException {
    return fetch(settings, now);
  }

  /**
   * Returns the tree of another instant without a fetch. May run concurrently with a refresh.
   *
   * @return null when there cannot be one yet
   */
  default @Nullable Result<Topology> advance(Settings settings, Instant now)
      throws InterruptedException {
    return null;
  }

  /** Returns when the next source is due; empty: after the default time. */
  default Optional<Instant> nextFetch() {
    return Optional.empty();
  }

  /** Returns when the tree changes by itself, counted from the latest tree; empty: never. */
  default Optional<Instant> nextChange() {
    return Optional.empty();
  }

  /**
   * Sets a callback that runs, on any thread, when {@link #nextFetch} or {@link #nextChange} became
   * sooner.
   */
  default void onNews(Runnable listener) {}

  /** Returns the state of the sources, in order. */
  default List<SourceState> sources() {
    return List.of();
  }

  /**
   * Lets quarantined answers pass when they come again.
   *
   * @param mark of the answer; empty: all
   * @return the number of such answers
   */
  default int allow(String mark) {
    return 0;
  }

  /** Closes the sources; nothing is fetched afterwards. */
  default void close() {}
}
