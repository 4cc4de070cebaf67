package io.espalier.core.loop.rollout;

import io.espalier.core.config.rollout.RolloutSpec;
import io.espalier.core.loop.health.HealthLimits;
import io.espalier.core.loop.health.ProbeAnswer.Sample;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.topology.Topology;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the probes of roll-outs say of the nodes below which their tasks have started. A value
 * counts if it was sampled after the first start there: what was bad before is not the fault of the
 * roll-out. For the owner of the loop.
 */
final class StageProbes {
  private static final int TASKS_PER_SLICE = 10_000;

  private final SchedulingCore core;
  private final LiveTasks live;
  private final HealthLimits health;

  /** The {@link HealthLimits#looked} that the stages know. */
  private long seen;

  StageProbes(SchedulingCore core, LiveTasks live, HealthLimits health) {
    this.core = core;
    this.live = live;
    this.health = health;
  }

  /** Remembers the nodes of a task that starts. */
  void placed(StagedJob staged, RolloutSpec spec, long run, long nowMillis) {
    if (spec.probes().isEmpty()) {
      return;
    }
    List<String> levels = core.running().levels(run);
    List<String> path = core.running().path(run);
    for (String probe : spec.probes()) {
      int at = levels.indexOf(health.level(probe));
      if (at >= 0) {
        staged.started.merge(Scope.node(levels.get(at), path.get(at)), nowMillis, Math::min);
      }
    }
  }

  /**
   * Remembers the nodes of tasks that have started before a restart; once, in slices. Where tasks
   * have ended since, nobody knows when they started: only values from now on count.
   *
   * @return whether all are remembered
   */
  boolean restored(StagedJob staged, RolloutSpec spec, long nowMillis) {
    if (staged.knowsStarted || spec.probes().isEmpty() || staged.hasPassed()) {
      return true;
    }
    int job = core.findJob(staged.name());
    if (staged.restoredState != core.stateNumber()) {
      staged.restoredState = core.stateNumber();
      staged.nextRestored = core.tasks().firstNode(job);
      for (Live task : live.all()) {
        if (task.key.job().equals(staged.name())) {
          placed(staged, spec, task.run, task.startedMillis());
        }
      }
    }
    int end = core.tasks().endNode(job);
    int until = Math.min(end, staged.nextRestored + TASKS_PER_SLICE);
    for (; staged.nextRestored < until; staged.nextRestored++) {
      if (hasStarted(staged, job, staged.nextRestored)) {
        ended(staged, spec, staged.nextRestored, nowMillis);
      }
    }
    staged.knowsStarted = until == end;
    return staged.knowsStarted;
  }

  /** Returns whether a task has ended in an open stage; in the last one, that is not known. */
  private boolean hasStarted(StagedJob staged, int job, int node) {
    int bits = core.tasks().bits(job, node);
    if ((bits & TaskStatus.TRIED) == 0) {
      return false;
    }
    if ((bits & Main.CANCELLED.bit()) != 0) {
      TaskStatus status = core.tasks().status(job, node);
      if (status == null || status.attempts() == 0) {
        return false;
      }
    }
    int stage = staged.members.stage(core.topology().name(node));
    return stage <= staged.now.stage() && stage < staged.members.stages() - 1;
  }

  private void ended(StagedJob staged, RolloutSpec spec, int task, long nowMillis) {
    Topology nodes = core.topology();
    for (String probe : spec.probes()) {
      int level = nodes.levels().find(health.level(probe));
      int at = level < 0 ? -1 : task;
      while (at >= 0 && nodes.level(at) > level) {
        at = nodes.parent(nodes.slot(at, 0));
      }
      if (at >= 0 && nodes.level(at) == level) {
        Scope node = Scope.node(nodes.levels().name(level), nodes.name(at));
        staged.started.merge(node, nowMillis, Math::min);
      }
    }
  }

  /** Marks the jobs whose nodes may have another value, or none any longer. */
  boolean look(Collection<StagedJob> all) {
    boolean hasNews = false;
    if (seen != health.looked()) {
      seen = health.looked();
      for (StagedJob staged : all) {
        boolean isConcerned = !staged.hasPassed() && !staged.started.isEmpty();
        staged.isDirty |= isConcerned;
        hasNews |= isConcerned;
      }
    }
    return hasNews;
  }

  /** Returns the first bad value, and of which node it is; null: there is none. */
  @Nullable String bad(StagedJob staged, RolloutSpec spec) {
    for (String probe : spec.probes()) {
      String level = health.level(probe);
      for (String node : health.bad(probe)) {
        Long since = staged.started.get(Scope.node(level, node));
        Sample value = health.newest(probe, node);
        if (since != null && value != null && value.atMillis() >= since) {
          return health.words(probe, value) + " on " + level + " " + node;
        }
      }
    }
    return null;
  }

  /** Returns which value is not known yet, or not any longer; empty: all are known. */
  String missing(StagedJob staged, RolloutSpec spec, long nowMillis) {
    for (String probe : spec.probes()) {
      String level = health.level(probe);
      for (Map.Entry<Scope, Long> each : staged.started.entrySet()) {
        String node = each.getKey().name();
        if (each.getKey().level().equals(level)
            && core.topology().find(core.topology().levels().find(level), node) >= 0
            && !health.isKnownSince(probe, node, each.getValue(), nowMillis)) {
          return "probe " + probe + " has a new value of " + level + " " + node;
        }
      }
    }
    return "";
  }
}
