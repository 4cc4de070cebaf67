package io.espalier.core.api.group;

import java.util.List;

/**
 * A page of the redundancy groups of one kind (docs/groups.md).
 *
 * @param next cursor of the next page: the name of the last group of this one; empty: there is none
 */
public record GroupPage(List<Group> groups, String next) {
  public GroupPage {
    groups = List.copyOf(groups);
  }

  /**
   * One group.
   *
   * @param name the value of the attribute, or the tag
   * @param limit how many members may be busy at once now; 0: none may, because the group is spread
   *     over schedulers or a probe that it follows is bad on a member
   * @param size number of members
   * @param busy how many of them are busy; may exceed the limit, see docs/groups.md
   * @param members the first members, busy ones first
   */
  public record Group(String name, int limit, int size, int busy, List<Member> members) {
    public Group {
      members = List.copyOf(members);
    }
  }

  /**
   * A node that is a member.
   *
   * @param tasks running tasks on it or below it
   * @param job the job of one of them; empty: none
   * @param task the node of that task; empty: none
   */
  public record Member(String node, int tasks, String job, String task) {}
}
