package io.espalier.core.loop.health;

import io.espalier.core.api.RefusedException;
import io.espalier.core.config.Config;
import io.espalier.core.config.Resource;
import io.espalier.core.event.EventKind;
import io.espalier.core.health.HealthRule;
import io.espalier.core.health.ProbeSpec;
import io.espalier.core.health.ProbeView;
import io.espalier.core.json.Json;
import io.espalier.core.loop.health.ProbeAnswer.Sample;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.loop.state.RoundStep;
import io.espalier.core.problem.Suggestions;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.capacity.HealthLimit;
import io.espalier.core.text.ShortText;
import io.espalier.core.topology.Topology;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
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
  private static final int MOST_PROBLEM = 1_000;

  /** The maximum size of a level of which it is checked whether each node has a value. */
  private static final int MOST_CHECKED = 100_000;

  private final SchedulingCore core;
  private final LoopEvents events;
  private final Map<String, Probe> probes = new LinkedHashMap<>();
  private final Map<String, Follower> followers = new LinkedHashMap<>();
  private final ArrayDeque<Work> work = new ArrayDeque<>();
  private final Map<String, ProbeAnswer> early = new LinkedHashMap<>();
  private final Set<String> told = new LinkedHashSet<>();
  private @Nullable Config config;
  private @Nullable Topology topology;
  private boolean isSettling;
  private long next = Long.MAX_VALUE;

  /**
   * Values to take, or to look at again.
   *
   * @param isNew whether they have just come
   */
  private record Work(Probe probe, Iterator<Sample> samples, boolean isNew) {}

  private static final class Probe {
    ProbeSpec spec;
    final String level;
    final Map<String, Sample> samples = new LinkedHashMap<>();
    final List<Link> links = new ArrayList<>();
    final long sinceMillis;
    long answeredMillis;
    long newestMillis = Long.MIN_VALUE / 2;
    long expiresMillis = Long.MAX_VALUE;
    String sourceProblem = "";
    String missing = "";
    boolean isBlind = true;
    int fresh;
    int bad;

    Probe(ProbeSpec spec, String level, long sinceMillis) {
      this.spec = spec;
      this.level = level;
      this.sinceMillis = sinceMillis;
    }

    boolean isOld(long atMillis, long nowMillis) {
      return nowMillis - atMillis > spec.maxAge().toMillis();
    }

    SlotControl.Verdict verdict(double value) {
      return value > spec.badAbove()
          ? SlotControl.Verdict.BAD
          : value < spec.goodBelow() ? SlotControl.Verdict.GOOD : SlotControl.Verdict.BETWEEN;
    }

    String words(double value) {
      String number = "probe " + spec.name() + " is " + number(value);
      return switch (verdict(value)) {
        case BAD -> number + " (bad above " + number(spec.badAbove()) + ")";
        case GOOD -> number + " (good below " + number(spec.goodBelow()) + "), after bad values";
        case BETWEEN -> number + " (not good before it is below " + number(spec.goodBelow()) + ")";
      };
    }

    private static String number(double value) {
      return Json.of(value).toString();
    }
  }

  /** The part of a limit that follows one probe. */
  private static final class Link {
    final Probe probe;
    final Follower follower;
    final Map<String, SlotControl> controls = new LinkedHashMap<>();

    Link(Probe probe, Follower follower) {
      this.probe = probe;
      this.follower = follower;
    }
  }

  /** The limit of a resource, on all nodes of its level. */
  private static final class Follower {
    final Resource resource;
    final int floor;
    final List<Link> links = new ArrayList<>();
    final Set<String> lowered = new LinkedHashSet<>();
    final Set<String> atFloor = new LinkedHashSet<>();
    final List<String> fallen = new ArrayList<>();
    final List<String> recovered = new ArrayList<>();

    Follower(Resource resource, int floor) {
      this.resource = resource;
      this.floor = floor;
    }

    void forget(String node) {
      lowered.remove(node);
      atFloor.remove(node);
      links.forEach(link -> link.controls.remove(node));
    }
  }

  public HealthLimits(SchedulingCore core, LoopEvents events) {
    this.core = core;
    this.events = events;
  }

  // ---- values

  /** Takes the answer of a source; that of a probe which is not configured waits until it is. */
  public void take(ProbeAnswer answer, long nowMillis) {
    Probe probe = probes.get(answer.probe());
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
   * Takes the value of one node that somebody has sent.
   *
   * @return the number of resources whose limits follow the probe
   * @throws RefusedException when there is no such probe or node
   */
  public int push(String name, String node, double value, long nowMillis) {
    Probe probe = probes.get(name);
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

  private static RefusedException refused(RefusedException.Reason reason, String message) {
    return new RefusedException(reason, message);
  }

  private void add(Probe probe, List<Sample> samples, long nowMillis) {
    if (!samples.isEmpty()) {
      probe.answeredMillis = nowMillis;
    }
    work.add(new Work(probe, samples.iterator(), true));
  }

  // ---- steps

  @Override
  @SuppressWarnings("ReferenceEquality") // Each configuration and topology is a new object.
  public boolean step(long nowMillis) {
    if (config != core.config() || topology != core.topology()) {
      config = core.config();
      topology = core.topology();
      configure(nowMillis);
    }
    isSettling = isSettling && !core.capacity().areLimitsInEffect();
    if (nowMillis >= next) {
      expire(nowMillis);
    }
    boolean isNew = !work.isEmpty();
    int left = NODES_PER_STEP;
    while (!work.isEmpty() && left > 0) {
      Work first = work.element();
      for (; first.samples.hasNext() && left > 0; left--) {
        look(first, first.samples.next(), nowMillis);
      }
      if (!first.samples.hasNext()) {
        work.remove();
        judge(first.probe, nowMillis);
      }
    }
    followers.values().forEach(follower -> tell(follower, nowMillis));
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
    return followers.values().stream()
        .anyMatch(
            follower ->
                !follower.lowered.isEmpty()
                    || follower.links.stream()
                        .anyMatch(link -> link.probe.fresh < size(link.probe)));
  }

  private int size(Probe probe) {
    Topology nodes = core.topology();
    return nodes.levelEnd(probe.spec.level()) - nodes.levelStart(probe.spec.level());
  }

  private void configure(long nowMillis) {
    Map<String, Probe> before = new LinkedHashMap<>(probes);
    probes.clear();
    for (ProbeSpec spec : core.config().settings().rules().probes()) {
      String level = core.topology().levels().name(spec.level());
      Probe known = before.get(spec.name());
      boolean isSame =
          known != null
              && known.level.equals(level)
              && known.spec.source().equals(spec.source())
              && known.spec.prefs().equals(spec.prefs());
      Probe probe = isSame && known != null ? known : new Probe(spec, level, nowMillis);
      probe.spec = spec;
      probes.put(spec.name(), probe);
      ProbeAnswer waiting = early.remove(spec.name());
      if (waiting != null) {
        take(waiting, nowMillis);
      }
    }
    probes.values().forEach(probe -> probe.links.clear());
    Map<String, Follower> followed = new LinkedHashMap<>(followers);
    followers.clear();
    new TreeMap<>(core.config().settings().rules().health())
        .forEach((name, rule) -> follow(name, rule, followed.remove(name)));
    followed.values().forEach(each -> core.removeHealth(level(each), each.resource.name(), ""));
    work.removeIf(each -> probes.get(each.probe.spec.name()) != each.probe);
    probes.values().forEach(probe -> work.add(again(probe)));
  }

  private String level(Follower follower) {
    return core.topology().levels().name(follower.resource.level());
  }

  private void follow(String name, HealthRule rule, @Nullable Follower before) {
    Resource resource = core.config().settings().resources().find(name);
    if (resource == null) {
      return;
    }
    Follower follower = new Follower(resource, rule.floor());
    followers.put(name, follower);
    for (String each : new LinkedHashSet<>(rule.probes())) {
      Probe probe = probes.get(each);
      if (probe == null) {
        continue;
      }
      Link link = new Link(probe, follower);
      if (before != null) {
        before.links.stream()
            .filter(earlier -> earlier.probe == probe)
            .forEach(earlier -> link.controls.putAll(earlier.controls));
      }
      follower.links.add(link);
      probe.links.add(link);
    }
    if (before != null) {
      follower.lowered.addAll(before.lowered);
      follower.atFloor.addAll(before.atFloor);
    }
    HealthLimit ofLevel =
        new HealthLimit(
            level(follower),
            name,
            "",
            follower.floor,
            "probe " + String.join(", ", rule.probes()) + " has no value of this node yet",
            0);
    HealthLimit known = core.capacity().health(name, "");
    isSettling |= known == null;
    core.setHealth(ofLevel);
  }

  /** Looks again at all values of a probe, such as those of nodes that are gone. */
  private Work again(Probe probe) {
    return new Work(probe, List.copyOf(probe.samples.values()).iterator(), false);
  }

  private void expire(long nowMillis) {
    next = Long.MAX_VALUE;
    for (Probe probe : probes.values()) {
      if (nowMillis >= probe.expiresMillis) {
        work.add(again(probe));
        // That says when the next value is too old.
        probe.expiresMillis = Long.MAX_VALUE;
      }
      next = Math.min(next, probe.expiresMillis);
    }
  }

  private void look(Work of, Sample sample, long nowMillis) {
    Probe probe = of.probe;
    String name = sample.node();
    int node = core.topology().find(probe.spec.level(), name);
    if (node < 0) {
      if (probe.samples.remove(name) != null) {
        for (Link link : probe.links) {
          link.follower.forget(name);
          core.removeHealth(probe.level, link.follower.resource.name(), name);
        }
      }
      return;
    }
    if (of.isNew) {
      Sample last = probe.samples.get(name);
      if (last != null && last.atMillis() >= sample.atMillis()) {
        return;
      }
      probe.samples.put(name, sample);
      probe.newestMillis = Math.max(probe.newestMillis, sample.atMillis());
      if (!probe.isOld(sample.atMillis(), nowMillis)) {
        probe.links.forEach(link -> take(link, node, sample, nowMillis));
      }
    }
    probe.links.forEach(link -> update(link.follower, name, node, nowMillis));
  }

  private void take(Link link, int node, Sample sample, long nowMillis) {
    int resource = link.follower.resource.index();
    link.controls
        .computeIfAbsent(sample.node(), name -> new SlotControl())
        .take(
            link.probe.verdict(sample.value()),
            sample.atMillis(),
            new SlotControl.Place(
                core.capacity().baseLimit(node, resource),
                core.capacity().limitWithoutHealth(node, resource),
                link.follower.floor,
                core.capacity().limit(node, resource) - core.capacity().free(node, resource)),
            nowMillis);
  }

  private void update(Follower follower, String name, int node, long nowMillis) {
    HealthLimit least = null;
    for (Link link : follower.links) {
      HealthLimit limit = limit(link, name, nowMillis);
      least = least == null || limit.limit() < least.limit() ? limit : least;
    }
    if (least == null) {
      return;
    }
    core.setHealth(least);
    int base = core.capacity().baseLimit(node, follower.resource.index());
    if (least.limit() < base) {
      follower.lowered.add(name);
    } else {
      follower.lowered.remove(name);
    }
    if (least.limit() < base && least.limit() <= follower.floor) {
      if (follower.atFloor.add(name)) {
        follower.fallen.add(name);
      }
    } else if (follower.atFloor.remove(name)) {
      follower.recovered.add(name);
    }
  }

  /** Returns what one probe leaves of the limit of a node. */
  private HealthLimit limit(Link link, String node, long nowMillis) {
    Probe probe = link.probe;
    String probeName = "probe " + probe.spec.name();
    Sample sample = probe.samples.get(node);
    if (sample == null) {
      return left(link, node, link.follower.floor, probeName + " has no value of this node yet", 0);
    }
    if (probe.isOld(sample.atMillis(), nowMillis)) {
      int floor = link.follower.floor;
      HealthLimit known = core.capacity().health(link.follower.resource.name(), node);
      // What others have lowered meanwhile is not raised: nobody knows whether it may be.
      boolean holds = probe.spec.holds() && probe.isOld(probe.newestMillis, nowMillis);
      int limit = holds && known != null ? known.limit() : floor;
      return left(link, node, limit, probeName, sample.atMillis());
    }
    SlotControl control = link.controls.get(node);
    int limit = control == null ? HealthLimit.WHOLE : control.limit();
    return left(
        link, node, limit, limit == HealthLimit.WHOLE ? "" : probe.words(sample.value()), 0);
  }

  private static HealthLimit left(
      Link link, String node, int limit, String reason, long valueMillis) {
    return new HealthLimit(
        link.probe.level, link.follower.resource.name(), node, limit, reason, valueMillis);
  }

  /** Counts what there is of a probe, after its values have changed. */
  private void judge(Probe probe, long nowMillis) {
    probe.fresh = 0;
    probe.bad = 0;
    long oldest = Long.MAX_VALUE;
    for (Sample sample : probe.samples.values()) {
      if (!probe.isOld(sample.atMillis(), nowMillis)) {
        probe.fresh++;
        probe.bad += probe.verdict(sample.value()) == SlotControl.Verdict.BAD ? 1 : 0;
        oldest = Math.min(oldest, sample.atMillis());
      }
    }
    if (probe.isBlind && probe.fresh > 0 && probe.spec.holds()) {
      // What was held while nobody knew anything is not held any longer.
      work.add(again(probe));
    }
    probe.isBlind = probe.fresh == 0;
    long age = probe.spec.maxAge().toMillis() + 1;
    long first = probe.sinceMillis + age;
    boolean isEarly = nowMillis < first;
    probe.expiresMillis = oldest == Long.MAX_VALUE ? Long.MAX_VALUE : oldest + age;
    if (isEarly) {
      probe.expiresMillis = Math.min(probe.expiresMillis, first);
    }
    probe.missing = isEarly || probe.links.isEmpty() ? "" : missing(probe, nowMillis);
    next = Math.min(next, probe.expiresMillis);
  }

  /** Returns the nodes of which nothing is known, in words; empty: there are none. */
  private String missing(Probe probe, long nowMillis) {
    Topology nodes = core.topology();
    int size = size(probe);
    if (size == 0 || (size > MOST_CHECKED && probe.fresh > 0)) {
      return "";
    }
    int missing = 0;
    String first = "";
    for (int node = nodes.levelStart(probe.spec.level());
        node < nodes.levelEnd(probe.spec.level());
        node++) {
      Sample sample = probe.fresh == 0 ? null : probe.samples.get(nodes.name(node));
      if ((sample == null || probe.isOld(sample.atMillis(), nowMillis)) && isEnabled(node)) {
        missing++;
        first = missing == 1 ? nodes.name(node) : first;
      }
    }
    return missing == 0
        ? ""
        : (probe.isBlind
                ? "no node of level " + probe.level + " has a value"
                : missing
                    + (missing == 1 ? " node" : " nodes")
                    + " of level "
                    + probe.level
                    + " ("
                    + ShortText.shown(first, 80)
                    + (missing == 1 ? ")" : " and others)")
                    + (missing == 1 ? " has" : " have")
                    + " no value")
            + " of the last "
            + probe.spec.maxAge().toSeconds()
            + " s: its limits "
            + (probe.isBlind && probe.spec.holds() ? "stay as they are" : "are at their floor");
  }

  private boolean isEnabled(int node) {
    Topology nodes = core.topology();
    for (int i = 0; i < nodes.slotCount(node); i++) {
      if (nodes.enabled(nodes.slot(node, i))) {
        return true;
      }
    }
    return false;
  }

  // ---- what people see

  private void tell(Follower follower, long nowMillis) {
    event(EventKind.LIMIT_AT_FLOOR, follower, follower.fallen, nowMillis);
    event(EventKind.LIMIT_RECOVERED, follower, follower.recovered, nowMillis);
  }

  private void event(EventKind kind, Follower follower, List<String> nodes, long nowMillis) {
    if (nodes.isEmpty()) {
      return;
    }
    Json.Builder data =
        Json.object()
            .put("level", level(follower))
            .put("resource", follower.resource.name())
            .put("node", nodes.get(0));
    if (nodes.size() > 1) {
      data.put("nodes", nodes.size());
    }
    data.put("floor", follower.floor);
    HealthLimit health = core.capacity().health(follower.resource.name(), nodes.get(0));
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
    for (Probe probe : probes.values()) {
      String problem = problem(probe);
      to.accept("probe " + probe.spec.name(), problem.isEmpty() ? null : problem);
      told.add(probe.spec.name());
    }
  }

  private static String problem(Probe probe) {
    String between = probe.sourceProblem.isEmpty() || probe.missing.isEmpty() ? "" : "; ";
    return probe.sourceProblem + between + probe.missing;
  }

  /** Returns all probes, in the order of the configuration. */
  public List<ProbeView> view(long nowMillis) {
    List<ProbeView> views = new ArrayList<>();
    for (Probe probe : probes.values()) {
      List<ProbeView.Follower> resources = new ArrayList<>();
      List<ProbeView.Lowered> lowered = new ArrayList<>();
      for (Link link : probe.links) {
        Follower follower = link.follower;
        resources.add(
            new ProbeView.Follower(
                follower.resource.name(),
                follower.floor,
                follower.lowered.size(),
                follower.atFloor.size()));
        follower.lowered.stream()
            .limit(ProbeView.MOST_NODES - lowered.size())
            .forEach(node -> lowered.add(lowered(follower, node, nowMillis)));
      }
      views.add(
          new ProbeView(
              probe.spec.name(),
              probe.level,
              probe.spec.source(),
              probe.spec.badAbove(),
              probe.spec.goodBelow(),
              probe.answeredMillis,
              probe.fresh,
              probe.bad,
              size(probe),
              resources,
              lowered,
              problem(probe)));
    }
    return views;
  }

  private ProbeView.Lowered lowered(Follower follower, String name, long nowMillis) {
    int node = core.topology().find(follower.resource.level(), name);
    HealthLimit health = core.capacity().health(follower.resource.name(), name);
    int of = node < 0 ? 0 : core.capacity().limitWithoutHealth(node, follower.resource.index());
    return new ProbeView.Lowered(
        name,
        follower.resource.name(),
        health == null ? of : Math.min(of, health.limit()),
        of,
        health == null ? "" : health.reasonAt(nowMillis));
  }
}
