package io.espalier.core.scheduling.group;

import io.espalier.core.config.GroupRule;
import io.espalier.core.problem.Problem;
import io.espalier.core.topology.SpreadGroups;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which nodes are members of which redundancy groups, and how many of each group may be busy.
 * Immutable. It is computed outside the scheduler thread, in one pass over the nodes of its level
 * per kind of groups.
 *
 * <p>The nodes of each level with groups are numbered as members, level by level, whether they are
 * in a group or not. A node with several parents has a tag when any of its edges has it; an
 * attribute comes from the first edge that has it.
 *
 * <p>No member of a group with members in other partitions may be busy, because no scheduler knows
 * how many are busy in all.
 */
public final class GroupMembers {
  /** The node number minus the member number, for a level without groups. */
  private static final int NO_LEVEL = Integer.MIN_VALUE;

  private final List<GroupRule> rules;
  private final SpreadGroups spread;

  /** The levels with groups, top first. */
  private final int[] levels;

  /** By level: the number of a node minus its number as a member. */
  private final int[] offsets;

  private final int count;
  private final List<String> names = new ArrayList<>();

  /** By group: the index of its kind. */
  private final int[] kinds;

  /** By group: how many members may be busy. */
  private final int[] limits;

  /** By member: where its groups begin in {@link #groups}. */
  private final int[] groupsFrom;

  private final int[] groups;

  /** By group: where its members begin in {@link #members}. */
  private final int[] membersFrom;

  private final int[] members;

  /** By kind: how many nodes of its level are in no group, and the name of one. */
  private final int[] outside;

  private final String[] example;

  /** By kind: its first group. */
  private final int[] kindsFrom;

  /**
   * @param rules at least one kind
   */
  public GroupMembers(List<GroupRule> rules, Topology topology) {
    this.rules = rules;
    spread = topology.spreadGroups();
    levels = rules.stream().mapToInt(GroupRule::level).distinct().sorted().toArray();
    offsets = new int[topology.levels().count()];
    Arrays.fill(offsets, NO_LEVEL);
    int next = 0;
    for (int level : levels) {
      offsets[level] = topology.levelStart(level) - next;
      next += topology.levelEnd(level) - topology.levelStart(level);
    }
    count = next;
    outside = new int[rules.size()];
    example = new String[rules.size()];
    Arrays.fill(example, "");
    kindsFrom = new int[rules.size() + 1];
    Pairs pairs = new Pairs();
    List<Integer> kindOf = new ArrayList<>();
    for (int kind = 0; kind < rules.size(); kind++) {
      GroupRule rule = rules.get(kind);
      Map<String, Integer> known = new HashMap<>();
      for (int node = topology.levelStart(rule.level());
          node < topology.levelEnd(rule.level());
          node++) {
        Set<String> found = groupsOf(rule, topology, node);
        if (found.isEmpty() && outside[kind]++ == 0) {
          example[kind] = topology.name(node);
        }
        for (String name : found) {
          Integer group = known.get(name);
          if (group == null) {
            group = names.size();
            known.put(name, group);
            names.add(name);
            kindOf.add(kind);
          }
          pairs.add(member(node, rule.level()), group);
        }
      }
      kindsFrom[kind + 1] = names.size();
    }
    kinds = kindOf.stream().mapToInt(Integer::intValue).toArray();
    groupsFrom = starts(pairs.members, pairs.size, count);
    groups = grouped(pairs.members, pairs.groups, pairs.size, groupsFrom);
    membersFrom = starts(pairs.groups, pairs.size, names.size());
    members = grouped(pairs.groups, pairs.members, pairs.size, membersFrom);
    limits = new int[names.size()];
    for (int group = 0; group < limits.length; group++) {
      limits[group] = isSpread(group) ? 0 : rules.get(kinds[group]).limit(size(group));
    }
  }

  /** Members with their groups, as two growing columns. */
  private static final class Pairs {
    private int[] members = new int[16];
    private int[] groups = new int[16];
    private int size;

    void add(int member, int group) {
      if (size == members.length) {
        members = Arrays.copyOf(members, 2 * size);
        groups = Arrays.copyOf(groups, 2 * size);
      }
      members[size] = member;
      groups[size++] = group;
    }
  }

  private static int[] starts(int[] keys, int size, int keyCount) {
    int[] starts = new int[keyCount + 1];
    for (int i = 0; i < size; i++) {
      starts[keys[i] + 1]++;
    }
    for (int key = 0; key < keyCount; key++) {
      starts[key + 1] += starts[key];
    }
    return starts;
  }

  private static int[] grouped(int[] keys, int[] values, int size, int[] starts) {
    int[] next = starts.clone();
    int[] grouped = new int[size];
    for (int i = 0; i < size; i++) {
      grouped[next[keys[i]]++] = values[i];
    }
    return grouped;
  }

  /** Returns the names of the groups of one kind that a node is in. */
  private static Set<String> groupsOf(GroupRule rule, Topology topology, int node) {
    Set<String> found = new TreeSet<>();
    for (int i = 0; i < topology.slotCount(node); i++) {
      int slot = topology.slot(node, i);
      if (found.isEmpty() || rule.attribute().isEmpty()) {
        found.addAll(rule.groupsOf(topology.tags(slot), topology.attributes(slot)));
      }
    }
    return found;
  }

  // ---- kinds

  /** Returns the kinds of groups. */
  public List<GroupRule> rules() {
    return rules;
  }

  /** Returns the kind whose limits follow health under a name; -1: there is none. */
  public int kindOfLimit(String name) {
    for (int kind = 0; kind < rules.size(); kind++) {
      if (rules.get(kind).limitName().equals(name)) {
        return kind;
      }
    }
    return -1;
  }

  /** Returns how many nodes of the level of a kind are in no group of it. */
  public int outside(int kind) {
    return outside[kind];
  }

  /** Returns the number of groups of a kind. */
  public int groupCount(int kind) {
    return kindsFrom[kind + 1] - kindsFrom[kind];
  }

  /** Returns the first group of a kind; those of a kind follow each other. */
  public int firstGroup(int kind) {
    return kindsFrom[kind];
  }

  /** Returns the number of members of all groups of a kind. */
  public int memberCount(int kind) {
    return membersFrom[kindsFrom[kind + 1]] - membersFrom[kindsFrom[kind]];
  }

  /** Returns what looks like a mistake about the groups: kinds that limit nothing. */
  public List<Problem> problems() {
    List<Problem> problems = new ArrayList<>();
    for (int kind = 0; kind < rules.size(); kind++) {
      GroupRule rule = rules.get(kind);
      String path = "bistro_settings.groups." + rule.name();
      int nodes = outside[kind] + memberCount(kind);
      if (nodes > 0 && groupCount(kind) == 0) {
        problems.add(
            Problem.warning(path + ".by", "no node of the level has " + what(rule))
                .withHint(
                    "so there are no groups, and nothing is limited; look for a typing error"));
      } else if (outside[kind] > 0) {
        problems.add(
            Problem.warning(
                    path + ".by",
                    outside[kind]
                        + (outside[kind] == 1 ? " node" : " nodes")
                        + " of the level, such as "
                        + example[kind]
                        + ", "
                        + (outside[kind] == 1 ? "has" : "have")
                        + " no "
                        + what(rule))
                .withHint("they are in no group, so nothing limits how many of them are busy"));
      }
      addSpread(kind, path, problems);
      if (groupCount(kind) > 0 && rule.follows().isEmpty() && limitsNothing(kind)) {
        problems.add(
            Problem.warning(path, "no group has more members than may be busy at once")
                .withHint("so nothing is limited; is each node in a group of its own?"));
      }
    }
    return problems;
  }

  private void addSpread(int kind, String path, List<Problem> problems) {
    int count = 0;
    int some = -1;
    for (int group = kindsFrom[kind]; group < kindsFrom[kind + 1]; group++) {
      if (elsewhere(group) > 0) {
        count++;
        some = some < 0 ? group : some;
      }
    }
    if (count > 0) {
      problems.add(
          Problem.warning(
                  path,
                  (count == 1
                          ? "the members of 1 group, "
                          : "the members of " + count + " groups, such as ")
                      + name(some)
                      + " ("
                      + spreadWords(some)
                      + "), are on several schedulers, so nothing starts on them")
              .withHint(
                  "put all members of a group under one node directly below the instance, or run"
                      + " one scheduler"));
    }
  }

  /** Returns how many members of a group this scheduler and others have, in words. */
  public String spreadWords(int group) {
    return size(group)
        + (size(group) == 1 ? " member" : " members")
        + " here and "
        + elsewhere(group)
        + " on other schedulers";
  }

  private static String what(GroupRule rule) {
    int colon = rule.by().indexOf(':');
    return rule.by().substring(0, colon) + " \"" + rule.by().substring(colon + 1) + "\"";
  }

  private boolean limitsNothing(int kind) {
    for (int group = kindsFrom[kind]; group < kindsFrom[kind + 1]; group++) {
      if (limits[group] < size(group)) {
        return false;
      }
    }
    return true;
  }

  /** Returns the levels with groups, top first; must not be modified. */
  int[] levels() {
    return levels;
  }

  // ---- groups

  /** Returns the number of groups of all kinds. */
  public int groupCount() {
    return names.size();
  }

  /** Returns the name of a group: the value of the attribute, or the tag. */
  public String name(int group) {
    return names.get(group);
  }

  /** Returns the number of the kind of a group. */
  public int kind(int group) {
    return kinds[group];
  }

  /** Returns whether a group has, or may have, members in other partitions. */
  public boolean isSpread(int group) {
    return elsewhere(group) > 0 || spread.isUnseen(rules.get(kinds[group]));
  }

  /** Returns how many members a group is known to have in other partitions. */
  public int elsewhere(int group) {
    return spread.elsewhere(rules.get(kinds[group]), names.get(group));
  }

  /**
   * Returns how many members of a group may be busy at once while all are well; 0: the group
   * {@linkplain #isSpread is spread} over partitions.
   */
  public int limit(int group) {
    return limits[group];
  }

  /** Returns the number of members of a group. */
  public int size(int group) {
    return membersFrom[group + 1] - membersFrom[group];
  }

  /** Returns the i-th member of a group. */
  public int memberOf(int group, int i) {
    return members[membersFrom[group] + i];
  }

  // ---- members

  /** Returns the number of nodes on levels with groups. */
  public int count() {
    return count;
  }

  /** Returns whether nodes of a level are members. */
  public boolean has(int level) {
    return offsets[level] != NO_LEVEL;
  }

  /** Returns the number of a node as a member; its level must have groups. */
  public int member(int node, int level) {
    return node - offsets[level];
  }

  /** Returns the node of a member of a level. */
  public int node(int member, int level) {
    return member + offsets[level];
  }

  /** Returns where the groups of a member begin, for {@link #group}. */
  int groupsFrom(int member) {
    return groupsFrom[member];
  }

  /** Returns a group by its position. */
  int group(int position) {
    return groups[position];
  }

  /** Returns the groups of a member, as a new array. */
  public int[] groupsOf(int member) {
    return Arrays.copyOfRange(groups, groupsFrom[member], groupsFrom[member + 1]);
  }

  public long byteSize() {
    return 4L * (groupsFrom.length + groups.length + membersFrom.length + members.length);
  }
}
