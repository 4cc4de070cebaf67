package io.espalier.core.loop.health;

import io.espalier.core.health.ProbeView;
import io.espalier.core.json.Json;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.capacity.HealthLimit;
import io.espalier.core.text.ShortText;
import java.util.ArrayList;
import java.util.List;

/** What people are told about probes and the limits that follow them. */
final class ProbeWords {
  private ProbeWords() {}

  static String value(ProbeValues probe, double value) {
    String number = "probe " + probe.spec.name() + " is " + number(value);
    return switch (probe.verdict(value)) {
      case BAD -> number + " (bad above " + number(probe.spec.badAbove()) + ")";
      case GOOD ->
          number + " (good below " + number(probe.spec.goodBelow()) + "), after bad values";
      case BETWEEN ->
          number + " (not good before it is below " + number(probe.spec.goodBelow()) + ")";
    };
  }

  private static String number(double value) {
    return Json.of(value).toString();
  }

  /** Returns the nodes without a known value, in words; empty: there are none. */
  static String missing(ProbeValues probe, long nowMillis) {
    int missing = probe.missing();
    if (missing == 0 || probe.links.isEmpty() || probe.isEarly(nowMillis)) {
      return "";
    }
    String which =
        probe.isBlind
            ? "no node of level " + probe.level + " has a value"
            : missing
                + (missing == 1 ? " node" : " nodes")
                + " of level "
                + probe.level
                + " ("
                + ShortText.shown(probe.firstMissing(), 80)
                + (missing == 1 ? ") has" : " and others) have")
                + " no value";
    return which
        + " of the last "
        + probe.spec.maxAge().toSeconds()
        + " s: its limits "
        + (probe.isBlind && probe.spec.holds() ? "stay as they are" : "are at their floor");
  }

  /** Returns what is wrong with a probe; empty: nothing. */
  static String problem(ProbeValues probe) {
    String between = probe.sourceProblem.isEmpty() || probe.missing.isEmpty() ? "" : "; ";
    return probe.sourceProblem + between + probe.missing;
  }

  static ProbeView view(ProbeValues probe, SchedulingCore core, long nowMillis) {
    List<ProbeView.Follower> resources = new ArrayList<>();
    List<ProbeView.Lowered> lowered = new ArrayList<>();
    for (FollowingLimit.Link link : probe.links) {
      FollowingLimit follower = link.follower;
      resources.add(
          new ProbeView.Follower(
              follower.name, follower.floor, follower.lowered.size(), follower.atFloor.size()));
      follower.lowered.stream()
          .limit(ProbeView.MOST_NODES - lowered.size())
          .forEach(node -> lowered.add(lowered(follower, node, core, nowMillis)));
    }
    return new ProbeView(
        probe.spec.name(),
        probe.level,
        probe.spec.source(),
        probe.spec.badAbove(),
        probe.spec.goodBelow(),
        probe.answeredMillis,
        probe.fresh(),
        probe.bad().size(),
        probe.nodeCount(),
        resources,
        lowered,
        problem(probe));
  }

  private static ProbeView.Lowered lowered(
      FollowingLimit follower, String name, SchedulingCore core, long nowMillis) {
    int node = core.topology().find(follower.level, name);
    HealthLimit health = core.capacity().health(follower.name, name);
    int of = node < 0 ? 0 : follower.whole(core, node);
    return new ProbeView.Lowered(
        name,
        follower.name,
        health == null ? of : Math.min(of, health.limit()),
        of,
        health == null ? "" : health.reasonAt(nowMillis));
  }
}
