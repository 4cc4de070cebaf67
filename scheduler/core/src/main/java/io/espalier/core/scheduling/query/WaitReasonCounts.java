package io.espalier.core.scheduling.query;

import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.api.view.WaitingReasons;
import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Accumulates the waiting tasks of one job by reason. There are few groups: not one per node. */
final class WaitReasonCounts {
  private static final int SAMPLES = 5;

  private final Topology topology;
  private final boolean isTree;
  private final Map<Key, Group> groups = new LinkedHashMap<>();

  /**
   * @param kind null: no reason, the task may start
   * @param which the number of the resource or dependency
   * @param never whether the limit, and not what is in use, is in the way
   */
  private record Key(@Nullable Kind kind, int which, boolean never) {}

  /** The tasks with one reason. */
  static final class Group {
    private final @Nullable Kind kind;
    private final int resource;
    private final String message;
    private final boolean never;
    private final List<Integer> samples = new ArrayList<>();
    private int firstBlocking = -1;
    private int lastBlocking = -1;
    private int blocking;
    long count;
    private long untilMillis;

    Group(@Nullable Kind kind, int resource, String message, boolean never) {
      this.never = never;
      this.kind = kind;
      this.resource = resource;
      this.message = message;
    }

    /**
     * @param blockNode the node that blocks the task, -1: none
     */
    void add(int node, int blockNode) {
      count++;
      if (blockNode != lastBlocking && blockNode >= 0) {
        lastBlocking = blockNode;
        firstBlocking = blocking++ == 0 ? blockNode : firstBlocking;
      }
      sample(node);
    }

    /** Sets the time when the wait ends, if it is earlier than before; 0: unknown. */
    Group until(long millis) {
      untilMillis = untilMillis == 0 ? millis : Math.min(untilMillis, millis);
      return this;
    }

    void sample(int node) {
      if (!hasSamples()) {
        samples.add(node);
      }
    }

    boolean hasSamples() {
      return samples.size() == SAMPLES;
    }

    /** Returns the kind as in {@link WaitingReasons.Group}. */
    String word() {
      return kind == null ? WaitingReasons.STARTABLE : kind.name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * @param isTree whether tasks arrive node by node, so that blocking nodes can be counted
   */
  WaitReasonCounts(Topology topology, boolean isTree) {
    this.topology = topology;
    this.isTree = isTree;
  }

  Group of(Kind kind, int which, String message) {
    return group(new Key(kind, which, false), -1, message);
  }

  Group startable() {
    return group(
        new Key(null, -1, false), -1, "nothing is in the way: they start in the next rounds");
  }

  /**
   * @param never whether the limit of the node is smaller than the need, also without what health
   *     and factors have lowered
   */
  Group ofResource(int resource, boolean never) {
    return group(new Key(Kind.RESOURCE, resource, never), resource, "");
  }

  private Group group(Key key, int resource, String message) {
    Group known = groups.get(key);
    if (known == null) {
      known = new Group(key.kind(), resource, message, key.never());
      groups.put(key, known);
    }
    return known;
  }

  List<WaitingReasons.Group> largest(int limit, SchedulingState state, int job) {
    return groups.values().stream()
        .filter(group -> group.count > 0)
        .sorted(Comparator.comparingLong((Group g) -> g.count).reversed())
        .limit(limit)
        .map(group -> shown(group, state, job))
        .toList();
  }

  private WaitingReasons.Group shown(Group group, SchedulingState state, int job) {
    boolean isOne = group.blocking == 1;
    return new WaitingReasons.Group(
        group.word(),
        isOne ? topology.name(group.firstBlocking) : null,
        group.resource < 0 ? null : resource(state, group.resource).name(),
        group.count,
        group.resource < 0
            ? group.message
            : message(group, state, job)
                + state
                    .neverFits()
                    .words(
                        state.bounds::largest,
                        state.jobs.name(job),
                        resource(state, group.resource)),
        group.never,
        group.untilMillis,
        group.samples.stream().map(topology::name).distinct().toList());
  }

  private static Resource resource(SchedulingState state, int number) {
    return state.config().settings().resources().get(number);
  }

  private String message(Group group, SchedulingState state, int job) {
    Resource resource = resource(state, group.resource);
    int node = group.firstBlocking;
    int need = state.jobs.needs[job][group.resource];
    String text = "needs " + need + " of " + resource.name() + ", ";
    if (group.blocking == 1) {
      int free = state.ledger.free(node, resource.level(), resource.index());
      int limit = state.ledger.limit(node, resource.index());
      String name = topology.name(node);
      return text
          + LimitMessages.free(free, limit)
          + " on "
          + name
          + LimitMessages.never(state, need, limit, resource)
          + LimitMessages.on(state, node, resource);
    }
    return text
        + (group.never ? "which the limit does not allow on " : "too few are free on ")
        + (isTree ? group.blocking + " nodes" : "several nodes")
        + " of level "
        + topology.levels().name(resource.level())
        + (need <= state.bounds.largest(resource)
            ? group.never ? ": they can never start while it is so" : ""
            : "; none there has more than "
                + state.bounds.largest(resource)
                + ": they can never start");
  }
}
