package io.espalier.core.loop.rollout;

import io.espalier.core.loop.state.DurationHistogram;
import io.espalier.core.rollout.Rollout;
import io.espalier.core.rollout.RolloutMembers;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.status.TaskStatus;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The roll-out of one job, with what is counted of its open stage. For the owner thread. */
final class StagedJob {
  final RolloutMembers members;

  /** How far the roll-out is: what is stored. */
  Rollout now;

  /** The durations of the tasks of the open stage; not durable. */
  DurationHistogram durations = new DurationHistogram();

  /** The nodes whose tasks were counted as failed, since a restart at most. */
  final Set<String> failedOnce = new HashSet<>();

  /**
   * When tasks first started below the nodes of the levels of its probes, or when the roll-out was
   * resumed or promoted last: earlier values do not count.
   */
  final Map<Scope, Long> started = new LinkedHashMap<>();

  /** Which value its probes must have before the next stage opens; empty: none. */
  String missing = "";

  /** The nodes in quarantine: tasks below them are not part of the sample. */
  List<Scope> apart = List.of();

  /** Whether tasks may have been counted before a restart. */
  boolean isRestored;

  /** Whether {@link #started} has the nodes of tasks that have started before a restart. */
  boolean knowsStarted;

  /** The next task that is looked at for that. */
  int nextRestored;

  /** The number of the core's state in which {@link #nextRestored} is a task; -1: none. */
  long restoredState = -1;

  /** Whether a task has ended, or a value of its probes has come, since the last evaluation. */
  boolean isDirty;

  /** How many tasks of its stages were left at the last evaluation. */
  long left = -1;

  /** When its soak ends; {@link Long#MAX_VALUE}: none is under way. */
  long nextMillis = Long.MAX_VALUE;

  StagedJob(Rollout now, RolloutMembers members) {
    this.now = now;
    this.members = members;
  }

  String name() {
    return now.job();
  }

  boolean hasPassed() {
    return now.phase() == Rollout.Phase.PASSED;
  }

  /** Returns whether a task was counted already: an interval of its back-off outlives a restart. */
  boolean hasFailed(String node, TaskStatus before) {
    return failedOnce.contains(node) || (isRestored && before.position() > 0);
  }

  /** Begins the count again; values of probes up to now do not count any more. */
  void clear(long nowMillis) {
    started.replaceAll((node, since) -> nowMillis);
    missing = "";
    durations = new DurationHistogram();
    failedOnce.clear();
    isRestored = false;
  }
}
