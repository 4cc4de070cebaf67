package io.espalier.core.loop.rollout;

import io.espalier.core.config.rollout.RolloutSpec;
import io.espalier.core.loop.health.HealthLimits;
import io.espalier.core.loop.health.ProbeAnswer.Sample;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.Scope;
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

  /** Remembers the nodes of tasks that have outlived a restart; once. */
  void restored(StagedJob staged, RolloutSpec spec) {
    if (staged.knowsRunning || spec.probes().isEmpty()) {
      return;
    }
    staged.knowsRunning = true;
    for (Live task : live.all()) {
      if (task.key.job().equals(staged.name())) {
        placed(staged, spec, task.run, task.startedMillis());
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
