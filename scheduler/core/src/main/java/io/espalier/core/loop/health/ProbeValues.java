package io.espalier.core.loop.health;

import io.espalier.core.health.ProbeSpec;
import io.espalier.core.loop.health.ProbeAnswer.Sample;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The newest values of a probe, and how many of them count. What is counted changes with each
 * value, so that no value costs more than itself however many nodes there are.
 */
final class ProbeValues {
  final String level;
  final List<FollowingLimit.Link> links = new ArrayList<>();
  final long sinceMillis;
  ProbeSpec spec;
  long answeredMillis;
  String sourceProblem = "";
  String missing = "";
  boolean isBlind = true;

  private final Map<String, Value> byNode = new HashMap<>();
  private final List<Value> all = new ArrayList<>();
  private final PriorityQueue<Due> dues =
      new PriorityQueue<>(Comparator.comparingLong(Due::atMillis).thenComparing(Due::node));
  private Topology nodes;
  private int enabled;
  private long newestMillis = Long.MIN_VALUE / 2;
  private int fresh;
  private final Set<String> bad = new LinkedHashSet<>();

  /** How many enabled nodes have a value that is not too old. */
  private int known;

  /** All enabled nodes before this one have such a value. */
  private int firstMissing;

  /** The newest value of a node, and as what it is counted. */
  private static final class Value {
    Sample newest;
    boolean isFresh;
    boolean isKnown;

    /** When it is looked at because it may be too old; {@link Long#MAX_VALUE}: never. */
    long dueMillis = Long.MAX_VALUE;

    Value(Sample newest) {
      this.newest = newest;
    }
  }

  private record Due(long atMillis, String node) {}

  ProbeValues(ProbeSpec spec, String level, Topology nodes, long sinceMillis) {
    this.spec = spec;
    this.level = level;
    this.nodes = nodes;
    this.sinceMillis = sinceMillis;
  }

  /** Takes what is configured now; {@link #recount} must follow for each value. */
  void configured(ProbeSpec newest, Topology newNodes) {
    spec = newest;
    nodes = newNodes;
    links.clear();
    firstMissing = newNodes.levelStart(spec.level());
    enabled = 0;
    for (int node = firstMissing; node < newNodes.levelEnd(spec.level()); node++) {
      enabled += isEnabled(node) ? 1 : 0;
    }
  }

  private boolean isEnabled(int node) {
    for (int i = 0; i < nodes.slotCount(node); i++) {
      if (nodes.enabled(nodes.slot(node, i))) {
        return true;
      }
    }
    return false;
  }

  // ---- values

  /**
   * Takes a value of a node that exists; returns false if it is not newer than the last one. Of two
   * values that were sent within a millisecond the later one is newer; a source that shows the same
   * instant again shows the same value again.
   */
  boolean put(Sample sample, int node, long nowMillis) {
    Value value = byNode.get(sample.node());
    if (value == null) {
      value = new Value(sample);
      byNode.put(sample.node(), value);
      all.add(value);
    } else if (value.newest.atMillis() > sample.atMillis()
        || (value.newest.atMillis() == sample.atMillis() && !spec.isPushed())) {
      return false;
    }
    value.newest = sample;
    newestMillis = Math.max(newestMillis, sample.atMillis());
    count(value, node, nowMillis);
    return true;
  }

  /** Counts the last value of a node as it is to be counted now. */
  void recount(String name, int node, long nowMillis) {
    Value value = byNode.get(name);
    if (value != null) {
      count(value, node, nowMillis);
    }
  }

  private void count(Value value, int node, long nowMillis) {
    boolean isFresh = !isOld(value.newest.atMillis(), nowMillis);
    boolean isBad = isFresh && verdict(value.newest.value()) == SlotControl.Verdict.BAD;
    boolean isKnown = isFresh && node >= 0 && isEnabled(node);
    fresh += change(value.isFresh, isFresh);
    if (isBad) {
      bad.add(value.newest.node());
    } else {
      bad.remove(value.newest.node());
    }
    known += change(value.isKnown, isKnown);
    value.isFresh = isFresh;
    value.isKnown = isKnown;
    if (!isKnown && node >= 0) {
      firstMissing = Math.min(firstMissing, node);
    }
    long due = value.newest.atMillis() + ageMillis();
    if (isFresh && due < value.dueMillis) {
      value.dueMillis = due;
      dues.add(new Due(due, value.newest.node()));
    }
  }

  private static int change(boolean before, boolean after) {
    return (after ? 1 : 0) - (before ? 1 : 0);
  }

  /**
   * Removes the value at a place, because its node is gone; the last one takes its place.
   *
   * @return the name of the node
   */
  String remove(int place) {
    Value value = all.get(place);
    Value last = all.remove(all.size() - 1);
    if (last != value) {
      all.set(place, last);
    }
    fresh -= value.isFresh ? 1 : 0;
    bad.remove(value.newest.node());
    known -= value.isKnown ? 1 : 0;
    byNode.remove(value.newest.node());
    return value.newest.node();
  }

  /** Returns the node of a value that is too old now, for {@link #recount}; null: there is none. */
  @Nullable String nextOld(long nowMillis) {
    Due first = dues.peek();
    if (first == null || first.atMillis() > nowMillis) {
      return null;
    }
    dues.remove();
    Value value = byNode.get(first.node());
    if (value != null && value.dueMillis == first.atMillis()) {
      value.dueMillis = Long.MAX_VALUE;
    }
    return first.node();
  }

  /** When {@link #nextOld} has one next, or {@link #isEarly} ends. */
  long nextMillis(long nowMillis) {
    Due first = dues.peek();
    long next = first == null ? Long.MAX_VALUE : first.atMillis();
    return isEarly(nowMillis) ? Math.min(next, sinceMillis + ageMillis()) : next;
  }

  private long ageMillis() {
    return spec.maxAge().toMillis() + 1;
  }

  // ---- what is known

  /** Returns whether a value is still to come, because the probe is new. */
  boolean isEarly(long nowMillis) {
    return nowMillis < sinceMillis + ageMillis();
  }

  boolean isOld(long atMillis, long nowMillis) {
    return nowMillis - atMillis >= ageMillis();
  }

  /** Returns whether the newest value of all nodes is too old. */
  boolean isAllOld(long nowMillis) {
    return isOld(newestMillis, nowMillis);
  }

  SlotControl.Verdict verdict(double value) {
    return value > spec.badAbove()
        ? SlotControl.Verdict.BAD
        : value < spec.goodBelow() ? SlotControl.Verdict.GOOD : SlotControl.Verdict.BETWEEN;
  }

  /** Returns the newest value of a node; null: it has none. */
  @Nullable Sample newest(String node) {
    Value value = byNode.get(node);
    return value == null ? null : value.newest;
  }

  /** The number of nodes that have a value; their places are from 0. */
  int size() {
    return all.size();
  }

  Sample at(int place) {
    return all.get(place).newest;
  }

  int fresh() {
    return fresh;
  }

  /** The nodes whose newest value is bad, and not too old. */
  Set<String> bad() {
    return bad;
  }

  /** The number of nodes of the level. */
  int nodeCount() {
    return nodes.levelEnd(spec.level()) - nodes.levelStart(spec.level());
  }

  /** The number of enabled nodes without a value that is not too old. */
  int missing() {
    return Math.max(0, enabled - known);
  }

  /** Returns the first of them; empty: there is none. */
  String firstMissing() {
    for (; firstMissing < nodes.levelEnd(spec.level()); firstMissing++) {
      Value value = byNode.get(nodes.name(firstMissing));
      if ((value == null || !value.isFresh) && isEnabled(firstMissing)) {
        return nodes.name(firstMissing);
      }
    }
    return "";
  }
}
