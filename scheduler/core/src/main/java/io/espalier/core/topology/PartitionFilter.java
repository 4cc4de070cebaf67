package io.espalier.core.topology;

import io.espalier.core.config.GroupRule;
import io.espalier.core.problem.Problem;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Selects the nodes of one partition (docs/design/design.md#schedulers-that-share-a-configuration).
 * A node belongs to the subtree with the smallest name among the instance's children from which it
 * can be reached; it retains only the edges to parents of the same partition. All schedulers decide
 * alike, so each node is in exactly one partition.
 */
final class PartitionFilter {
  private static final int SAMPLES = 5;
  private static final int UNKNOWN = -2;

  private final TopologyBuilder from;
  private final Division division;
  private final int own;

  /** By entry: the child of the instance to whose subtree it belongs. */
  private final int[] tops;

  /**
   * By entry that is a child of the instance: its scheduler, or {@link Division#NOBODY}; {@link
   * #UNKNOWN}: not determined yet.
   */
  private final int[] owners;

  private int closed;
  private final List<String> samples = new ArrayList<>();

  PartitionFilter(TopologyBuilder from, Division division) {
    this.from = from;
    this.division = division;
    own = division.shard().index();
    tops = new int[from.size()];
    owners = new int[from.size()];
    Arrays.fill(owners, UNKNOWN);
  }

  /** The nodes of the partition alone, with the same problems. */
  TopologyBuilder cut(TopologyBuilder into) {
    findTops();
    int[] numbers = new int[tops.length];
    for (int entry = 1; entry < tops.length; entry++) {
      if (owner(entry) == own) {
        numbers[entry] = into.copyEntry(from, entry);
      }
    }
    for (int slot = 1; slot < from.slotCount(); slot++) {
      int entry = from.slotEntry(slot);
      int parent = from.slotParent(slot);
      boolean here = numbers[entry] > 0;
      boolean parentHere = parent == 0 ? isHere(entry) : numbers[parent] > 0;
      if (here && parentHere) {
        into.copySlot(from, slot, numbers[entry], parent == 0 ? 0 : numbers[parent]);
      } else if (here || parentHere) {
        note(entry, parent);
      }
    }
    return into;
  }

  /** A warning about the edges that were left out; empty when none were. */
  List<Problem> warnings() {
    if (closed == 0) {
      return List.of();
    }
    String more = closed > samples.size() ? ", …" : "";
    return List.of(
        Problem.warning(
                "bistro_settings.nodes",
                closed
                    + (closed == 1 ? " path is" : " paths are")
                    + " closed, because a node has one scheduler and its parents have several: "
                    + String.join(", ", samples)
                    + more)
            .withHint(
                "a node belongs with the smallest name directly under the instance above it"));
  }

  /**
   * The redundancy groups with members in this partition and in others. Must be called after {@link
   * #cut}.
   *
   * @param lowestSeen the lowest level whose nodes of all partitions are in the builder
   */
  SpreadGroups spread(List<GroupRule> rules, int lowestSeen) {
    Set<SpreadGroups.Kind> unseen = new HashSet<>();
    Map<SpreadGroups.Kind, Map<String, Integer>> elsewhere = new HashMap<>();
    for (GroupRule rule : rules) {
      if (rule.level() > lowestSeen) {
        unseen.add(SpreadGroups.Kind.of(rule));
        continue;
      }
      Map<String, Integer> counts = new HashMap<>();
      elsewhere(rule).forEach((group, entries) -> counts.put(group, entries.size()));
      if (!counts.isEmpty()) {
        elsewhere.put(SpreadGroups.Kind.of(rule), counts);
      }
    }
    return rules.isEmpty() ? SpreadGroups.NONE : new SpreadGroups(unseen, elsewhere);
  }

  /** By group with members here: the entries of other partitions that are members as well. */
  private Map<String, Set<Integer>> elsewhere(GroupRule rule) {
    Set<String> own = new HashSet<>();
    for (int slot = 1; slot < from.slotCount(); slot++) {
      if (isMember(rule, slot) && isOwn(slot)) {
        own.addAll(rule.groupsOf(from.tags(slot), from.attributes(slot)));
      }
    }
    Map<String, Set<Integer>> others = new HashMap<>();
    for (int slot = 1; slot < from.slotCount(); slot++) {
      if (isMember(rule, slot) && !isOwn(slot)) {
        for (String group : rule.groupsOf(from.tags(slot), from.attributes(slot))) {
          if (own.contains(group)) {
            others.computeIfAbsent(group, g -> new HashSet<>()).add(from.slotEntry(slot));
          }
        }
      }
    }
    return others;
  }

  private boolean isMember(GroupRule rule, int slot) {
    return from.entryLevel(from.slotEntry(slot)) == rule.level();
  }

  private boolean isOwn(int slot) {
    return owner(from.slotEntry(slot)) == own;
  }

  /** Returns true when a child of the instance belongs to this partition. */
  private boolean isHere(int entry) {
    return ownerOfTop(entry) == own;
  }

  private void note(int entry, int parent) {
    closed++;
    if (samples.size() < SAMPLES) {
      String above = parent == 0 ? "the instance" : NodeNames.shown(from.entryName(parent));
      samples.add(
          NodeNames.shown(from.entryName(entry))
              + " under "
              + above
              + (owner(entry) == Division.NOBODY
                  ? " (it is being handed over)"
                  : " (it is of shard " + owner(entry) + ")"));
    }
  }

  /**
   * Finds the smallest name above each entry. Parents come before their children, but a further
   * edge of a parent may come after them: therefore it repeats until nothing changes, which is
   * usually at once.
   */
  private void findTops() {
    Arrays.fill(tops, -1);
    boolean changed = true;
    while (changed) {
      changed = false;
      for (int slot = 1; slot < from.slotCount(); slot++) {
        int entry = from.slotEntry(slot);
        int parent = from.slotParent(slot);
        int top = parent == 0 ? entry : tops[parent];
        if (top != tops[entry] && (tops[entry] < 0 || isSmaller(top, tops[entry]))) {
          changed = tops[entry] >= 0 || changed;
          tops[entry] = top;
        }
      }
    }
  }

  /** Compares names by their UTF-8 bytes; for equal names the upper level is smaller. */
  private boolean isSmaller(int a, int b) {
    int byName = from.pool().compare(from.entryPosition(a), from.entryPosition(b));
    return byName != 0 ? byName < 0 : from.entryLevel(a) < from.entryLevel(b);
  }

  private int owner(int entry) {
    return ownerOfTop(tops[entry]);
  }

  private int ownerOfTop(int top) {
    if (owners[top] == UNKNOWN) {
      owners[top] = division.ownerOf(from.entryName(top));
    }
    return owners[top];
  }
}
