package io.espalier.core.scheduling.window;

import io.espalier.core.config.Job;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.window.WindowGroup.Cutoff;
import io.espalier.core.topology.Topology;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * Closes jobs on nodes whose window would close before their tasks end, with a gate for each job
 * and node, which is opened when the window has closed: then the node is closed for all jobs. Which
 * jobs that are is known for each group of nodes at once; the gates follow in slices. For one
 * thread.
 */
final class NodeCutoffs {
  private static final int MOST_TOLD = 10;

  private final SchedulingCore core;
  private final ToLongFunction<Job> takes;
  private final long askMillis;

  /** By job; without the jobs whose tasks may overrun windows. */
  private final Map<String, Tasks> byJob = new LinkedHashMap<>();

  private final ArrayDeque<Flip> flips = new ArrayDeque<>();
  private long longest;
  private long ask;
  private long next = Long.MAX_VALUE;
  private String tooLong = "";

  /**
   * The tasks of a job.
   *
   * @param level the level of their nodes: windows further down do not concern them
   */
  private record Tasks(long takesMillis, int level) {
    boolean isOn(WindowGroup group) {
      return level >= group.key.level();
    }
  }

  /** Gates of a job on the nodes of a group that are to follow the cut-offs of the group. */
  private static final class Flip {
    final WindowGroup group;
    final String job;
    int applied;

    Flip(WindowGroup group, String job) {
      this.group = group;
      this.job = job;
    }
  }

  NodeCutoffs(SchedulingCore core, ToLongFunction<Job> takes, long askMillis) {
    this.core = core;
    this.takes = takes;
    this.askMillis = askMillis;
  }

  /** Forgets the groups, as others come, and what was to be done with them. */
  void clear() {
    flips.clear();
    configured();
  }

  /** Takes note of a new configuration. */
  void configured() {
    ask = Long.MIN_VALUE;
    next = Long.MIN_VALUE;
  }

  /** Returns when {@link #update} is due; {@link Long#MAX_VALUE}: never. */
  long nextMillis() {
    return next;
  }

  /** Returns whether {@link #apply} has something left to do. */
  boolean isBehind() {
    return !flips.isEmpty();
  }

  /** Returns which jobs have tasks that take longer than windows are open; empty: none. */
  String tooLong() {
    return tooLong;
  }

  /**
   * Determines which jobs are cut off in which groups.
   *
   * @return whether gates are to be closed or opened
   */
  boolean update(Collection<WindowGroup> groups, long nowMillis) {
    if (nowMillis >= ask && !groups.isEmpty()) {
      ask(nowMillis);
    }
    next = groups.isEmpty() ? Long.MAX_VALUE : ask;
    int before = flips.size();
    groups.forEach(group -> update(group, nowMillis));
    tell(groups);
    return flips.size() > before;
  }

  private void ask(long nowMillis) {
    byJob.clear();
    longest = 0;
    for (Job job : core.config().jobs().values()) {
      if (!job.scheduling().mayOverrun()) {
        long each = takes.applyAsLong(job);
        byJob.put(job.name(), new Tasks(each, job.level()));
        longest = Math.max(longest, each);
      }
    }
    boolean isOnce = byJob.isEmpty() || askMillis == Long.MAX_VALUE;
    ask = isOnce ? Long.MAX_VALUE : nowMillis + askMillis;
  }

  private void update(WindowGroup group, long nowMillis) {
    Set<String> ended = new LinkedHashSet<>(group.cutoffs.keySet());
    long first = WindowCutoff.closedFrom(group.changes, longest);
    if (!group.isClosed && nowMillis < first) {
      next = Math.min(next, first);
    } else if (!group.isClosed) {
      byJob.forEach(
          (job, tasks) -> {
            long from = WindowCutoff.closedFrom(group.changes, tasks.takesMillis);
            if (nowMillis < from) {
              next = Math.min(next, from);
            } else if (tasks.isOn(group)) {
              ended.remove(job);
              cutOff(group, job, tasks.takesMillis, nowMillis);
            }
          });
    }
    for (String job : ended) {
      group.cutoffs.remove(job);
      flips.add(new Flip(group, job));
    }
  }

  private void cutOff(WindowGroup group, String job, long takesMillis, long nowMillis) {
    Cutoff before = group.cutoffs.get(job);
    if (before == null || before.takesMillis() != takesMillis) {
      Cutoff cutoff = group.cutoff(takesMillis, nowMillis);
      group.cutoffs.put(job, cutoff);
      // Gates keep what was known when they were closed, as long as they end at the same time.
      if (before == null || before.untilMillis() != cutoff.untilMillis()) {
        flips.add(new Flip(group, job));
      }
    }
  }

  private void tell(Collection<WindowGroup> groups) {
    Map<String, Integer> nodes = new LinkedHashMap<>();
    for (WindowGroup group : groups) {
      if (group.isTooLong(longest)) {
        byJob.forEach(
            (job, tasks) -> {
              if (tasks.isOn(group) && group.isTooLong(tasks.takesMillis)) {
                nodes.merge(job, group.nodes.size(), Integer::sum);
              }
            });
      }
    }
    List<String> told = new ArrayList<>();
    byJob.forEach(
        (job, tasks) -> {
          int count = nodes.getOrDefault(job, 0);
          if (count > 0) {
            String takesUpTo = WindowMessages.minutes(tasks.takesMillis);
            told.add(job + " (" + takesUpTo + ", " + count + (count == 1 ? " node)" : " nodes)"));
          }
        });
    int more = told.size() - MOST_TOLD;
    tooLong =
        (told.isEmpty() ? "" : "tasks take longer than windows of nodes are open: ")
            + String.join(", ", told.subList(0, Math.min(MOST_TOLD, told.size())))
            + (more > 0 ? " and " + more + " more" : "");
  }

  /**
   * Closes and opens gates.
   *
   * @param most how many
   * @param stale gates of before; those that are right now are removed
   * @return how many more there may be
   */
  int apply(int most, Map<Scope, Gate> stale) {
    int left = most;
    while (left > 0 && !flips.isEmpty()) {
      Flip flip = flips.element();
      for (; flip.applied < flip.group.nodes.size() && left > 0; left--) {
        apply(flip, flip.group.nodes.get(flip.applied++), stale);
      }
      if (flip.applied == flip.group.nodes.size()) {
        flips.remove();
      }
    }
    return left;
  }

  private void apply(Flip flip, int node, Map<Scope, Gate> stale) {
    Topology nodes = core.topology();
    String level = nodes.levels().name(flip.group.key.level());
    Scope scope = Scope.jobOnNode(flip.job, level, nodes.name(node));
    Gate before = stale.remove(scope);
    Cutoff cutoff = flip.group.cutoffs.get(flip.job);
    if (cutoff == null) {
      core.gates().open(GateKind.WINDOW_CUTOFF, scope);
      return;
    }
    long since = before == null ? cutoff.sinceMillis() : before.sinceMillis();
    Gate gate =
        new Gate(GateKind.WINDOW_CUTOFF, scope, "", cutoff.reason(), since, cutoff.untilMillis());
    if (!gate.equals(before)) {
      core.gates().close(gate);
    }
  }
}
