package io.espalier.core.topology;

import io.espalier.core.config.GroupRule;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The redundancy groups of a partition that have, or may have, members in other partitions too
 * (docs/groups.md#several-schedulers). Immutable.
 *
 * @param unseen kinds of groups of whose level a scheduler does not read all nodes: each of their
 *     groups may have members in other partitions
 * @param elsewhere by kind and name of the group: how many members other partitions have; only
 *     groups that have members in this partition
 */
public record SpreadGroups(Set<Kind> unseen, Map<Kind, Map<String, Integer>> elsewhere) {
  /** No group has members in other partitions. */
  public static final SpreadGroups NONE = new SpreadGroups(Set.of(), Map.of());

  /**
   * What the members of a kind of groups depend on.
   *
   * @param level index of the level of the members
   * @param by see {@link GroupRule#by}
   */
  public record Kind(int level, String by) {
    /** Returns the kind of a rule. */
    public static Kind of(GroupRule rule) {
      return new Kind(rule.level(), rule.by());
    }
  }

  public SpreadGroups {
    unseen = Set.copyOf(unseen);
    elsewhere =
        elsewhere.entrySet().stream()
            .collect(
                Collectors.toUnmodifiableMap(Map.Entry::getKey, e -> Map.copyOf(e.getValue())));
  }

  /** Returns whether any group of a kind may have members in other partitions. */
  public boolean isUnseen(GroupRule rule) {
    return !unseen.isEmpty() && unseen.contains(Kind.of(rule));
  }

  /** Returns how many members of a group other partitions are known to have. */
  public int elsewhere(GroupRule rule, String group) {
    return elsewhere.isEmpty()
        ? 0
        : elsewhere.getOrDefault(Kind.of(rule), Map.of()).getOrDefault(group, 0);
  }
}
