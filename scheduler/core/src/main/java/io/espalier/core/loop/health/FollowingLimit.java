package io.espalier.core.loop.health;

import io.espalier.core.config.GroupRule;
import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.SchedulingCore;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A limit that follows probes, on all nodes of its level: that of a resource, or that of a kind of
 * redundancy groups, which is 1 where a member is well and 0 where it is not.
 */
final class FollowingLimit {
  /** The name of the resource, or {@link GroupRule#limitName}. */
  final String name;

  final int level;
  final String levelName;
  final int floor;

  /** Null: it is that of a kind of groups. */
  private final @Nullable Resource resource;

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

  FollowingLimit(Resource resource, String levelName, int floor) {
    this(resource.name(), resource.level(), levelName, floor, resource);
  }

  FollowingLimit(GroupRule kind, String levelName) {
    this(kind.limitName(), kind.level(), levelName, 0, null);
  }

  private FollowingLimit(
      String name, int level, String levelName, int floor, @Nullable Resource resource) {
    this.name = name;
    this.level = level;
    this.levelName = levelName;
    this.floor = floor;
    this.resource = resource;
  }

  /** Returns the limit of a node as configured or overridden. */
  int base(SchedulingCore core, int node) {
    return resource == null ? 1 : core.capacity().baseLimit(node, resource.index());
  }

  /** Returns the limit that a node would have if health took nothing away. */
  int whole(SchedulingCore core, int node) {
    return resource == null ? 1 : core.capacity().limitWithoutHealth(node, resource.index());
  }

  /** Returns what a value is to be judged by. */
  SlotControl.Place place(SchedulingCore core, int node) {
    int used =
        resource == null
            ? 0
            : core.capacity().limit(node, resource.index())
                - core.capacity().free(node, resource.index());
    return new SlotControl.Place(base(core, node), whole(core, node), floor, used);
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
