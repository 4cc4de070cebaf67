package io.espalier.core.loop.health;

import io.espalier.core.config.Resource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The limit of a resource that follows probes, on all nodes of its level. */
final class FollowingLimit {
  final Resource resource;
  final int floor;
  final List<Link> links = new ArrayList<>();
  Set<String> lowered = new LinkedHashSet<>();
  Set<String> atFloor = new LinkedHashSet<>();

  /** Nodes that are to be told of. */
  final List<String> fallen = new ArrayList<>();

  final List<String> recovered = new ArrayList<>();

  /** The part of the limit that follows one probe. */
  static final class Link {
    final ProbeValues probe;
    final FollowingLimit follower;
    Map<String, SlotControl> controls = new LinkedHashMap<>();

    Link(ProbeValues probe, FollowingLimit follower) {
      this.probe = probe;
      this.follower = follower;
    }
  }

  FollowingLimit(Resource resource, int floor) {
    this.resource = resource;
    this.floor = floor;
  }

  /** Follows a probe too. */
  void add(ProbeValues probe) {
    Link link = new Link(probe, this);
    links.add(link);
    probe.links.add(link);
  }

  /** Takes over what was known of the limit under the configuration before, which ends. */
  void goOn(FollowingLimit before) {
    for (Link link : links) {
      before.links.stream()
          .filter(earlier -> earlier.probe == link.probe)
          .forEach(earlier -> link.controls = earlier.controls);
    }
    lowered = before.lowered;
    atFloor = before.atFloor;
  }

  /** Takes what is left of the limit of a node. */
  void take(String node, int left, int base) {
    if (left < base) {
      lowered.add(node);
    } else {
      lowered.remove(node);
    }
    if (left < base && left <= floor) {
      if (atFloor.add(node)) {
        fallen.add(node);
      }
    } else if (atFloor.remove(node)) {
      recovered.add(node);
    }
  }

  void forget(String node) {
    lowered.remove(node);
    atFloor.remove(node);
    links.forEach(link -> link.controls.remove(node));
  }

  /** Returns whether new values may raise the limit of a node. */
  boolean isLimiting() {
    return !lowered.isEmpty()
        || links.stream().anyMatch(link -> link.probe.fresh() < link.probe.nodeCount());
  }
}
