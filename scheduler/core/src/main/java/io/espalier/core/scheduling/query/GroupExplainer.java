package io.espalier.core.scheduling.query;

import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.api.view.Explanation.Reason;
import io.espalier.core.config.GroupRule;
import io.espalier.core.scheduling.capacity.HealthLimit;
import io.espalier.core.scheduling.group.GroupMembers;
import io.espalier.core.scheduling.group.RedundancyGroups;
import io.espalier.core.scheduling.state.RunNames;
import io.espalier.core.scheduling.state.SchedulingState;
import java.util.ArrayList;
import java.util.List;

/** Explains which redundancy groups let no task start on a node or below it. */
final class GroupExplainer {
  private GroupExplainer() {}

  /** Returns a reason for each such group. Costs a pass over the running tasks if there is one. */
  static List<Reason> reasons(SchedulingState state, RedundancyGroups groups, int node, int level) {
    List<Reason> reasons = new ArrayList<>();
    GroupMembers members = groups.members();
    if (!members.has(level)) {
      return reasons;
    }
    int member = members.member(node, level);
    for (int group : members.groupsOf(member)) {
      if (groups.blocks(group, member)) {
        reasons.add(
            Reason.of(Kind.GROUP, state.topology.name(node), message(state, groups, group, level)));
      }
    }
    return reasons;
  }

  private static String message(
      SchedulingState state, RedundancyGroups groups, int group, int level) {
    GroupMembers members = groups.members();
    GroupRule rule = members.rules().get(members.kind(group));
    String named = rule.name() + " " + members.name(group);
    if (members.isSpread(group)) {
      return named
          + (members.elsewhere(group) > 0
              ? " has " + members.spreadWords(group)
              : " may have members on other schedulers, because this one does not read all nodes")
          + ": none of them may be busy, as no scheduler knows how many are";
    }
    int unwell = groups.unwell(group);
    if (unwell >= 0) {
      String node = state.topology.name(members.node(unwell, level));
      HealthLimit health = state.limitTable.healthOn(rule.limitName(), node);
      String why = health == null ? "" : health.reasonAt(state.clock.wallMillis());
      return named + " is closed because of its member " + node + (why.isEmpty() ? "" : ": " + why);
    }
    int busy = groups.busy(group);
    String said = named + " allows " + GroupRule.words(members.limit(group)) + ": ";
    int run = firstRun(state, groups, group, level);
    if (run < 0) {
      return said + busy + " are busy";
    }
    String example =
        state.topology.name(state.places.node(run, level))
            + " is busy with task "
            + RunNames.node(state, state.runs, run)
            + " of job "
            + RunNames.job(state, state.runs, run);
    return busy == 1 ? said + example : said + busy + " are busy, " + example;
  }

  /** Returns a running task on a member or below it; -1: none. */
  private static int firstRun(
      SchedulingState state, RedundancyGroups groups, int group, int level) {
    GroupMembers members = groups.members();
    for (int run = 0; run < state.runs.high(); run++) {
      int at = state.runs.isUsed(run) ? state.places.node(run, level) : -1;
      if (at >= 0) {
        for (int of : members.groupsOf(members.member(at, level))) {
          if (of == group) {
            return run;
          }
        }
      }
    }
    return -1;
  }
}
