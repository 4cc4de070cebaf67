package io.espalier.server.nodes;

import io.espalier.core.config.Settings;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.Topology;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes the tree in force. It accepts fetched trees and trees changed by time, keeps the last
 * good tree when there is none, and notifies the listener of each new one. The time of the tree
 * never goes back, whichever of the two arrives later.
 *
 * <p>Thread-safe; the listener is called on the calling thread, one snapshot at a time.
 */
final class NodePublisher {
  /** Receives the time of the next necessary update; called while a tree is published. */
  interface Timing {
    /** A fetch has ended. */
    void fetched(boolean failing);

    /**
     * The tree changes next by itself.
     *
     * @param at null: never, as far as is known
     */
    void changes(@Nullable Instant at);

    /** The tree could not be brought up to date. */
    void tryAgain();
  }

  private static final Logger LOG = LoggerFactory.getLogger(NodesPoller.class);

  private static final Duration REPEATED_EVERY = Duration.ofMinutes(1);

  private final NodeFetch fetcher;
  private final Consumer<NodeSnapshot> listener;
  private final Timing timing;

  /** Locked while a tree is published. */
  private final Object publishing = new Object();

  /** The instant of the newest tree; guarded by {@link #publishing}. */
  private Instant newest = Instant.MIN;

  private volatile NodesState state = NodesState.NONE;

  /** When the log was last told of a failure; guarded by {@link #publishing}. */
  private Instant told = Instant.MIN;

  /**
   * @param fetcher brings trees up to date
   * @param listener must not block for long
   */
  NodePublisher(NodeFetch fetcher, Consumer<NodeSnapshot> listener, Timing timing) {
    this.fetcher = fetcher;
    this.listener = listener;
    this.timing = timing;
  }

  /** Returns the current state of the nodes. */
  NodesState state() {
    return state;
  }

  /**
   * Publishes the result of a fetch. If a newer tree was published during a long fetch, the fetched
   * tree is brought up to the time of that tree.
   *
   * @param now the instant for which the nodes were fetched
   * @return true when the listener received a new snapshot
   */
  boolean fetched(Result<Topology> result, Settings wanted, Instant now)
      throws InterruptedException {
    synchronized (publishing) {
      boolean overtaken = result.value() != null && newest.isAfter(now) && ticking(wanted);
      Result<Topology> advanced = overtaken ? fetcher.advance(wanted, newest) : null;
      if (advanced != null && advanced.value() != null) {
        return publish(advanced, wanted, newest);
      }
      return publish(result, wanted, now);
    }
  }

  private boolean ticking(Settings wanted) {
    NodeSnapshot snapshot = state.snapshot();
    return snapshot != null && snapshot.nodesHash().equals(wanted.nodesHash());
  }

  private boolean publish(Result<Topology> result, Settings wanted, Instant now) {
    Topology topology = result.value();
    NodesState before = state;
    boolean failing = result.hasErrors() || topology == null;
    timing.fetched(failing);
    if (topology == null) {
      state = new NodesState(before.snapshot(), before.confirmedAt(), true, result.problems());
      logFailure(before, now);
      return false;
    }
    newest = now;
    NodeSnapshot old = before.snapshot();
    NodeSnapshot snapshot = old;
    boolean same = old != null && old.topology().equals(topology);
    boolean news = old == null || !same || !old.nodesHash().equals(wanted.nodesHash());
    if (news || snapshot == null) {
      // Equal trees stay one object, which saves memory and makes comparisons fast.
      Topology kept = old != null && same ? old.topology() : topology;
      snapshot = new NodeSnapshot(kept, wanted.nodesHash(), now);
    }
    Instant confirmed = failing && old != null ? before.confirmedAt() : now;
    state = new NodesState(snapshot, confirmed, failing, result.problems());
    timing.changes(fetcher.nextChange().orElse(null));
    if (failing) {
      logFailure(before, now);
    } else if (before.failing()) {
      LOG.info("The nodes can be fetched again");
    }
    if (news) {
      LOG.info("Fetched {} nodes", topology.size());
      if (!failing) {
        logWarnings(result.problems(), before.problems());
      }
      tell(snapshot, before);
    }
    return news;
  }

  /**
   * Brings the tree up to an instant without a fetch: computed nodes appear and disappear.
   *
   * @param wanted the newest settings; null: none yet
   * @return true when the listener received a new snapshot
   */
  boolean tick(@Nullable Settings wanted, Instant now) throws InterruptedException {
    synchronized (publishing) {
      NodesState before = state;
      if (wanted == null || !ticking(wanted) || now.isBefore(newest)) {
        timing.changes(null);
        return false;
      }
      Result<Topology> result;
      try {
        result = fetcher.advance(wanted, now);
      } catch (RuntimeException e) {
        LOG.error("Bringing the nodes up to date failed unexpectedly", e);
        result = null;
      }
      Topology topology = result == null ? null : result.value();
      NodeSnapshot old = before.snapshot();
      if (topology == null || old == null) {
        LOG.warn(
            "The nodes cannot be brought up to date{}",
            result == null ? "" : lines(result.problems()));
        timing.tryAgain();
        return false;
      }
      newest = now;
      timing.changes(fetcher.nextChange().orElse(null));
      if (old.topology().equals(topology)) {
        return false;
      }
      NodeSnapshot snapshot = new NodeSnapshot(topology, old.nodesHash(), now);
      state = new NodesState(snapshot, before.confirmedAt(), before.failing(), before.problems());
      LOG.debug("{} nodes since {}", topology.size(), now);
      tell(snapshot, before);
      return true;
    }
  }

  private void tell(NodeSnapshot snapshot, NodesState before) {
    try {
      listener.accept(snapshot);
    } catch (RuntimeException e) {
      // The listener did not accept the snapshot, so the next refresh must offer it again.
      state = before;
      throw e;
    }
  }

  /** A failure that lasts is retried twice a second, and the log must not grow with it. */
  private void logFailure(NodesState before, Instant at) {
    NodesState now = state;
    NodeSnapshot kept = now.snapshot();
    String consequence =
        kept == null ? "there are none yet" : "those of " + now.confirmedAt() + " stay in force";
    if (before.failing() && before.problems().equals(now.problems())) {
      if (at.isBefore(told.plus(REPEATED_EVERY))) {
        return;
      }
      LOG.warn("The nodes still cannot be fetched, {}", consequence);
    } else {
      LOG.error("The nodes cannot be fetched, {}:{}", consequence, lines(now.problems()));
    }
    told = at;
  }

  private static void logWarnings(List<Problem> problems, List<Problem> known) {
    if (!problems.isEmpty() && !problems.equals(known)) {
      LOG.warn("The node sources have warnings:{}", lines(problems));
    }
  }

  private static String lines(List<Problem> problems) {
    StringBuilder out = new StringBuilder();
    problems.forEach(problem -> out.append("\n  ").append(problem));
    return out.toString();
  }
}
