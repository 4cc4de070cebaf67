package io.espalier.core.scheduling.group;

import java.util.Arrays;

/**
 * Parked members in lists, each in the order of parking. A group has two lists: of members that are
 * idle and of members that are busy. A member is in one list at most.
 */
final class ParkedMembers {
  private static final int NONE = -1;

  /** By list: its first and last member. */
  private final int[] first;

  private final int[] last;

  /** By member: its list, and its neighbours there. */
  private final int[] lists;

  private final int[] next;
  private final int[] previous;
  private int size;

  ParkedMembers(int members, int groups) {
    first = filled(2 * groups);
    last = filled(2 * groups);
    lists = filled(members);
    next = filled(members);
    previous = filled(members);
  }

  private static int[] filled(int size) {
    int[] all = new int[size];
    Arrays.fill(all, NONE);
    return all;
  }

  boolean isParked(int member) {
    return lists[member] != NONE;
  }

  /** Returns the group in whose list a parked member is. */
  int group(int member) {
    return lists[member] >>> 1;
  }

  /** Returns whether a parked member is in the list of busy members. */
  boolean isBusy(int member) {
    return (lists[member] & 1) != 0;
  }

  /** Returns the member of a group that was parked first, or -1. */
  int first(int group, boolean busy) {
    return first[list(group, busy)];
  }

  /** Returns the number of parked members of all groups. */
  int size() {
    return size;
  }

  private static int list(int group, boolean busy) {
    return 2 * group + (busy ? 1 : 0);
  }

  /** Adds a member to the end of a list. */
  void add(int member, int group, boolean busy) {
    int list = list(group, busy);
    lists[member] = list;
    previous[member] = last[list];
    next[member] = NONE;
    if (last[list] == NONE) {
      first[list] = member;
    } else {
      next[last[list]] = member;
    }
    last[list] = member;
    size++;
  }

  void remove(int member) {
    int list = lists[member];
    if (previous[member] == NONE) {
      first[list] = next[member];
    } else {
      next[previous[member]] = next[member];
    }
    if (next[member] == NONE) {
      last[list] = previous[member];
    } else {
      previous[next[member]] = previous[member];
    }
    lists[member] = NONE;
    size--;
  }

  long byteSize() {
    return 4L * (2L * first.length + 3L * lists.length);
  }
}
