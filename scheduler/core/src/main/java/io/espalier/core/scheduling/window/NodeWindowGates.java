package io.espalier.core.scheduling.window;

import io.espalier.core.api.view.WindowView;
import io.espalier.core.config.Config;
import io.espalier.core.config.NodeLimitRule;
import io.espalier.core.config.NodeWindowRule;
import io.espalier.core.config.window.OpenTimes;
import io.espalier.core.config.window.OpenTimes.Opening;
import io.espalier.core.config.window.Schedule;
import io.espalier.core.config.window.Window;
import io.espalier.core.config.window.WindowSyntaxException;
import io.espalier.core.json.Json;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.text.ShortText;
import io.espalier.core.topology.Topology;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Closes nodes outside of their windows (docs/adr/0070-windows.md). Nodes of a level with the same
 * windows form a group, which has one timer. All work is done in slices. Nothing may start while
 * {@link #step} has left some, because a node may still be open that is to be closed. For one
 * thread.
 */
public final class NodeWindowGates {
  private static final int NODES_PER_STEP = 2_000;
  private static final int MOST_SHOWN = 80;

  private final SchedulingCore core;
  private final Map<Key, Group> groups = new LinkedHashMap<>();
  private final ArrayDeque<Group> changed = new ArrayDeque<>();

  /** Closed nodes that are in no closed group, as far as is known. */
  private final Map<Scope, Gate> stale = new LinkedHashMap<>();

  private @Nullable Config config;
  private @Nullable Topology topology;
  private int level;
  private int node;
  private boolean isGrouped = true;
  private long next = Long.MAX_VALUE;
  private String broken = "";
  private int brokenCount;

  /**
   * What the nodes of a group have in common.
   *
   * @param brokenAttribute the attribute that has no windows; empty: there is a schedule
   */
  private record Key(int level, Schedule schedule, String brokenAttribute) {}

  private static final class Group {
    final Key key;
    final OpenTimes times;
    final List<Integer> nodes = new ArrayList<>();
    boolean isClosed;
    boolean isKnown;
    boolean isQueued;
    long since;
    long changes = Long.MAX_VALUE;
    int applied;

    Group(Key key) {
      this.key = key;
      times = new OpenTimes(List.of(key.schedule));
    }
  }

  public NodeWindowGates(SchedulingCore core) {
    this.core = core;
  }

  /**
   * Does a slice of what is due.
   *
   * @return whether windows of a group have opened or closed, or something else is to be shown
   */
  @SuppressWarnings("ReferenceEquality") // Each configuration and topology is a new object.
  public boolean step(long nowMillis) {
    if (config != core.config() || topology != core.topology()) {
      begin(core.config(), core.topology());
    }
    if (!isGrouped) {
      group();
      if (!isGrouped) {
        return false;
      }
      next = 0;
    }
    boolean isNew = nowMillis >= next;
    if (isNew) {
      update(nowMillis);
    }
    apply(nowMillis);
    return isNew;
  }

  /** Returns whether {@link #step} must be called again before anything starts. */
  public boolean isBehind() {
    return !isGrouped || !changed.isEmpty() || !stale.isEmpty();
  }

  /** Returns when the next window opens or closes; {@link Long#MAX_VALUE}: never. */
  public long nextMillis() {
    return next;
  }

  /** Returns when the first closed group opens; {@link Long#MAX_VALUE}: none does. */
  public long opensMillis() {
    return groups.values().stream()
        .filter(group -> group.isClosed)
        .mapToLong(group -> group.changes)
        .min()
        .orElse(Long.MAX_VALUE);
  }

  /** Returns which nodes have broken windows; null: none. */
  public @Nullable String problem() {
    return brokenCount == 0
        ? null
        : "nothing starts on "
            + brokenCount
            + (brokenCount == 1 ? " node, whose" : " nodes, whose")
            + " attribute has no windows: "
            + broken;
  }

  @SuppressWarnings("ReferenceEquality") // Each topology is a new object.
  private void begin(Config current, Topology nodes) {
    boolean isSame =
        config != null
            && topology == nodes
            && config.settings().nodeWindows().equals(current.settings().nodeWindows());
    if (isSame) {
      config = current;
      return;
    }
    boolean isUsed = !current.settings().nodeWindows().isEmpty() || !groups.isEmpty();
    config = current;
    topology = nodes;
    if (!isUsed) {
      return;
    }
    groups.clear();
    changed.clear();
    stale.clear();
    core.gates(GateKind.NODE_WINDOW).forEach(gate -> stale.put(gate.scope(), gate));
    level = 0;
    node = nodes.levelStart(0);
    broken = "";
    brokenCount = 0;
    isGrouped = false;
  }

  // ---- groups

  private void group() {
    Topology nodes = core.topology();
    Map<String, Key> ofTexts = new HashMap<>();
    int left = NODES_PER_STEP;
    while (level < nodes.levels().worker()) {
      List<NodeWindowRule> rules = rules(level);
      int end = rules.isEmpty() ? node : nodes.levelEnd(level);
      for (; node < end && left > 0; node++, left--) {
        Key key = key(rules, nodes, node, ofTexts);
        if (key != null) {
          groups.computeIfAbsent(key, Group::new).nodes.add(node);
        }
      }
      if (node < end) {
        return;
      }
      level++;
      node = level < nodes.levels().worker() ? nodes.levelStart(level) : 0;
    }
    isGrouped = true;
  }

  private List<NodeWindowRule> rules(int ofLevel) {
    return core.config().settings().nodeWindows().stream()
        .filter(rule -> rule.level() == ofLevel)
        .toList();
  }

  private @Nullable Key key(
      List<NodeWindowRule> rules, Topology nodes, int of, Map<String, Key> ofTexts) {
    for (int i = rules.size() - 1; i >= 0; i--) {
      NodeWindowRule rule = rules.get(i);
      if (!rule.tag().isEmpty()
          && IntStream.range(0, nodes.slotCount(of))
              .noneMatch(slot -> nodes.tags(nodes.slot(of, slot)).contains(rule.tag()))) {
        continue;
      }
      if (rule.attribute().isEmpty()) {
        return new Key(level, rule.schedule(), "");
      }
      String text = attribute(nodes, of, rule.attribute());
      if (text != null) {
        Key key = ofTexts.computeIfAbsent(i + " " + text, name -> key(rule, nodes.name(of), text));
        brokenCount += key.brokenAttribute.isEmpty() ? 0 : 1;
        return key;
      }
    }
    return null;
  }

  private static @Nullable String attribute(Topology nodes, int of, String name) {
    for (int i = 0; i < nodes.slotCount(of); i++) {
      Json value = nodes.attributes(nodes.slot(of, i)).get(name);
      if (value != null && !(value instanceof Json.Null)) {
        return NodeLimitRule.text(value);
      }
    }
    return null;
  }

  /** Returns the key of a group; all nodes whose attribute has no windows are one. */
  private Key key(NodeWindowRule rule, String of, String text) {
    try {
      Schedule schedule = new Schedule(Window.parseAll(text), rule.schedule().freezes());
      return new Key(level, schedule, "");
    } catch (WindowSyntaxException e) {
      if (broken.isEmpty()) {
        broken = of + ": " + objection(text, e);
      }
      return new Key(level, Schedule.ALWAYS, rule.attribute());
    }
  }

  private static String objection(String text, WindowSyntaxException e) {
    return "\"" + ShortText.shown(text, MOST_SHOWN) + "\": " + e.problem();
  }

  private static String objection(@Nullable String text) {
    try {
      List<Window> unused = Window.parseAll(text == null ? "" : text);
      return "";
    } catch (WindowSyntaxException e) {
      return objection(text == null ? "" : text, e);
    }
  }

  // ---- gates

  private void update(long nowMillis) {
    next = Long.MAX_VALUE;
    for (Group group : groups.values()) {
      boolean isBroken = !group.key.brokenAttribute.isEmpty();
      Opening opening = isBroken ? null : group.times.next(nowMillis, 0);
      boolean isClosed = opening == null || opening.fromMillis() > nowMillis;
      group.changes =
          opening == null ? Long.MAX_VALUE : isClosed ? opening.fromMillis() : opening.toMillis();
      boolean isNone = opening == null && !isBroken;
      next = Math.min(next, isNone ? nowMillis + OpenTimes.NONE_FOR_MILLIS : group.changes);
      if (!group.isKnown || isClosed != group.isClosed) {
        // A group that was never closed has no gates to open but stale ones.
        boolean hasGates = isClosed || group.isClosed;
        group.isKnown = true;
        group.isClosed = isClosed;
        group.since = nowMillis;
        group.applied = 0;
        if (hasGates && !group.isQueued) {
          group.isQueued = true;
          changed.add(group);
        }
      }
    }
  }

  private void apply(long nowMillis) {
    int left = NODES_PER_STEP;
    while (left > 0 && !changed.isEmpty()) {
      Group group = changed.element();
      for (; group.applied < group.nodes.size() && left > 0; left--) {
        int of = group.nodes.get(group.applied++);
        Scope scope = scope(group, of);
        Gate before = stale.remove(scope);
        if (!group.isClosed) {
          core.open(GateKind.NODE_WINDOW, scope);
        } else {
          close(group, of, scope, before, nowMillis);
        }
      }
      if (group.applied == group.nodes.size()) {
        changed.remove().isQueued = false;
      }
    }
    for (Iterator<Scope> rest = stale.keySet().iterator();
        changed.isEmpty() && left > 0 && rest.hasNext();
        left--) {
      core.open(GateKind.NODE_WINDOW, rest.next());
      rest.remove();
    }
  }

  private void close(Group group, int of, Scope scope, @Nullable Gate before, long nowMillis) {
    String name = scope.level() + " " + scope.name();
    String reason =
        group.key.brokenAttribute.isEmpty()
            ? WindowMessages.closed(name, group.key.schedule, group.changes, nowMillis)
            : "windows of "
                + name
                + " are broken: "
                + objection(attribute(core.topology(), of, group.key.brokenAttribute));
    long until = group.changes == Long.MAX_VALUE ? 0 : group.changes;
    boolean isSame = before != null && before.reason().equals(reason);
    long since = isSame && before != null ? before.sinceMillis() : group.since;
    Gate gate = new Gate(GateKind.NODE_WINDOW, scope, "", reason, since, until);
    if (!gate.equals(before)) {
      core.close(gate);
    }
  }

  private Scope scope(Group group, int of) {
    Topology nodes = core.topology();
    return Scope.node(nodes.levels().name(group.key.level), nodes.name(of));
  }

  /** Returns the groups of nodes. */
  public Map<?, WindowView> view(long nowMillis) {
    Map<Key, WindowView> views = new LinkedHashMap<>();
    for (Group group : groups.values()) {
      if (group.isKnown) {
        String of = core.topology().levels().name(group.key.level);
        int size = group.nodes.size();
        String whose = size + (size == 1 ? " node" : " nodes") + " of level " + of;
        views.put(
            group.key,
            new WindowView(
                "",
                "",
                of,
                size,
                !group.isClosed,
                group.changes == Long.MAX_VALUE ? 0 : group.changes,
                WindowMessages.of(
                    whose, group.key.schedule, !group.isClosed, group.changes, nowMillis)));
      }
    }
    return views;
  }
}
