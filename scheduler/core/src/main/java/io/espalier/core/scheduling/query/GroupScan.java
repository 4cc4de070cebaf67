package io.espalier.core.scheduling.query;

import io.espalier.core.api.group.GroupPage;
import io.espalier.core.scheduling.group.GroupMembers;
import io.espalier.core.scheduling.group.RedundancyGroups;
import io.espalier.core.scheduling.state.RunNames;
import io.espalier.core.scheduling.state.SchedulingState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Lists the redundancy groups of a kind with their members, and the tasks that keep them busy, in
 * slices: first a pass over groups and members, then one over the running tasks. Tasks that start
 * or end between two slices may be missing or superfluous; when jobs or nodes are renumbered, the
 * scan begins again.
 *
 * <p>{@code CapacityQueries.groups} creates it; use it on the thread of the core.
 */
public final class GroupScan {
  /** The maximum number of members that are listed of a group. */
  public static final int MOST_MEMBERS = 50;

  /** What a scan found. */
  public enum Outcome {
    UNFINISHED,
    DONE,
    NO_SUCH_KIND,
    NO_SUCH_CURSOR
  }

  private final Supplier<SchedulingState> current;
  private final String kind;
  private final boolean onlyFull;
  private final String after;
  private final int limit;

  private @Nullable SchedulingState state;
  private final List<Found> found = new ArrayList<>();

  /** The busy members that are listed, with a running task of each once it is found. */
  private final Map<Integer, Example> examples = new HashMap<>();

  /** Whether the group of the cursor is still to be found. */
  private boolean seeking;

  private boolean isListed;
  private String next = "";
  private int group;
  private int end;
  private int member;
  private int run;
  private int used;

  private record Example(String job, String task) {}

  private record Found(int group, List<Integer> busy, List<Integer> idle) {}

  GroupScan(
      Supplier<SchedulingState> current, String kind, boolean onlyFull, String after, int limit) {
    this.current = current;
    this.kind = kind;
    this.onlyFull = onlyFull;
    this.after = after;
    this.limit = limit;
  }

  /**
   * Runs a slice.
   *
   * @param units the maximum number of groups, members and running tasks to look at
   */
  public Outcome step(int units) {
    used = 0;
    SchedulingState now = current.get();
    RedundancyGroups groups = now.groups;
    int number = groups == null ? -1 : kind(groups.members());
    if (groups == null || number < 0) {
      return Outcome.NO_SUCH_KIND;
    }
    if (now != state) {
      begin(now, groups.members(), number);
    }
    while (!isListed && used < units) {
      used++;
      if (!list(groups)) {
        return Outcome.NO_SUCH_CURSOR;
      }
    }
    for (; isListed && run < now.runs.high() && used < units; run++, used++) {
      look(now, groups.members(), number);
    }
    return isListed && run >= now.runs.high() ? Outcome.DONE : Outcome.UNFINISHED;
  }

  /** Returns how many groups, members and running tasks the last slice looked at. */
  public int used() {
    return used;
  }

  private int kind(GroupMembers members) {
    for (int i = 0; i < members.rules().size(); i++) {
      if (members.rules().get(i).name().equals(kind)) {
        return i;
      }
    }
    return -1;
  }

  private void begin(SchedulingState now, GroupMembers members, int number) {
    state = now;
    found.clear();
    examples.clear();
    seeking = !after.isEmpty();
    isListed = false;
    next = "";
    group = members.firstGroup(number);
    end = group + members.groupCount(number);
    member = -1;
    run = 0;
  }

  /** Looks at the next group or member; false: the group of the cursor is no more. */
  private boolean list(RedundancyGroups groups) {
    GroupMembers members = groups.members();
    if (member >= 0) {
      add(groups, members.memberOf(group, member++));
      if (member == members.size(group)) {
        member = -1;
        group++;
      }
    } else if (group == end) {
      isListed = true;
      return !seeking;
    } else if (seeking || (onlyFull && !groups.isFull(group))) {
      seeking &= !members.name(group).equals(after);
      group++;
    } else if (found.size() == limit) {
      next = members.name(found.get(limit - 1).group());
      isListed = true;
    } else {
      found.add(new Found(group, new ArrayList<>(), new ArrayList<>()));
      member = 0;
    }
    return true;
  }

  private void add(RedundancyGroups groups, int of) {
    Found last = found.get(found.size() - 1);
    List<Integer> list = groups.isBusy(of) ? last.busy() : last.idle();
    if (list.size() < MOST_MEMBERS) {
      list.add(of);
      if (groups.isBusy(of)) {
        examples.put(of, new Example("", ""));
      }
    }
  }

  private void look(SchedulingState now, GroupMembers members, int number) {
    int level = members.rules().get(number).level();
    int node = now.runs.isUsed(run) ? now.places.node(run, level) : -1;
    Example known = node < 0 ? null : examples.get(members.member(node, level));
    if (known != null && known.task().isEmpty()) {
      examples.put(
          members.member(node, level),
          new Example(RunNames.job(now, now.runs, run), RunNames.node(now, now.runs, run)));
    }
  }

  /** Returns the page; the scan must be done, and nothing may have happened since. */
  public GroupPage page() {
    SchedulingState now = current.get();
    RedundancyGroups groups = now.groups;
    if (groups == null || now != state) {
      throw new IllegalStateException("the scan is not done");
    }
    List<GroupPage.Group> page = new ArrayList<>();
    for (Found each : found) {
      List<GroupPage.Member> shown = new ArrayList<>();
      each.busy().forEach(of -> shown.add(member(now, groups, each.group(), of)));
      each.idle().stream()
          .limit(MOST_MEMBERS - shown.size())
          .forEach(of -> shown.add(member(now, groups, each.group(), of)));
      GroupMembers members = groups.members();
      page.add(
          new GroupPage.Group(
              members.name(each.group()),
              groups.limit(each.group()),
              members.size(each.group()),
              groups.busy(each.group()),
              shown));
    }
    return new GroupPage(page, next);
  }

  private GroupPage.Member member(SchedulingState now, RedundancyGroups groups, int group, int of) {
    GroupMembers members = groups.members();
    int level = members.rules().get(members.kind(group)).level();
    Example task = examples.getOrDefault(of, new Example("", ""));
    return new GroupPage.Member(
        now.topology.name(members.node(of, level)), groups.tasks(of), task.job(), task.task());
  }
}
