package io.espalier.core.scheduling.group;

import io.espalier.core.config.GroupRule;
import io.espalier.core.scheduling.index.NodeCondition;
import io.espalier.core.scheduling.index.StartableIndex;
import io.espalier.core.topology.Topology;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Counts the busy members of redundancy groups, decides whether a task may start below a member,
 * and parks the members below which none may (see the description of the package).
 *
 * <p>A member is busy while a task runs on it or below it, whichever job it is of. A task may start
 * when after that no more members of each group on its path are busy than the limit says: also on a
 * busy member only while the group is not over its limit. Tasks that are adopted or carried over
 * count, but are asked nothing. While a member of a group is not well, its limit is 0.
 */
public final class RedundancyGroups implements NodeCondition {
  private final GroupMembers members;
  private final int[] levels;

  /** By member: the running tasks on it or below it. */
  private final int[] tasks;

  /** By group: the busy members. */
  private final int[] busy;

  /** By group: how many members may be busy now. */
  private final int[] limits;

  /** By kind: the members that are not well; null: none ever was. */
  private final @Nullable BitSet[] unwell;

  /** By group: how many members are not well. */
  private final int[] unwellOf;

  private final ParkedMembers parked;

  /** Groups that may have parked members and room for one of them. */
  private final Queue<Integer> roomy = new ArrayDeque<>();

  private final BitSet isRoomy = new BitSet();

  /** By group: how many members were woken last, without a start since; 0: none. */
  private final int[] woken;

  /** By kind: busy members, parked members, and groups without room for another member. */
  private final int[] busyOfKind;

  private final int[] parkedOfKind;
  private final int[] fullOfKind;

  /** By kind. */
  private final long[] parks;

  private final long[] wakes;

  private RedundancyGroups(GroupMembers members) {
    this.members = members;
    levels = members.levels();
    tasks = new int[members.count()];
    busy = new int[members.groupCount()];
    woken = new int[members.groupCount()];
    limits = new int[members.groupCount()];
    Arrays.setAll(limits, members::limit);
    unwellOf = new int[members.groupCount()];
    unwell = new BitSet[members.rules().size()];
    parked = new ParkedMembers(members.count(), members.groupCount());
    int kinds = members.rules().size();
    busyOfKind = new int[kinds];
    parkedOfKind = new int[kinds];
    fullOfKind = new int[kinds];
    parks = new long[kinds];
    wakes = new long[kinds];
    for (int group = 0; group < members.groupCount(); group++) {
      fullOfKind[members.kind(group)] += isFull(group) ? 1 : 0;
    }
  }

  /** Returns the groups of a tree; null: none are configured. */
  public static @Nullable RedundancyGroups of(List<GroupRule> rules, Topology topology) {
    return rules.isEmpty() ? null : new RedundancyGroups(new GroupMembers(rules, topology));
  }

  /** Returns which node is in which group. */
  public GroupMembers members() {
    return members;
  }

  // ---- running tasks

  /**
   * Counts a task that runs from now on.
   *
   * @param path the node per level, -1 for none
   */
  public void entered(int[] path) {
    for (int level : levels) {
      int member = path[level] < 0 ? -1 : members.member(path[level], level);
      if (member >= 0 && tasks[member]++ == 0) {
        changed(member, 1);
      }
    }
  }

  /** Counts a task no longer. */
  public void left(int[] path) {
    for (int level : levels) {
      int member = path[level] < 0 ? -1 : members.member(path[level], level);
      if (member >= 0 && --tasks[member] == 0) {
        changed(member, -1);
      }
    }
  }

  private void changed(int member, int by) {
    if (parked.isParked(member)) {
      int group = parked.group(member);
      parked.remove(member);
      parked.add(member, group, by > 0);
    }
    for (int i = members.groupsFrom(member); i < members.groupsFrom(member + 1); i++) {
      int group = members.group(i);
      int kind = members.kind(group);
      fullOfKind[kind] -= isFull(group) ? 1 : 0;
      busy[group] += by;
      busyOfKind[kind] += by;
      fullOfKind[kind] += isFull(group) ? 1 : 0;
      if (by > 0) {
        woken[group] = 0;
      }
      noteRoom(group);
    }
  }

  private void noteRoom(int group) {
    if (hasWakeable(group) && !isRoomy.get(group)) {
      isRoomy.set(group);
      roomy.add(group);
    }
  }

  // ---- health

  /**
   * Notes whether a member is well, as far as its groups of a kind are concerned. While one member
   * of a group is not, no task starts on any of them.
   *
   * @return whether that is a change
   */
  public boolean setWell(int kind, int member, boolean isWell) {
    if (isWell == isWell(kind, member)) {
      return false;
    }
    BitSet ofKind = unwell[kind] == null ? new BitSet(members.count()) : unwell[kind];
    ofKind.set(member, !isWell);
    unwell[kind] = ofKind;
    for (int i = members.groupsFrom(member); i < members.groupsFrom(member + 1); i++) {
      int group = members.group(i);
      if (members.kind(group) == kind) {
        fullOfKind[kind] -= isFull(group) ? 1 : 0;
        unwellOf[group] += isWell ? -1 : 1;
        limits[group] = unwellOf[group] > 0 ? 0 : members.limit(group);
        fullOfKind[kind] += isFull(group) ? 1 : 0;
        noteRoom(group);
      }
    }
    return true;
  }

  /** Returns whether a member is well, as far as its groups of a kind are concerned. */
  public boolean isWell(int kind, int member) {
    BitSet ofKind = unwell[kind];
    return ofKind == null || !ofKind.get(member);
  }

  /** Returns the first member of a group that is not well; -1: all are. */
  public int unwell(int group) {
    for (int i = 0; unwellOf[group] > 0 && i < members.size(group); i++) {
      if (!isWell(members.kind(group), members.memberOf(group, i))) {
        return members.memberOf(group, i);
      }
    }
    return -1;
  }

  // ---- decisions

  /** Returns whether a group lets a task start below one of its members. */
  private boolean lets(int group, boolean isBusy) {
    return busy[group] + (isBusy ? 0 : 1) <= limits[group];
  }

  /** Returns a group that lets no task start below a member; -1: all do. */
  private int obstacle(int member) {
    for (int i = members.groupsFrom(member); i < members.groupsFrom(member + 1); i++) {
      if (!lets(members.group(i), tasks[member] > 0)) {
        return members.group(i);
      }
    }
    return -1;
  }

  /** Returns how many groups let no task start on a node or below it. */
  public int obstacles(int node, int level) {
    int count = 0;
    int member = members.has(level) ? members.member(node, level) : -1;
    if (member >= 0) {
      for (int i = members.groupsFrom(member); i < members.groupsFrom(member + 1); i++) {
        count += blocks(members.group(i), member) ? 1 : 0;
      }
    }
    return count;
  }

  /** Returns whether no further member of a group may become busy. */
  public boolean isFull(int group) {
    return !lets(group, false);
  }

  /** Returns whether a group lets no task start below a member of it. */
  public boolean blocks(int group, int member) {
    return !lets(group, tasks[member] > 0);
  }

  @Override
  public long mask(int node, int level, int word) {
    return members.has(level) && parked.isParked(members.member(node, level)) ? 0 : -1L;
  }

  /**
   * Parks a member of a path if a group lets no task start below it.
   *
   * @param path the node per level, -1 for none
   * @return whether that was so, and the task must not start
   */
  public boolean park(int[] path, StartableIndex index) {
    for (int level : levels) {
      int node = path[level];
      int member = node < 0 ? -1 : members.member(node, level);
      int obstacle = member < 0 ? -1 : obstacle(member);
      if (obstacle >= 0) {
        int kind = members.kind(obstacle);
        parks[kind]++;
        parkedOfKind[kind]++;
        parked.add(member, obstacle, tasks[member] > 0);
        index.refresh(node, level);
        return true;
      }
    }
    return false;
  }

  // ---- waking

  /** Returns the parked member of a group that may be woken next; -1: none. */
  private int wakeable(int group) {
    int member = lets(group, true) ? parked.first(group, true) : -1;
    return member < 0 && lets(group, false) ? parked.first(group, false) : member;
  }

  private boolean hasWakeable(int group) {
    return wakeable(group) >= 0;
  }

  /**
   * Wakes parked members of the groups that have room: in each as many as there is room for at
   * first, and twice as many each time that none of them had a task to start.
   *
   * @param most about how many to wake
   * @return false when no group with room has parked members
   */
  public boolean wake(int most, StartableIndex index) {
    boolean any = false;
    int left = Math.max(1, most);
    for (int n = roomy.size(); n > 0 && left > 0; n--) {
      int group = roomy.remove();
      int room = Math.max(1, limits[group] - busy[group]);
      int batch = Math.min(left, Math.max(room, 2 * woken[group]));
      int done = 0;
      for (int member = wakeable(group); member >= 0 && done < batch; member = wakeable(group)) {
        unpark(member, members.rules().get(members.kind(group)).level(), index);
        done++;
      }
      any |= done > 0;
      left -= done;
      woken[group] = done;
      if (hasWakeable(group)) {
        roomy.add(group);
      } else {
        isRoomy.clear(group);
        woken[group] = 0;
      }
    }
    return any || !roomy.isEmpty();
  }

  private void unpark(int member, int level, StartableIndex index) {
    int kind = members.kind(parked.group(member));
    wakes[kind]++;
    parkedOfKind[kind]--;
    parked.remove(member);
    index.refresh(members.node(member, level), level);
  }

  // ---- figures

  /** Returns the number of busy members of a group. */
  public int busy(int group) {
    return busy[group];
  }

  /**
   * Returns how many members of a group may be busy now; 0 while a member is not well, and where
   * {@link GroupMembers#limit} is 0.
   */
  public int limit(int group) {
    return limits[group];
  }

  /** Returns the number of running tasks on a member or below it. */
  public int tasks(int member) {
    return tasks[member];
  }

  /** Returns whether a task runs on a member or below it. */
  public boolean isBusy(int member) {
    return tasks[member] > 0;
  }

  /** Returns the number of busy members of all groups of a kind. */
  public int busyOfKind(int kind) {
    return busyOfKind[kind];
  }

  /** Returns the number of parked members of all groups of a kind. */
  public int parkedOfKind(int kind) {
    return parkedOfKind[kind];
  }

  /** Returns the number of groups of a kind without room for another busy member. */
  public int fullOfKind(int kind) {
    return fullOfKind[kind];
  }

  /** Returns how many walks ended at a full group; each parked a member. */
  public long parks(int kind) {
    return parks[kind];
  }

  /** Returns how many parked members were opened again. */
  public long wakes(int kind) {
    return wakes[kind];
  }

  public long byteSize() {
    return members.byteSize() + parked.byteSize() + 4L * (tasks.length + 4L * busy.length);
  }

  /**
   * Compares the counts with those of the running tasks, and checks that no parked member is
   * forgotten.
   *
   * @param running by member: the running tasks on it or below it
   * @throws IllegalStateException with the first difference
   */
  public void check(int[] running) {
    for (int member = 0; member < tasks.length; member++) {
      require(tasks[member] == running[member], "tasks of member " + member);
      require(
          !parked.isParked(member) || parked.isBusy(member) == tasks[member] > 0,
          "list of member " + member);
    }
    int[] full = new int[fullOfKind.length];
    for (int group = 0; group < busy.length; group++) {
      int counted = 0;
      int notWell = 0;
      for (int i = 0; i < members.size(group); i++) {
        counted += tasks[members.memberOf(group, i)] > 0 ? 1 : 0;
        notWell += isWell(members.kind(group), members.memberOf(group, i)) ? 0 : 1;
      }
      require(notWell == unwellOf[group], "members of group " + group + " that are not well");
      require(limits[group] == (notWell > 0 ? 0 : members.limit(group)), "limit of " + group);
      require(counted == busy[group], "busy members of group " + group);
      full[members.kind(group)] += isFull(group) ? 1 : 0;
      require(!hasWakeable(group) || isRoomy.get(group), "room of group " + group);
    }
    require(Arrays.equals(full, fullOfKind), "full groups");
    require(Arrays.stream(parkedOfKind).sum() == parked.size(), "parked members");
  }

  private static void require(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException("the redundancy groups are inconsistent: " + what);
    }
  }
}
