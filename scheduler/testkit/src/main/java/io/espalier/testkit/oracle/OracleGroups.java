package io.espalier.testkit.oracle;

import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.config.Config;
import io.espalier.core.config.GroupRule;
import io.espalier.core.json.Json;
import io.espalier.core.status.TaskKey;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.oracle.Oracle.Failure;
import io.espalier.testkit.oracle.Oracle.Place;
import io.espalier.testkit.oracle.Oracle.Run;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Counts redundancy groups from the running tasks, by name, and knows whose members are well. */
final class OracleGroups {
  private OracleGroups() {}

  /** Returns the nodes on which tasks run or below which they do. */
  static Set<Place> busy(Topology topology, Map<TaskKey, Run> running) {
    Set<Place> busy = new HashSet<>();
    running.values().forEach(run -> busy.addAll(run.path()));
    return busy;
  }

  /** Returns the groups that let nothing start on a node or below it. */
  static List<Failure> failures(
      Config config, Topology topology, int node, Set<Place> busy, OracleSlots slots) {
    List<Failure> failures = new ArrayList<>();
    for (GroupRule rule : config.settings().rules().groups()) {
      if (rule.level() == topology.level(node)) {
        for (String group : groups(rule, topology, node)) {
          if (after(rule, topology, group, node, busy) > limit(rule, topology, group, slots)) {
            failures.add(new Failure(Kind.GROUP, topology.name(node), ""));
          }
        }
      }
    }
    return failures;
  }

  /** Returns how many members may be busy: none while one is not well. */
  private static int limit(GroupRule rule, Topology topology, String group, OracleSlots slots) {
    List<Integer> members = members(rule, topology, group);
    for (int member : members) {
      Place place = new Place(topology.levels().name(rule.level()), topology.name(member));
      if (slots.health(place, rule.limitName()) == 0) {
        return 0;
      }
    }
    return rule.limit(members.size());
  }

  /** Returns how many members are busy once a task has started on a node or below it. */
  private static int after(
      GroupRule rule, Topology topology, String group, int node, Set<Place> busy) {
    int count = 0;
    for (int member : members(rule, topology, group)) {
      Place place =
          new Place(topology.levels().name(topology.level(member)), topology.name(member));
      count += member == node || busy.contains(place) ? 1 : 0;
    }
    return count;
  }

  private static List<Integer> members(GroupRule rule, Topology topology, String group) {
    List<Integer> members = new ArrayList<>();
    for (String name : OracleTree.names(topology, rule.level())) {
      int node = topology.find(rule.level(), name);
      if (groups(rule, topology, node).contains(group)) {
        members.add(node);
      }
    }
    return members;
  }

  private static Set<String> groups(GroupRule rule, Topology topology, int node) {
    Set<String> groups = new TreeSet<>();
    String[] by = rule.by().split(":", 2);
    for (int i = 0; i < topology.slotCount(node); i++) {
      int slot = topology.slot(node, i);
      if (by[0].equals("tag")) {
        for (String tag : topology.tags(slot)) {
          if (by[1].equals(tag)
              || (by[1].endsWith("*") && tag.startsWith(by[1].substring(0, by[1].length() - 1)))) {
            groups.add(tag);
          }
        }
      } else if (groups.isEmpty()) {
        Json value = topology.attributes(slot).get(by[1]);
        if (value != null && !(value instanceof Json.Null)) {
          groups.add(value.toString().replace("\"", ""));
        }
      }
    }
    return groups;
  }
}
