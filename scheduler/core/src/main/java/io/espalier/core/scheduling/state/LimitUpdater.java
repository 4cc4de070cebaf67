package io.espalier.core.scheduling.state;

import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.capacity.LimitTable;
import io.espalier.core.scheduling.worker.WorkerTable;
import io.espalier.core.status.LimitOverride;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Brings changed limits into effect in one state, in slices, because a level may have millions of
 * nodes: a queue of the ranges of nodes whose limits may differ from what they are to be. A node
 * keeps its limit until its turn comes, and goes to the one that is right at that moment. So
 * changes may overlap, and a range that is queued in vain costs only time.
 */
public final class LimitUpdater {
  private static final int NODE_UNITS = 4;

  /** The cost of refreshing a node in the index, without its words. */
  private static final int REFIT_UNITS = 16;

  private static final int WORKER_UNITS = 250;

  private final SchedulingState state;
  private final LimitTable table;
  private final Queue<Range> dirty = new ArrayDeque<>();

  /** By resource: the number of its ranges in the queue. */
  private final int[] waiting;

  /** Nodes, or workers, whose limit of one resource must be compared again. */
  private static final class Range {
    /** Null: the resource is not known, so there is nothing to do. */
    final @Nullable Resource resource;

    /** Whether the change named one node or worker, which may be unknown. */
    final boolean isOfNode;

    final int end;
    int next;
    boolean begun;

    Range(@Nullable Resource resource, int from, int end, boolean isOfNode) {
      this.resource = resource;
      this.next = from;
      this.end = end;
      this.isOfNode = isOfNode;
    }
  }

  LimitUpdater(SchedulingState state, LimitTable table) {
    this.state = state;
    this.table = table;
    waiting = new int[state.config().settings().resources().count()];
  }

  // ---- changes

  /** Reads all overrides and factors, when this state begins to follow the table. */
  void restore() {
    table.all().forEach(override -> changed(override.key()));
    factorsChanged();
    table.factors().forEach(this::changed);
  }

  /** Handles an override that was set, changed or ended. */
  void changed(LimitOverride.Key key) {
    Resource resource = state.config().settings().resources().find(key.resource());
    if (resource == null || state.topology.levels().find(key.level()) != resource.level()) {
      add(new Range(null, 0, 0, true));
    } else if (resource.level() == state.topology.levels().worker()) {
      addWorkers(resource, key.node());
    } else if (key.node().isEmpty()) {
      changed(resource);
    } else {
      int node = state.topology.find(resource.level(), key.node());
      LimitOverride override = table.ofNode(key.level(), key.resource(), key.node());
      if (node >= 0) {
        state.ledger.setLimitOfNode(
            resource.index(), node, override == null ? null : override.limit());
      }
      add(new Range(resource, node, node < 0 ? node : node + 1, true));
    }
  }

  private void addWorkers(Resource resource, String shard) {
    if (shard.isEmpty()) {
      add(new Range(resource, 0, Integer.MAX_VALUE, false));
      return;
    }
    boolean local = state.pool.mode() == WorkerTable.Mode.LOCAL;
    int worker = state.pool.find(local ? "" : shard);
    add(new Range(resource, worker, worker < 0 ? worker : worker + 1, true));
  }

  /** Handles a changed limit of the level of a node resource, or of its nodes by configuration. */
  void changed(Resource resource) {
    int level = resource.level();
    LimitOverride override = table.ofLevel(state.topology.levels().name(level), resource.name());
    int r = resource.index();
    state.ledger.setLimitOfLevel(
        r,
        override == null ? state.nodeLimits().ofLevel(r) : override.limit(),
        override == null ? state.nodeLimits().ofNodes(r) : null);
    add(resource, state.topology.levelStart(level), state.topology.levelEnd(level));
  }

  /** Handles factors that were set, changed or removed; {@link #changed} must follow for each. */
  void factorsChanged() {
    state.ledger.factors().set(table.factors());
  }

  /** Queues the nodes that a factor may concern. */
  void changed(LimitFactor factor) {
    state
        .ledger
        .factors()
        .visit(
            factor,
            (r, from, to) -> add(state.config().settings().resources().get(r), from, to));
  }

  private void add(Resource resource, int from, int to) {
    add(new Range(resource, from, to, false));
  }

  private void add(Range range) {
    dirty.add(range);
    if (range.resource != null) {
      waiting[range.resource.index()]++;
    }
  }

  // ---- slices

  public boolean isDone() {
    return dirty.isEmpty();
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
    while (done < units && !dirty.isEmpty()) {
      Range range = dirty.element();
      Resource resource = range.resource;
      if (resource == null) {
        dirty.remove();
        done++;
      } else if (resource.level() == state.topology.levels().worker()) {
        done += indexed ? worker(range) : finish(resource, 1);
      } else {
        done += nodes(range, resource, units - done, indexed);
      }
    }
    return done;
  }

  private int finish(Resource resource, int units) {
    dirty.remove();
    int r = resource.index();
    if (--waiting[r] == 0 && resource.level() != state.topology.levels().worker()) {
      state.ledger.settled(r);
    }
    return units;
  }

  private int worker(Range range) {
    boolean isThere = range.next >= 0 && range.next < Math.min(range.end, state.pool.high());
    if (isThere) {
      state.workers.put(range.next++);
    }
    if ((range.isOfNode || !isThere) && range.resource != null) {
      finish(range.resource, 0);
    }
    return WORKER_UNITS;
  }

  private int nodes(Range range, Resource resource, int units, boolean indexed) {
    int level = resource.level();
    int r = resource.index();
    if (range.isOfNode) {
      if (range.next >= 0) {
        settle(range.next, level, r, indexed);
      }
      return finish(resource, REFIT_UNITS);
    }
    if (!range.begun && state.ledger.isSettled(r)) {
      return finish(resource, 1);
    }
    range.begun = true;
    int refitUnits = REFIT_UNITS + 4 * state.jobs.words;
    int done = 1;
    for (; range.next < range.end && done <= units; range.next++) {
      done += NODE_UNITS + (settle(range.next, level, r, indexed) ? refitUnits : 0);
    }
    return range.next == range.end ? finish(resource, done) : done;
  }

  /** Returns whether the index had to be updated. */
  private boolean settle(int node, int level, int resource, boolean indexed) {
    boolean refit = state.ledger.settle(node, level, resource);
    boolean held = indexed && state.limitChanged(node, level);
    if (indexed && (refit || held)) {
      state.index.refresh(node, level);
      return true;
    }
    return false;
  }

  /**
   * Compares the limits of all nodes with their expected values, when no change is queued.
   *
   * @throws IllegalStateException with the first difference
   */
  public void check() {
    if (!dirty.isEmpty()) {
      return;
    }
    Levels levels = state.topology.levels();
    for (Resource resource : state.config().settings().resources().all()) {
      int level = resource.level();
      for (int node = state.topology.levelStart(level);
          level != levels.worker() && node < state.topology.levelEnd(level);
          node++) {
        int base =
            table.limit(
                levels.name(level),
                resource.name(),
                state.topology.name(node),
                state.nodeLimits().of(node, resource.index()));
        if (!state.ledger.isRight(node, resource.index(), base)) {
          throw new IllegalStateException(
              "the limit of " + resource.name() + " is wrong on node " + node);
        }
      }
    }
  }
}
