package io.espalier.core.scheduling.window;

import io.espalier.core.api.view.WindowView;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
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
import io.espalier.core.scheduling.window.WindowGroup.GroupKey;
import io.espalier.core.text.ShortText;
import io.espalier.core.topology.Topology;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Closes nodes outside of their windows, and jobs on nodes whose window would close before their
 * tasks end (docs/adr/0070-windows.md). Nodes of a level with the same windows form a group, which
 * has one timer and one for each job. All work is done in slices. Nothing may start while {@link
 * #step} has left some, because a node may still be open that is to be closed. For one thread.
 */
public final class NodeWindowGates {
  private static final int NODES_PER_STEP = 2_000;
  private static final int UNITS_PER_COUNT = 10_000;
  private static final int MOST_SHOWN = 80;

  private final SchedulingCore core;
  private final Map<GroupKey, WindowGroup> groups = new LinkedHashMap<>();
  private final ArrayDeque<WindowGroup> changed = new ArrayDeque<>();

  /** Closed nodes that are in no closed group, as far as is known. */
  private final Map<Scope, Gate> stale = new LinkedHashMap<>();

  private final NodeCutoffs cutoffs;
  private final MissedWindows missed;

  /** The groups before the nodes or their windows have changed. */
  private Map<GroupKey, WindowGroup> before = Map.of();

  private @Nullable Config config;
  private @Nullable Topology topology;
  private int level;
  private int node;
  private boolean isGrouped = true;
  private long next = Long.MAX_VALUE;
  private String broken = "";
  private int brokenCount;

  /**
   * @param takes how long a task of a job must be able to run before a window closes, in
   *     milliseconds; see {@link WindowCutoff#of}
   * @param askMillis how often that is asked again
   */
  public NodeWindowGates(SchedulingCore core, ToLongFunction<Job> takes, long askMillis) {
    this.core = core;
    cutoffs = new NodeCutoffs(core, takes, askMillis);
    missed = new MissedWindows(core);
  }

  /**
   * Does a slice of what is due.
   *
   * @return whether windows of a group have opened or closed, for all jobs or for some, or
   *     something else is to be shown
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
    boolean isCut =
        (isNew || nowMillis >= cutoffs.nextMillis()) && cutoffs.update(groups.values(), nowMillis);
    apply(nowMillis);
    return isNew || isCut;
  }

  /** Returns whether {@link #step} must be called again before anything starts. */
  public boolean isBehind() {
    return !isGrouped || !changed.isEmpty() || cutoffs.isBehind() || !stale.isEmpty();
  }

  /** Notes that a task is placed. */
  public void placed(String job, String node) {
    missed.placed(job, node);
  }

  /** Returns whether {@link #count} has something left to do. */
  public boolean isCounting() {
    return isGrouped && missed.isBehind();
  }

  /**
   * Does a slice of the count of windows in which nothing has started. Windows that were open
   * already when they were first seen do not count.
   *
   * @return what was missed in all windows that have closed since the last count was complete;
   *     empty until the count is complete
   */
  public List<MissedWindow> count() {
    return isGrouped ? missed.step(UNITS_PER_COUNT) : List.of();
  }

  /** Returns when the next window opens or closes; {@link Long#MAX_VALUE}: never. */
  public long nextMillis() {
    return Math.min(next, cutoffs.nextMillis());
  }

  /** Returns when the first closed group opens; {@link Long#MAX_VALUE}: none does. */
  public long opensMillis() {
    return groups.values().stream()
        .mapToLong(WindowGroup::opensMillis)
        .min()
        .orElse(Long.MAX_VALUE);
  }

  /**
   * Returns which nodes have broken windows, and which jobs have tasks that take longer than
   * windows of nodes are open; null: none.
   */
  public @Nullable String problem() {
    String ofNodes =
        brokenCount == 0
            ? ""
            : "nothing starts on "
                + brokenCount
                + (brokenCount == 1 ? " node, whose" : " nodes, whose")
                + " attribute has no windows: "
                + broken;
    String both =
        ofNodes
            + (ofNodes.isEmpty() || cutoffs.tooLong().isEmpty() ? "" : "; ")
            + cutoffs.tooLong();
    return both.isEmpty() ? null : both;
  }

  @SuppressWarnings("ReferenceEquality") // Each topology is a new object.
  private void begin(Config current, Topology nodes) {
    boolean isSame =
        config != null
            && topology == nodes
            && config.settings().nodeWindows().equals(current.settings().nodeWindows());
    if (isSame) {
      config = current;
      cutoffs.configured();
      return;
    }
    boolean isUsed = !current.settings().nodeWindows().isEmpty() || !groups.isEmpty();
    config = current;
    topology = nodes;
    if (!isUsed) {
      return;
    }
    if (isGrouped) {
      before = Map.copyOf(groups);
    }
    groups.clear();
    missed.begin();
    changed.clear();
    cutoffs.clear();
    stale.clear();
    for (GateKind kind : List.of(GateKind.NODE_WINDOW, GateKind.WINDOW_CUTOFF)) {
      core.gates().of(kind).forEach(gate -> stale.put(gate.scope(), gate));
    }
    level = 0;
    node = nodes.levelStart(0);
    broken = "";
    brokenCount = 0;
    isGrouped = false;
  }

  // ---- groups

  private void group() {
    Topology nodes = core.topology();
    Map<String, GroupKey> ofTexts = new HashMap<>();
    int left = NODES_PER_STEP;
    while (level < nodes.levels().worker()) {
      List<NodeWindowRule> rules = rules(level);
      int end = rules.isEmpty() ? node : nodes.levelEnd(level);
      for (; node < end && left > 0; node++, left--) {
        GroupKey key = key(rules, nodes, node, ofTexts);
        if (key != null) {
          missed.hasWindows(level);
          WindowGroup last = before.get(key);
          if (last != null && (last.isWatched || !last.isClosed)) {
            missed.carry(nodes, level, node);
          }
          groups.computeIfAbsent(key, WindowGroup::new).nodes.add(node);
        }
      }
      if (node < end) {
        return;
      }
      level++;
      node = level < nodes.levels().worker() ? nodes.levelStart(level) : 0;
    }
    missed.grouped(nodes);
    isGrouped = true;
  }

  private List<NodeWindowRule> rules(int ofLevel) {
    return core.config().settings().nodeWindows().stream()
        .filter(rule -> rule.level() == ofLevel)
        .toList();
  }

  private @Nullable GroupKey key(
      List<NodeWindowRule> rules, Topology nodes, int of, Map<String, GroupKey> ofTexts) {
    for (int i = rules.size() - 1; i >= 0; i--) {
      NodeWindowRule rule = rules.get(i);
      if (!rule.tag().isEmpty()
          && IntStream.range(0, nodes.slotCount(of))
              .noneMatch(slot -> nodes.tags(nodes.slot(of, slot)).contains(rule.tag()))) {
        continue;
      }
      if (rule.attribute().isEmpty()) {
        return new GroupKey(level, rule.schedule(), "");
      }
      String text = attribute(nodes, of, rule.attribute());
      if (text != null) {
        GroupKey key =
            ofTexts.computeIfAbsent(i + " " + text, name -> key(rule, nodes.name(of), text));
        brokenCount += key.brokenAttribute().isEmpty() ? 0 : 1;
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
  private GroupKey key(NodeWindowRule rule, String of, String text) {
    try {
      Schedule schedule = new Schedule(Window.parseAll(text), rule.schedule().freezes());
      return new GroupKey(level, schedule, "");
    } catch (WindowSyntaxException e) {
      if (broken.isEmpty()) {
        broken = of + ": " + objection(text, e);
      }
      return new GroupKey(level, Schedule.ALWAYS, rule.attribute());
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
    for (WindowGroup group : groups.values()) {
      boolean isBroken = !group.key.brokenAttribute().isEmpty();
      Opening opening = isBroken ? null : group.times.next(nowMillis, 0);
      boolean isClosed = opening == null || opening.fromMillis() > nowMillis;
      group.changes =
          opening == null ? Long.MAX_VALUE : isClosed ? opening.fromMillis() : opening.toMillis();
      boolean isNone = opening == null && !isBroken;
      next = Math.min(next, isNone ? nowMillis + OpenTimes.NONE_FOR_MILLIS : group.changes);
      if (!group.isKnown || isClosed != group.isClosed) {
        // A group that was never closed has no gates to open but stale ones.
        boolean hasGates = isClosed || group.isClosed;
        watch(group, isClosed);
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
    before = Map.of();
  }

  /** Has a window counted that was seen to open, when it closes. */
  private void watch(WindowGroup group, boolean isClosed) {
    WindowGroup last = group.isKnown ? group : before.get(group.key);
    boolean wasWatched = last != null && last.isWatched;
    boolean wasClosed = last != null && last.isClosed;
    group.isWatched = wasWatched || (wasClosed && !isClosed);
    if (group.isWatched && isClosed) {
      missed.closed(group);
    } else if (isClosed && !wasClosed && last != null) {
      missed.forget(group);
    }
  }

  private void apply(long nowMillis) {
    int left = NODES_PER_STEP;
    while (left > 0 && !changed.isEmpty()) {
      WindowGroup group = changed.element();
      for (; group.applied < group.nodes.size() && left > 0; left--) {
        int of = group.nodes.get(group.applied++);
        Scope scope = group.scope(core.topology(), of);
        Gate before = stale.remove(scope);
        if (!group.isClosed) {
          core.gates().open(GateKind.NODE_WINDOW, scope);
        } else {
          close(group, of, scope, before, nowMillis);
        }
      }
      if (group.applied == group.nodes.size()) {
        changed.remove().isQueued = false;
      }
    }
    left = cutoffs.apply(left, stale);
    for (Iterator<Gate> rest = stale.values().iterator();
        changed.isEmpty() && left > 0 && rest.hasNext();
        left--) {
      Gate gate = rest.next();
      core.gates().open(gate.kind(), gate.scope());
      rest.remove();
    }
  }

  private void close(
      WindowGroup group, int of, Scope scope, @Nullable Gate before, long nowMillis) {
    String name = scope.level() + " " + scope.name();
    String reason =
        group.key.brokenAttribute().isEmpty()
            ? WindowMessages.closed(name, group.key.schedule(), group.changes, nowMillis)
            : "windows of "
                + name
                + " are broken: "
                + objection(attribute(core.topology(), of, group.key.brokenAttribute()));
    long until = group.changes == Long.MAX_VALUE ? 0 : group.changes;
    boolean isSame = before != null && before.reason().equals(reason);
    long since = isSame && before != null ? before.sinceMillis() : group.since;
    Gate gate = new Gate(GateKind.NODE_WINDOW, scope, "", reason, since, until);
    if (!gate.equals(before)) {
      core.gates().close(gate);
    }
  }

  /** Returns the groups of nodes. */
  public Map<?, WindowView> view(long nowMillis) {
    Map<GroupKey, WindowView> views = new LinkedHashMap<>();
    for (WindowGroup group : groups.values()) {
      if (group.isKnown) {
        String of = core.topology().levels().name(group.key.level());
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
                    whose, group.key.schedule(), !group.isClosed, group.changes, nowMillis)));
      }
    }
    return views;
  }
}
