package io.espalier.core.scheduling.query;

import io.espalier.core.api.group.GroupKindView;
import io.espalier.core.config.GroupRule;
import io.espalier.core.scheduling.group.GroupMembers;
import io.espalier.core.scheduling.group.RedundancyGroups;
import io.espalier.core.scheduling.state.SchedulingState;
import java.util.ArrayList;
import java.util.List;

/** Describes redundancy groups. */
final class GroupViews {
  private GroupViews() {}

  /** Returns the kinds of groups. Costs time proportional to their number. */
  static List<GroupKindView> kinds(SchedulingState state) {
    RedundancyGroups groups = state.groups;
    List<GroupKindView> kinds = new ArrayList<>();
    if (groups == null) {
      return kinds;
    }
    GroupMembers members = groups.members();
    for (int kind = 0; kind < members.rules().size(); kind++) {
      GroupRule rule = members.rules().get(kind);
      kinds.add(
          new GroupKindView(
              rule.name(),
              state.topology.levels().name(rule.level()),
              rule.by(),
              members.groupCount(kind),
              members.memberCount(kind),
              members.outside(kind),
              groups.busyOfKind(kind),
              groups.fullOfKind(kind),
              groups.parkedOfKind(kind),
              groups.parks(kind),
              groups.wakes(kind)));
    }
    return kinds;
  }
}
