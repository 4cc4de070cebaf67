package io.espalier.core.scheduling.state;

import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.capacity.ConfiguredLimits;
import io.espalier.core.scheduling.capacity.LimitOverrides;
import io.espalier.core.scheduling.capacity.NodeCapacity;
import io.espalier.core.scheduling.worker.WorkerTable;
import io.espalier.core.status.store.LimitOverride;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Applies changed limits to the counters of one state, one change after the other and in slices,
 * because a level may have millions of nodes. A node keeps its old limit until its turn comes.
 */
public final class LimitUpdater {
  private static final int NODE_UNITS = 4;

  /** The cost of refreshing a node in the index, without its words. */
  private static final int REFIT_UNITS = 16;

  private static final int WORKER_UNITS = 250;

  private final SchedulingState state;
  private final LimitOverrides overrides;
  private final Queue<LimitOverride.Key> waiting = new ArrayDeque<>();

  /** The next node or worker of the level that is being changed; -1: not begun. */
  private int next = -1;

  LimitUpdater(SchedulingState state, LimitOverrides overrides) {
    this.state = state;
    this.overrides = overrides;
  }

  /** Queues a limit that may have changed. */
  void changed(LimitOverride.Key key) {
    waiting.add(key);
  }

  public boolean isDone() {
    return waiting.isEmpty();
  }

  /**
   * Runs a slice.
   *
   * @param units about how many words of the index to touch
   * @param indexed whether the index exists and must be updated; otherwise workers are skipped,
   *     because they read their limits when they enter it
   * @return the number of units used
   */
  public int step(int units, boolean indexed) {
    int done = 0;
    while (done < units && !waiting.isEmpty()) {
      LimitOverride.Key key = waiting.element();
      Resource resource = find(key);
      if (resource == null) {
        waiting.remove();
        done++;
      } else if (resource.level() == state.topology.levels().worker()) {
        done += indexed ? worker(key) : skip();
      } else if (!key.node().isEmpty()) {
        done += node(key, resource, indexed);
      } else {
        done += level(key, resource, units - done, indexed);
      }
    }
    return done;
  }

  /** Returns the resource if it belongs to that level, or null. */
  private @Nullable Resource find(LimitOverride.Key key) {
    Resource resource = state.config().settings().resources().find(key.resource());
    return resource != null && state.topology.levels().find(key.level()) == resource.level()
        ? resource
        : null;
  }

  private int skip() {
    waiting.remove();
    return 1;
  }

  private int worker(LimitOverride.Key key) {
    if (key.node().isEmpty()) {
      next = Math.max(next, 0);
      if (next < state.pool.high()) {
        state.workers.put(next++);
        return WORKER_UNITS;
      }
      next = -1;
    } else {
      boolean local = state.pool.mode() == WorkerTable.Mode.LOCAL;
      int worker = state.pool.find(local ? "" : key.node());
      if (worker >= 0) {
        state.workers.put(worker);
      }
    }
    waiting.remove();
    return WORKER_UNITS;
  }

  private int node(LimitOverride.Key key, Resource resource, boolean indexed) {
    waiting.remove();
    int level = resource.level();
    int node = state.topology.find(level, key.node());
    if (node >= 0) {
      LimitOverride override = overrides.ofNode(key.level(), key.resource(), key.node());
      Integer limit = override == null ? null : Integer.valueOf(override.limit());
      boolean refit = state.ledger.setOwnLimit(node, level, resource.index(), limit);
      boolean held = indexed && state.limitChanged(node, level);
      if (indexed && (refit || held)) {
        state.index.refresh(node, level);
      }
    }
    return REFIT_UNITS;
  }

  private int level(LimitOverride.Key key, Resource resource, int units, boolean indexed) {
    int level = resource.level();
    NodeCapacity ledger = state.ledger;
    if (next < 0) {
      LimitOverride override = overrides.ofLevel(key.level(), key.resource());
      ConfiguredLimits configured = state.nodeLimits();
      int limit = override == null ? configured.ofLevel(resource.index()) : override.limit();
      int[] ofNodes = override == null ? configured.ofNodes(resource.index()) : null;
      if (ledger.hasLimits(resource.index(), limit, ofNodes)) {
        return skip();
      }
      next = state.topology.levelStart(level);
      ledger.beginShift(resource.index(), limit, ofNodes, next);
    }
    int end = state.topology.levelEnd(level);
    int refitUnits = REFIT_UNITS + 4 * state.jobs.words;
    int done = 1;
    for (; next < end && done <= units; next++) {
      done += NODE_UNITS;
      boolean refit = ledger.shift(next, level);
      boolean held = indexed && state.limitChanged(next, level);
      if (indexed && (refit || held)) {
        done += refitUnits;
        state.index.refresh(next, level);
      }
    }
    if (next == end) {
      ledger.endShift();
      waiting.remove();
      next = -1;
    }
    return done;
  }

  /**
   * Compares the limits of all nodes with their expected values.
   *
   * @throws IllegalStateException with the first difference
   */
  public void check() {
    if (!waiting.isEmpty()) {
      return;
    }
    Levels levels = state.topology.levels();
    for (Resource resource : state.config().settings().resources().all()) {
      int level = resource.level();
      for (int node = state.topology.levelStart(level);
          level != levels.worker() && node < state.topology.levelEnd(level);
          node++) {
        int limit =
            overrides.limit(
                levels.name(level),
                resource.name(),
                state.topology.name(node),
                state.nodeLimits().of(node, resource.index()));
        if (limit != state.ledger.limit(node, level, resource.index())) {
          throw new IllegalStateException(
              "the limit of " + resource.name() + " is wrong on node " + node);
        }
      }
    }
  }
}
