package io.espalier.core.loop.health;

import io.espalier.core.api.RefusedException;
import io.espalier.core.config.Config;
import io.espalier.core.config.GroupRule;
import io.espalier.core.config.Resource;
import io.espalier.core.event.EventKind;
import io.espalier.core.health.HealthRule;
import io.espalier.core.health.ProbeSpec;
import io.espalier.core.health.ProbeView;
import io.espalier.core.json.Json;
import io.espalier.core.loop.health.FollowingLimit.Link;
import io.espalier.core.loop.health.ProbeAnswer.Sample;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.loop.state.RoundStep;
import io.espalier.core.problem.Suggestions;
import io.espalier.core.running.Throttle;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.capacity.HealthLimit;
import io.espalier.core.text.ShortText;
import io.espalier.core.topology.Topology;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Lowers and raises limits by the values of probes, and tells the core (docs/adr/0074-health.md).
 * Values and what follows from them are kept in memory only: after a start, all limits that follow
 * a probe are at their floor until the first value of their node. Many values are taken in slices.
 */
public final class HealthLimits implements RoundStep {
  private static final int NODES_PER_STEP = 2_000;
  private static final int MOST_EARLY = 100;
  private static final int MOST_EARLY_SENT = 100_000;
  private static final int MOST_PROBLEM = 1_000;

  /** How long a view with lowered limits, which tells ages, is shown. */
  private static final long SHOWN_MILLIS = 1_000;

  private final SchedulingCore core;
  private final LoopEvents events;
  private final Map<String, ProbeValues> probes = new LinkedHashMap<>();
  private final Map<String, FollowingLimit> followers = new LinkedHashMap<>();
  private final ArrayDeque<Work> work = new ArrayDeque<>();
  private final Map<String, ProbeAnswer> early = new LinkedHashMap<>();
  private final List<Sent> earlySent = new ArrayList<>();
  private final Set<String> told = new LinkedHashSet<>();
  private @Nullable Config config;
  private @Nullable Topology topology;
  private boolean isSettling;
  private boolean isLimiting;
  private long looked;
  private long changes;
  private @Nullable List<ProbeView> shown;
  private long shownMillis;
  private long next = Long.MAX_VALUE;

  /** A value that somebody has sent. */
  private record Sent(String probe, Sample sample) {}

  /** Values to take, or all that a probe has, to be looked at again. */
  private static final class Work {
    final ProbeValues probe;
    final @Nullable List<Sample> news;
    int place;

    Work(ProbeValues probe, @Nullable List<Sample> news) {
      this.probe = probe;
      this.news = news;
    }

    boolean isDone() {
      return place >= (news == null ? probe.size() : news.size());
    }
  }

  public HealthLimits(SchedulingCore core, LoopEvents events) {
    this.core = core;
    this.events = events;
  }

  // ---- values

  /** Takes the answer of a source; that of a probe which is not configured waits until it is. */
  public void take(ProbeAnswer answer, long nowMillis) {
    ProbeValues probe = probes.get(answer.probe());
    if (probe == null) {
      // Its configuration waits for the nodes, perhaps.
      if (early.size() < MOST_EARLY || early.containsKey(answer.probe())) {
        early.put(answer.probe(), answer);
      }
      return;
    }
    probe.sourceProblem = ShortText.shown(answer.problem(), MOST_PROBLEM);
    add(probe, answer.samples(), nowMillis);
  }

  /**
   * Takes the value of one node that somebody has sent. While the scheduler starts, nobody knows
   * whether there are such a probe and node: then the value counts as soon as there are.
   *
   * @return the number of resources whose limits follow the probe; 0 also while that is not known
   * @throws RefusedException when there is no such probe or node
   */
  public int push(String name, String node, double value, long nowMillis) {
    if (config == null) {
      keep(new Sent(name, new Sample(node, value, nowMillis)));
      return 0;
    }
    configureIfNew(nowMillis);
    ProbeValues probe = probes.get(name);
    if (probe == null) {
      String hint = Suggestions.hint(name, probes.keySet());
      throw refused(
          RefusedException.Reason.UNKNOWN,
          "there is no probe \"" + name + "\"" + (hint == null ? "" : ": " + hint));
    }
    if (!probe.spec.isPushed()) {
      throw refused(
          RefusedException.Reason.CONFLICT,
          "the values of probe " + name + " come from its source, " + probe.spec.source());
    }
    if (core.topology().find(probe.spec.level(), node) < 0) {
      throw refused(
          RefusedException.Reason.UNKNOWN,
          "level " + probe.level + " has no node \"" + node + "\"");
    }
    add(probe, List.of(new Sample(node, value, nowMillis)), nowMillis);
    return probe.links.size();
  }

  private void keep(Sent sent) {
    if (earlySent.size() == MOST_EARLY_SENT) {
      throw refused(
          RefusedException.Reason.CONFLICT,
          "the scheduler is starting, and keeps " + MOST_EARLY_SENT + " values: send it again");
    }
    earlySent.add(sent);
  }

  private static RefusedException refused(RefusedException.Reason reason, String message) {
    return new RefusedException(reason, message);
  }

  private void add(ProbeValues probe, List<Sample> samples, long nowMillis) {
    if (!samples.isEmpty()) {
      probe.answeredMillis = nowMillis;
    }
    work.add(new Work(probe, samples));
  }

  // ---- steps

  @Override
  public boolean step(long nowMillis) {
    configureIfNew(nowMillis);
    if (work.isEmpty() && nowMillis < next && !isSettling) {
      return false;
    }
    isSettling = isSettling && !core.capacity().areLimitsInEffect();
    boolean isNew = !work.isEmpty() || nowMillis >= next;
    Set<ProbeValues> changed = new LinkedHashSet<>();
    int left = NODES_PER_STEP;
    if (nowMillis >= next) {
      changed.addAll(probes.values());
      left = expire(left, nowMillis);
    }
    while (!work.isEmpty() && left > 0) {
      Work first = work.element();
      for (; !first.isDone() && left > 0; left--) {
        look(first, nowMillis);
      }
      if (first.isDone()) {
        work.remove();
        changed.add(first.probe);
      }
    }
    changed.forEach(probe -> judge(probe, nowMillis));
    if (isNew) {
      next = Long.MAX_VALUE;
      probes.values().forEach(probe -> next = Math.min(next, probe.nextMillis(nowMillis)));
      followers.values().forEach(follower -> tell(follower, nowMillis));
      isLimiting = followers.values().stream().anyMatch(FollowingLimit::isLimiting);
      shown = null;
    }
    return isNew;
  }

  @Override
  public boolean isBehind() {
    return !work.isEmpty();
  }

  /** Nothing starts as long as limits are to go to their floor first. */
  @Override
  public int room() {
    return isSettling ? 0 : Integer.MAX_VALUE;
  }

  @Override
  public long nextMillis() {
    return next;
  }

  /** Returns whether new values may raise a limit. */
  @Override
  public boolean mayOpen() {
    return isLimiting;
  }

  /** How many values were looked at so far: what the steps have cost. */
  public long looked() {
    return looked;
  }

  /** The name of the level that a probe is about; empty: there is no such probe. */
  public String level(String probe) {
    ProbeValues values = probes.get(probe);
    return values == null ? "" : values.level;
  }

  /** The nodes whose newest value is bad, and not too old. */
  public Set<String> bad(String probe) {
    ProbeValues values = probes.get(probe);
    return values == null ? Set.of() : Collections.unmodifiableSet(values.bad());
  }

  /** The newest value of a node, which may be too old; null: there is none. */
  public @Nullable Sample newest(String probe, String node) {
    ProbeValues values = probes.get(probe);
    return values == null ? null : values.newest(node);
  }

  /** Returns whether a node has a value that is not too old, and was sampled since an instant. */
  public boolean isKnownSince(String probe, String node, long sinceMillis, long nowMillis) {
    ProbeValues values = probes.get(probe);
    Sample newest = newest(probe, node);
    return values != null
        && newest != null
        && newest.atMillis() >= sinceMillis
        && !values.isOld(newest.atMillis(), nowMillis);
  }

  /** Says what a value means, such as {@code probe lag is 7.2 (bad above 5)}. */
  public String words(String probe, Sample value) {
    ProbeValues values = probes.get(probe);
    return values == null ? "probe " + probe : ProbeWords.value(values, value.value());
  }

  /** A number that grows when what is left of a limit changes. */
  public long changes() {
    return changes;
  }

  /**
   * Returns how fast a task is to work: by the smallest part that health leaves of a limit on its
   * path from which it has taken slots. Null: it has taken none that follow a probe, or nothing is
   * known of its nodes since this scheduler has started.
   */
  public @Nullable Throttle throttle(long run, long nowMillis) {
    Throttle least = null;
    for (Map.Entry<String, Map<String, Integer>> onNode :
        core.running().resourcesByNode(run).entrySet()) {
      for (Map.Entry<String, Integer> taken : onNode.getValue().entrySet()) {
        FollowingLimit follower = followers.get(taken.getKey());
        if (follower != null && taken.getValue() > 0) {
          Throttle here = throttle(follower, onNode.getKey(), nowMillis);
          least = here == null || (least != null && least.ratio() <= here.ratio()) ? least : here;
        }
      }
    }
    return least;
  }

  private @Nullable Throttle throttle(FollowingLimit follower, String name, long nowMillis) {
    HealthLimit health = core.capacity().health(follower.name, name);
    int node = core.topology().find(follower.level, name);
    if (health == null || node < 0) {
      return null;
    }
    int whole = follower.whole(core, node);
    return health.limit() >= whole
        ? Throttle.NONE
        : new Throttle((double) health.limit() / whole, health.reasonAt(nowMillis));
  }

  @SuppressWarnings("ReferenceEquality") // Each configuration and topology is a new object.
  private void configureIfNew(long nowMillis) {
    if (config != core.config() || topology != core.topology()) {
      config = core.config();
      topology = core.topology();
      configure(nowMillis);
      next = nowMillis;
    }
  }

  private void configure(long nowMillis) {
    Map<String, ProbeValues> before = new LinkedHashMap<>(probes);
    probes.clear();
    for (ProbeSpec spec : core.config().settings().rules().probes()) {
      String level = core.topology().levels().name(spec.level());
      ProbeValues known = before.get(spec.name());
      boolean isSame =
          known != null
              && known.level.equals(level)
              && known.spec.source().equals(spec.source())
              && known.spec.prefs().equals(spec.prefs());
      ProbeValues probe =
          isSame && known != null
              ? known
              : new ProbeValues(spec, level, core.topology(), nowMillis);
      probe.configured(spec, core.topology());
      probes.put(spec.name(), probe);
      ProbeAnswer waiting = early.remove(spec.name());
      if (waiting != null) {
        take(waiting, nowMillis);
      }
    }
    Map<String, FollowingLimit> followed = new LinkedHashMap<>(followers);
    followers.clear();
    changes++;
    new TreeMap<>(core.config().settings().rules().health())
        .forEach((name, rule) -> follow(name, rule, followed));
    for (GroupRule kind : core.config().settings().rules().groups()) {
      if (!kind.follows().isEmpty()) {
        String level = core.topology().levels().name(kind.level());
        follow(new FollowingLimit(kind, level), kind.follows(), followed);
      }
    }
    followed.values().forEach(each -> core.limits().removeHealth(each.levelName, each.name, ""));
    work.removeIf(each -> probes.get(each.probe.spec.name()) != each.probe);
    probes.values().forEach(probe -> work.add(new Work(probe, null)));
    for (Sent sent : earlySent) {
      ProbeValues probe = probes.get(sent.probe());
      if (probe != null && probe.spec.isPushed()) {
        add(probe, List.of(sent.sample()), nowMillis);
      }
    }
    earlySent.clear();
  }

  private void follow(String name, HealthRule rule, Map<String, FollowingLimit> followed) {
    Resource resource = core.config().settings().resources().find(name);
    if (resource != null) {
      String level = core.topology().levels().name(resource.level());
      follow(new FollowingLimit(resource, level, rule.floor()), rule.probes(), followed);
    }
  }

  private void follow(
      FollowingLimit follower, List<String> names, Map<String, FollowingLimit> followed) {
    FollowingLimit before = followed.remove(follower.name);
    if (before != null && !before.levelName.equals(follower.levelName)) {
      // What is known is about other nodes.
      core.limits().removeHealth(before.levelName, before.name, "");
      before = null;
    }
    followers.put(follower.name, follower);
    for (String each : new LinkedHashSet<>(names)) {
      ProbeValues probe = probes.get(each);
      if (probe != null) {
        follower.add(probe);
      }
    }
    if (before != null) {
      follower.goOn(before);
    }
    HealthLimit ofLevel =
        new HealthLimit(
            follower.levelName,
            follower.name,
            "",
            follower.floor,
            "probe " + String.join(", ", names) + " has no value of this node yet",
            0);
    HealthLimit known = core.capacity().health(follower.name, "");
    isSettling |= known == null;
    core.limits().setHealth(ofLevel);
  }

  /** Lowers the limits of nodes whose values are too old now; returns what is left to do. */
  private int expire(int most, long nowMillis) {
    int left = most;
    for (ProbeValues probe : probes.values()) {
      for (String name; left > 0 && (name = probe.nextOld(nowMillis)) != null; left--) {
        int node = core.topology().find(probe.spec.level(), name);
        probe.recount(name, node, nowMillis);
        update(probe, name, node, nowMillis);
      }
    }
    return left;
  }

  /** Looks at the next value of some work. */
  private void look(Work of, long nowMillis) {
    ProbeValues probe = of.probe;
    Sample sample = of.news == null ? probe.at(of.place) : of.news.get(of.place);
    String name = sample.node();
    int node = core.topology().find(probe.spec.level(), name);
    if (of.news != null) {
      of.place++;
      if (node < 0 || !probe.put(sample, node, nowMillis)) {
        return;
      }
    } else if (node < 0) {
      probe.remove(of.place);
      for (Link link : probe.links) {
        link.follower.forget(name);
        core.limits().removeHealth(probe.level, link.follower.name, name);
      }
      return;
    } else {
      of.place++;
      probe.recount(name, node, nowMillis);
    }
    if (!probe.isOld(sample.atMillis(), nowMillis)) {
      for (Link link : probe.links) {
        // To a limit that has just begun to follow, a value that is known is the first one.
        if (of.news != null || !link.controls.containsKey(name)) {
          take(link, node, sample, nowMillis);
        }
      }
    }
    update(probe, name, node, nowMillis);
  }

  private void update(ProbeValues probe, String name, int node, long nowMillis) {
    looked++;
    if (node >= 0) {
      probe.links.forEach(link -> update(link.follower, name, node, nowMillis));
    }
  }

  private void take(Link link, int node, Sample sample, long nowMillis) {
    link.controls
        .computeIfAbsent(sample.node(), name -> new SlotControl())
        .take(
            link.probe.verdict(sample.value()),
            sample.atMillis(),
            link.follower.place(core, node),
            nowMillis);
  }

  private void update(FollowingLimit follower, String name, int node, long nowMillis) {
    HealthLimit least = null;
    for (Link link : follower.links) {
      HealthLimit limit = limit(link, name, nowMillis);
      least = least == null || limit.limit() < least.limit() ? limit : least;
    }
    if (least == null) {
      return;
    }
    HealthLimit before = core.capacity().health(least.resource(), name);
    core.limits().setHealth(least);
    changes += before == null || before.limit() != least.limit() ? 1 : 0;
    follower.take(name, least.limit(), follower.base(core, node));
  }

  /** Returns what one probe leaves of the limit of a node. */
  private HealthLimit limit(Link link, String node, long nowMillis) {
    ProbeValues probe = link.probe;
    String probeName = "probe " + probe.spec.name();
    Sample sample = probe.newest(node);
    if (sample == null) {
      return left(link, node, link.follower.floor, probeName + " has no value of this node yet", 0);
    }
    if (probe.isOld(sample.atMillis(), nowMillis)) {
      int floor = link.follower.floor;
      HealthLimit known = core.capacity().health(link.follower.name, node);
      // What others have lowered meanwhile is not raised: nobody knows whether it may be.
      boolean holds = probe.spec.holds() && probe.isAllOld(nowMillis);
      int limit = holds && known != null ? known.limit() : floor;
      return left(link, node, limit, probeName, sample.atMillis());
    }
    SlotControl control = link.controls.get(node);
    int limit = control == null ? HealthLimit.WHOLE : control.limit();
    return left(
        link,
        node,
        limit,
        limit == HealthLimit.WHOLE ? "" : ProbeWords.value(probe, sample.value()),
        0);
  }

  private static HealthLimit left(
      Link link, String node, int limit, String reason, long valueMillis) {
    return new HealthLimit(link.probe.level, link.follower.name, node, limit, reason, valueMillis);
  }

  /** Draws the conclusions for a whole probe, after its values have changed. */
  private void judge(ProbeValues probe, long nowMillis) {
    if (probe.isBlind && probe.fresh() > 0 && probe.spec.holds()) {
      // What was held while nobody knew anything is not held any longer.
      work.add(new Work(probe, null));
    }
    probe.isBlind = probe.fresh() == 0;
    probe.missing = ProbeWords.missing(probe, nowMillis);
  }

  // ---- what people see

  private void tell(FollowingLimit follower, long nowMillis) {
    event(EventKind.LIMIT_AT_FLOOR, follower, follower.fallen, nowMillis);
    event(EventKind.LIMIT_RECOVERED, follower, follower.recovered, nowMillis);
  }

  private void event(EventKind kind, FollowingLimit follower, List<String> nodes, long nowMillis) {
    if (nodes.isEmpty()) {
      return;
    }
    Json.Builder data =
        Json.object()
            .put("level", follower.levelName)
            .put("resource", follower.name)
            .put("node", nodes.get(0));
    if (nodes.size() > 1) {
      data.put("nodes", nodes.size());
    }
    data.put("floor", follower.floor);
    HealthLimit health = core.capacity().health(follower.name, nodes.get(0));
    if (health != null && !health.reason().isEmpty()) {
      data.put("reason", health.reasonAt(nowMillis));
    }
    events.add(nowMillis, kind, data.build());
    nodes.clear();
  }

  @Override
  public void problems(BiConsumer<String, @Nullable String> to) {
    told.stream()
        .filter(name -> !probes.containsKey(name))
        .forEach(name -> to.accept("probe " + name, null));
    told.clear();
    for (ProbeValues probe : probes.values()) {
      String problem = ProbeWords.problem(probe);
      to.accept("probe " + probe.spec.name(), problem.isEmpty() ? null : problem);
      told.add(probe.spec.name());
    }
  }

  /** Returns all probes, in the order of the configuration. */
  public List<ProbeView> view(long nowMillis) {
    List<ProbeView> views = shown;
    boolean tellsAges = views != null && views.stream().anyMatch(v -> !v.lowered().isEmpty());
    if (views == null || (tellsAges && nowMillis - shownMillis >= SHOWN_MILLIS)) {
      views = probes.values().stream().map(p -> ProbeWords.view(p, core, nowMillis)).toList();
      shown = views;
      shownMillis = nowMillis;
    }
    return views;
  }
}
