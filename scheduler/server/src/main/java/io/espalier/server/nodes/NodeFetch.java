package io.espalier.server.nodes;

import io.espalier.core.config.Settings;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.Topology;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Where a {@link NodesPoller} has its nodes from: sources that are asked, and time. */
public interface NodeFetch {
  /**
   * @return no value if there is any error
   */
  Result<Topology> fetch(Settings settings, Instant now) throws InterruptedException;

  /**
   * Asks only the sources whose time has come.
   *
   * @return a value with errors: some sources failed, and the tree holds their last good nodes
   */
  default Result<Topology> refresh(Settings settings, Instant now) throws InterruptedException {
    return fetch(settings, now);
  }

  /**
   * The tree of another instant, without asking anybody; runs beside a refresh.
   *
   * @return null when there cannot be one yet
   */
  default @Nullable Result<Topology> advance(Settings settings, Instant now)
      throws InterruptedException {
    return null;
  }

  /** When a source wants to be asked; empty: after the usual time. */
  default Optional<Instant> nextFetch() {
    return Optional.empty();
  }

  /** When the tree changes of itself, counted from the latest one; empty: never. */
  default Optional<Instant> nextChange() {
    return Optional.empty();
  }

  /** Is run, on any thread, when {@link #nextFetch} or {@link #nextChange} became sooner. */
  default void onNews(Runnable listener) {}

  /** How the sources are doing, in their order. */
  default List<SourceState> sources() {
    return List.of();
  }

  /**
   * Lets held answers pass when they come again.
   *
   * @param mark of the answer; empty: all
   * @return how many there are
   */
  default int allow(String mark) {
    return 0;
  }

  /** Nothing will be fetched any more. */
  default void close() {}
}
