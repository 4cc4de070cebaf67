package io.espalier.core.scheduling.state;

import io.espalier.core.config.GroupRule;
import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.capacity.ConfiguredLimits;
import io.espalier.core.scheduling.capacity.HealthLimit;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.capacity.LimitFactors;
import io.espalier.core.scheduling.capacity.LimitTable;
import io.espalier.core.scheduling.group.RedundancyGroups;
import io.espalier.core.scheduling.worker.WorkerTable;
import io.espalier.core.status.store.LimitOverride;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Brings changed limits into effect in one state, in slices, because a level may have millions of
 * nodes: a queue of the ranges of nodes whose limits may differ from what they are to be. A node
 * keeps its limit until its turn comes, and is moved to the limit that is right then. So changes
 * may overlap, and a range that is queued in vain costs only time. Names are looked up when the
 * turn of a range comes.
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
    /** Null: it is not about a known resource. */
    final @Nullable Resource resource;

    /** The kind of groups of whose members health must be compared again; -1: none. */
    final int kind;

    /** The node whose override has changed; empty: the level; null: neither. */
    final @Nullable String changed;

    int next;
    int end;
    boolean begun;

    Range(@Nullable Resource resource, @Nullable String changed, int from, int end) {
      this.resource = resource;
      this.kind = -1;
      this.changed = changed;
      this.next = from;
      this.end = end;
    }

    Range(int kind, int from, int end) {
      this.resource = null;
      this.kind = kind;
      this.changed = null;
      this.next = from;
      this.end = end;
    }
  }

  LimitUpdater(SchedulingState state, LimitTable table) {
    this.state = state;
    this.table = table;
    waiting = new int[state.config().settings().resources().count()];
  }

  // ---- changes

  /** Queues what the table has, when this state begins to follow it. */
  void restore() {
    table.overrides().forEach(override -> changed(override.key()));
    factorsChanged(List.copyOf(table.factors()));
    table.health().forEach(this::healthChanged);
  }

  /** Queues the nodes for which what health leaves was set, changed or removed. */
  void healthChanged(HealthLimit changed) {
    Resource resource = state.config().settings().resources().find(changed.resource());
    RedundancyGroups groups = state.groups;
    int kind =
        resource != null || groups == null ? -1 : groups.members().kindOfLimit(changed.resource());
    int level = state.topology.levels().find(changed.level());
    int ofLimit =
        resource != null
            ? resource.level()
            : groups == null || kind < 0 ? -1 : groups.members().rules().get(kind).level();
    if (level < 0 || level != ofLimit || level == state.topology.levels().worker()) {
      return;
    }
    boolean isLevel = changed.node().isEmpty();
    int node = isLevel ? -1 : state.topology.find(level, changed.node());
    if (node < 0 && !isLevel) {
      return;
    }
    int from = isLevel ? state.topology.levelStart(level) : node;
    int end = isLevel ? state.topology.levelEnd(level) : node + 1;
    if (resource == null) {
      add(new Range(kind, from, end));
      return;
    }
    HealthLimit health = table.ownHealth(changed.resource(), changed.node());
    state.ledger.setHealth(resource.index(), node, health == null ? null : health.limit());
    add(new Range(resource, null, from, end));
  }

  /** Queues an override that was set, changed or ended. */
  void changed(LimitOverride.Key key) {
    Resource resource = state.config().settings().resources().find(key.resource());
    boolean isKnown =
        resource != null && state.topology.levels().find(key.level()) == resource.level();
    add(new Range(isKnown ? resource : null, key.node(), 0, 0));
  }

  /** Queues a changed limit of the level of a node resource, or of its nodes by configuration. */
  void changed(Resource resource) {
    add(new Range(resource, "", 0, 0));
  }

  /**
   * Queues the nodes that factors may concern.
   *
   * @param changed the factors that were set, changed or removed, as they were and as they are
   */
  void factorsChanged(List<LimitFactor> changed) {
    LimitFactors factors = state.ledger.factors();
    factors.set(table.factors());
    for (LimitFactor factor : changed) {
      factors.visit(factor, (resource, from, to) -> add(new Range(resource, null, from, to)));
    }
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
      if (range.kind >= 0) {
        done += members(range, Objects.requireNonNull(state.groups), units - done);
      } else if (resource == null) {
        dirty.remove();
        done++;
      } else if (resource.level() == state.topology.levels().worker()) {
        done += indexed ? worker(range, resource) : finish(resource, 1);
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

  /** Compares the health of members of groups; the groups close and open with it. */
  private int members(Range range, RedundancyGroups groups, int units) {
    GroupRule rule = groups.members().rules().get(range.kind);
    int done = 1;
    for (; range.next < range.end && done <= units; range.next++) {
      int member = groups.members().member(range.next, rule.level());
      boolean isChanged = groups.setWell(range.kind, member, isWell(rule, range.next));
      done += isChanged ? REFIT_UNITS : NODE_UNITS;
    }
    if (range.next == range.end) {
      dirty.remove();
    }
    return done;
  }

  private boolean isWell(GroupRule rule, int node) {
    HealthLimit health = table.healthOn(rule.limitName(), state.topology.name(node));
    return health == null || health.limit() > 0;
  }

  private int worker(Range range, Resource resource) {
    // Only an override is queued for workers: factors and health concern none.
    String shard = Objects.requireNonNull(range.changed);
    if (shard.isEmpty()) {
      if (range.next < state.pool.high()) {
        state.workers.put(range.next++);
        return WORKER_UNITS;
      }
    } else {
      boolean local = state.pool.mode() == WorkerTable.Mode.LOCAL;
      int worker = state.pool.find(local ? "" : shard);
      if (worker >= 0) {
        state.workers.put(worker);
      }
    }
    return finish(resource, WORKER_UNITS);
  }

  private int nodes(Range range, Resource resource, int units, boolean indexed) {
    int level = resource.level();
    int r = resource.index();
    if (range.changed != null && !range.changed.isEmpty()) {
      changeNode(range.changed, resource, indexed);
      return finish(resource, REFIT_UNITS);
    }
    if (range.changed != null && !range.begun) {
      if (!changeLevel(resource)) {
        return finish(resource, 1);
      }
      range.next = state.topology.levelStart(level);
      range.end = state.topology.levelEnd(level);
    }
    range.begun = true;
    int refitUnits = REFIT_UNITS + 4 * state.jobs.words;
    int done = 1;
    for (; range.next < range.end && done <= units; range.next++) {
      done += NODE_UNITS + (settle(range.next, level, r, indexed) ? refitUnits : 0);
    }
    return range.next == range.end ? finish(resource, done) : done;
  }

  private void changeNode(String name, Resource resource, boolean indexed) {
    int level = resource.level();
    int node = state.topology.find(level, name);
    if (node >= 0) {
      String levelName = state.topology.levels().name(level);
      LimitOverride override = table.ofNode(levelName, resource.name(), name);
      int r = resource.index();
      state.ledger.setLimitOfNode(r, node, override == null ? null : override.limit());
      settle(node, level, r, indexed);
    }
  }

  /** Returns whether the base of the level has changed. */
  private boolean changeLevel(Resource resource) {
    int r = resource.index();
    String level = state.topology.levels().name(resource.level());
    LimitOverride override = table.ofLevel(level, resource.name());
    ConfiguredLimits configured = state.nodeLimits();
    return override == null
        ? state.ledger.setLimitOfLevel(r, configured.ofLevel(r), configured.ofNodes(r))
        : state.ledger.setLimitOfLevel(r, override.limit(), null);
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
   * Compares the limits of all nodes, and the health of members of groups, with their expected
   * values, when no change is queued.
   *
   * @throws IllegalStateException with the first difference
   */
  public void check() {
    if (!dirty.isEmpty()) {
      return;
    }
    Levels levels = state.topology.levels();
    List<GroupRule> kinds = state.groups == null ? List.of() : state.groups.members().rules();
    for (int kind = 0; kind < kinds.size(); kind++) {
      checkMembers(Objects.requireNonNull(state.groups), kind, kinds.get(kind));
    }
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

  private void checkMembers(RedundancyGroups groups, int kind, GroupRule rule) {
    for (int node = state.topology.levelStart(rule.level());
        node < state.topology.levelEnd(rule.level());
        node++) {
      int member = groups.members().member(node, rule.level());
      if (groups.isWell(kind, member) != isWell(rule, node)) {
        throw new IllegalStateException("the health of node " + node + " is wrong in its group");
      }
    }
  }
}
