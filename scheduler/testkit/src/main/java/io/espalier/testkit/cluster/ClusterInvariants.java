package io.espalier.testkit.cluster;

import io.espalier.core.protocol.RunId;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.TaskEnd;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.StatusRow;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What must never happen, checked with every step at the cost of what it changes (design section
 * 5). The first violation is kept.
 */
final class ClusterInvariants {
  private final ClusterPlan plan;
  private final Map<TaskKey, RunId> live = new LinkedHashMap<>();
  private final Map<RunId, String> shards = new HashMap<>();
  private final Map<String, Integer> used = new HashMap<>();
  private final Map<TaskKey, Invocation> tokens = new HashMap<>();
  private final Map<TaskKey, StatusRow> finals = new HashMap<>();
  private final Set<RunId> everStarted = new HashSet<>();
  private final Set<RunId> neverStarted = new HashSet<>();
  private final Set<RunId> lost = new HashSet<>();
  private final Map<RunId, TaskEnd> ends = new HashMap<>();
  private @Nullable String violation;
  private int starts;

  ClusterInvariants(ClusterPlan plan) {
    this.plan = plan;
  }

  @Nullable String violation() {
    return violation;
  }

  int starts() {
    return starts;
  }

  int live() {
    return live.size();
  }

  /** Some live invocation; null when there is none. */
  @Nullable RunId anyLive(Random random) {
    if (live.isEmpty()) {
      return null;
    }
    int skip = random.nextInt(live.size());
    for (RunId run : live.values()) {
      if (skip-- == 0) {
        return run;
      }
    }
    return null;
  }

  /** Tasks whose final status is durable. */
  int finished() {
    return finals.size();
  }

  void violated(String what) {
    if (violation == null) {
      violation = what;
    }
  }

  /** The memory store has lost everything: what was done is not known any more. */
  void storeForgets() {
    finals.clear();
  }

  // ---- processes

  /** A process of a task begins to live. */
  void started(RunId run, String shard) {
    starts++;
    TaskKey task = new TaskKey(run.job(), run.node());
    RunId other = live.put(task, run);
    if (other != null) {
      violated("two live invocations of one task: " + other + " and " + run);
    }
    if (!everStarted.add(run)) {
      violated("one invocation started twice: " + run);
    }
    if (neverStarted.contains(run)) {
      violated("started although the scheduler was told that it never will: " + run);
    }
    if (lost.contains(run)) {
      violated("started after it was taken for dead: " + run);
    }
    if (finals.containsKey(task)) {
      violated("started although it is " + finals.get(task).status().label() + ": " + run);
    }
    Invocation before = tokens.put(task, run.invocation());
    if (before != null && !isNewer(run.invocation(), before)) {
      violated("a fencing token that does not grow: " + before.token() + ", then " + run);
    }
    shards.put(run, shard);
    charge(run, shard, 1);
  }

  /** The last process of a task is dead. */
  void died(RunId run, TaskEnd end) {
    live.remove(new TaskKey(run.job(), run.node()), run);
    ends.put(run, end);
    String shard = shards.remove(run);
    if (shard != null) {
      charge(run, shard, -1);
    }
  }

  private void charge(RunId run, String shard, int sign) {
    for (ClusterPlan.Charge charge : plan.charges(run.job(), run.node(), shard)) {
      int now = used.merge(charge.counter(), sign * charge.slots(), Integer::sum);
      if (sign > 0 && now > charge.limit()) {
        violated(charge.counter() + " is at " + now + " of " + charge.limit() + " with " + run);
      }
    }
  }

  static boolean isNewer(Invocation later, Invocation earlier) {
    return later.epoch() > earlier.epoch()
        || (later.epoch() == earlier.epoch() && later.sequence() > earlier.sequence());
  }

  // ---- the scheduler

  /** The scheduler's side gives out an end. */
  void told(TaskEnd end) {
    RunId run = RunId.of(end);
    if (end.kind() == TaskEnd.Kind.NOT_STARTED) {
      neverStarted.add(run);
      if (everStarted.contains(run)) {
        violated("said to have never started, but it did: " + run);
      }
    }
    if (end.kind() == TaskEnd.Kind.LOST) {
      lost.add(run);
      if (run.equals(live.get(new TaskKey(run.job(), run.node())))) {
        violated("taken for dead while it lives: " + run);
      }
    }
  }

  /** A row becomes durable. */
  void committed(@Nullable StatusRow before, StatusRow row) {
    if (before != null && before.status().isFinal() && !before.equals(row)) {
      violated("a final status was replaced: " + before + " by " + row);
    }
    if (row.status().isFinal()) {
      finals.put(row.key(), row);
    }
  }

  /** A scheduler tells a worker to forget an end. */
  void acknowledged(RunId run, @Nullable StatusRow row) {
    TaskEnd end = ends.get(run);
    if (end == null || !plan.durable()) {
      return;
    }
    if (row == null || isNewer(run.invocation(), row.invocation())) {
      violated("acknowledged before anything of it is durable: " + run);
    } else if (row.invocation().equals(run.invocation()) && !keeps(row.status(), end)) {
      violated("acknowledged, but lost: " + end + "; stored: " + row.status().label());
    }
  }

  private static boolean keeps(TaskStatus stored, TaskEnd end) {
    if (stored.label() == StatusLabel.LOST) {
      return true;
    }
    return "done".equals(end.rawStatus())
        ? stored.main() == TaskStatus.Main.DONE
        : stored.main() != TaskStatus.Main.RUNNING && stored.label() != StatusLabel.NEVER_STARTED;
  }
}
