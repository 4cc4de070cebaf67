package io.espalier.testkit.cluster;

import io.espalier.core.api.view.JobProgress;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.protocol.HealthCheck;
import io.espalier.core.protocol.RunId;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.StepPosition;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.StatusRow;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Checks the invariants at every step, at a cost proportional to what the step changes
 * (docs/design/design.md#at-most-once). The first violation is kept.
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
  private final Map<RunId, TaskResult> ends = new HashMap<>();
  private final Set<RunId> assigned = new HashSet<>();
  private final Set<RunId> setBack = new HashSet<>();
  private final Set<RunId> ofLostStores = new HashSet<>();
  private final Set<Told> told = new HashSet<>();
  private final Map<RunId, TaskResult> reported = new HashMap<>();

  /** Tasks whose successful end was acknowledged to its worker. */
  private final Map<TaskKey, RunId> acknowledgedDone = new HashMap<>();

  /** By job, nodes with a task that was once durably done. */
  private final Map<String, Set<String>> everDone = new HashMap<>();

  /** Jobs with tasks that an operator has commanded to run again, or to be forgiven. */
  private final Set<String> commanded = new HashSet<>();

  /** Invocations of jobs that have been deleted since. */
  private final Set<RunId> forgotten = new HashSet<>();

  /** The brakes that all workers have confirmed. */
  private final Set<Brake.Key> confirmed = new HashSet<>();

  private final SimulatedSteps steps;
  private final SimulatedVerifications verifications;
  private final Coverage coverage;
  private @Nullable Invariant broken;
  private @Nullable String violation;
  private int starts;

  private record Told(long epoch, RunId run) {}

  ClusterInvariants(ClusterPlan plan, Coverage coverage) {
    this.plan = plan;
    this.coverage = coverage;
    this.steps = new SimulatedSteps(plan::restartsFromFirst);
    this.verifications = new SimulatedVerifications(plan, coverage);
  }

  @Nullable String violation() {
    return violation;
  }

  @Nullable Invariant broken() {
    return broken;
  }

  int starts() {
    return starts;
  }

  int live() {
    return live.size();
  }

  /** Returns some live invocation; null when there is none. */
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

  /** Returns the number of tasks whose final status is durable. */
  int finished() {
    return finals.size();
  }

  void violated(Invariant which, String what) {
    if (violation == null) {
      broken = which;
      violation = what;
    }
  }

  /** The memory store has lost everything: completed tasks are no longer known. */
  void storeForgets() {
    steps.restart();
    confirmed.clear();
    verifications.storeForgets();
    finals.clear();
    acknowledgedDone.clear();
  }

  // ---- operators and monitors

  /** An operator commands tasks of the job to run again, or forgives them. */
  void commanded(String job) {
    commanded.add(job);
  }

  /** All stored data of a job is deleted, because another job has taken its name. */
  void forgot(String job, long created, long createdNow) {
    if (created == createdNow) {
      violated(
          Invariant.FINAL_IS_FINAL, job + " of " + created + " was forgotten without a new one");
    }
    steps.restart(job);
    finals.keySet().removeIf(task -> task.job().equals(job));
    acknowledgedDone.keySet().removeIf(task -> task.job().equals(job));
    assigned.stream().filter(run -> run.job().equals(job)).forEach(forgotten::add);
  }

  /** Checks the counts that monitors see. */
  void shown(Map<String, JobProgress> progress) {
    for (JobProgress job : progress.values()) {
      int durable = everDone.getOrDefault(job.job(), Set.of()).size();
      if (job.done() > durable) {
        violated(
            Invariant.SHOWN_IS_DURABLE,
            job.done() + " tasks of " + job.job() + " are shown as done, and " + durable + " are");
      }
    }
  }

  /** Checks the final state, when no more events follow. */
  void atTheEnd(SimulatedStore store) {
    acknowledgedDone.forEach(
        (task, run) -> {
          StatusRow row = store.row(task);
          if (row == null || row.status().main() != TaskStatus.Main.DONE) {
            violated(
                Invariant.NOTHING_ACKNOWLEDGED_IS_LOST,
                "acknowledged as done, and not done in the end: " + run + "; stored: " + row);
          }
        });
  }

  /** Checks the final state, when all tasks have ended. */
  void allEnded(SimulatedStore store) {
    verified(verifications.allEnded(store.rows()));
  }

  private void verified(@Nullable String wrong) {
    if (wrong != null) {
      violated(Invariant.VERIFIED_BEFORE_SUCCESS, wrong);
    }
  }

  /** The state of a job becomes durable, after these rows. */
  void became(JobStateRecord state, Collection<StatusRow> rows) {
    verified(verifications.became(state, rows));
  }

  /** An old copy of the store was restored: everything after it is no longer known. */
  void storeSetBack(Collection<StatusRow> rows) {
    steps.restart();
    confirmed.clear();
    verifications.storeForgets();
    finals.clear();
    for (StatusRow row : rows) {
      if (SimulatedVerifications.isOver(row)) {
        finals.put(row.key(), row);
      }
    }
    acknowledgedDone.clear();
    setBack.addAll(assigned);
  }

  /** The store was lost, and another took its place: nothing of before is known any more. */
  void storeLost() {
    storeSetBack(List.of());
    ofLostStores.addAll(assigned);
    tokens.clear();
  }

  /** The leader hands a start to a worker while these brakes are durable and not over. */
  void handedOver(LaunchSpec launch, List<Brake> brakes) {
    for (Brake brake : brakes) {
      boolean stops =
          brake.key().equals(Brake.Key.all())
              || brake.key().equals(new Brake.Key(Brake.Target.JOB, "", launch.job()));
      if (stops && brake.millionths() == 0 && brake.releasedMillis() == 0) {
        violated(Invariant.BRAKED, RunId.of(launch) + " starts under the brake on " + brake.key());
      }
    }
  }

  /** The leader hands over a start that it has placed with or without a value of its host. */
  void placed(LaunchSpec launch, boolean hadValue) {
    if (!hadValue) {
      violated(Invariant.PROBED, RunId.of(launch) + " starts without a value of its host");
    }
  }

  /** All workers have confirmed a brake that stops everything, or a job. */
  void braked(Brake.Key key) {
    confirmed.add(key);
  }

  /** A brake is released or replaced, or another scheduler leads, which must ask again. */
  void mayBegin(Predicate<Brake.Key> which) {
    confirmed.removeIf(which);
  }

  /** A worker comes to start a task. */
  void begins(RunId run) {
    for (Brake.Key key : confirmed) {
      if (!HealthCheck.is(run.job())
          && (key.equals(Brake.Key.all())
              || key.equals(new Brake.Key(Brake.Target.JOB, "", run.job())))) {
        violated(Invariant.BRAKED, run + " begins under the confirmed brake on " + key);
      }
    }
  }

  // ---- processes

  /** A process of a task has started. */
  void started(RunId run, String shard, String step) {
    starts++;
    TaskKey task = new TaskKey(run.job(), run.node());
    String wrong = steps.started(task, run, step);
    if (wrong != null && plan.durable()) {
      violated(Invariant.STEPS_IN_ORDER, wrong);
    }
    RunId other = live.put(task, run);
    if (other != null) {
      violated(
          Invariant.AT_MOST_ONCE, "two live invocations of one task: " + other + " and " + run);
    }
    if (!everStarted.add(run)) {
      violated(Invariant.AT_MOST_ONCE, "one invocation started twice: " + run);
    }
    if (neverStarted.contains(run)) {
      violated(
          Invariant.NEVER_IS_NEVER,
          "started although the scheduler was told that it never will: " + run);
    }
    if (lost.contains(run)) {
      violated(Invariant.DEAD_IS_DEAD, "started after it was taken for dead: " + run);
    }
    // What was sent before the store was set back may arrive after it.
    if (finals.containsKey(task) && !setBack.contains(run)) {
      violated(
          Invariant.FINAL_IS_FINAL,
          "started although it is " + finals.get(task).status().label() + ": " + run);
    }
    // Each store has epochs of its own, and so tokens of its own.
    Invocation before = ofLostStores.contains(run) ? null : tokens.put(task, run.invocation());
    if (before != null && !isNewer(run.invocation(), before)) {
      violated(
          Invariant.TOKENS_GROW,
          "a fencing token that does not grow: " + before.token() + ", then " + run);
    }
    shards.put(run, shard);
    charge(run, shard, 1);
  }

  /** The last process of a task has died. */
  void died(RunId run, TaskResult end) {
    steps.died(run, "done".equals(end.rawStatus()));
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
        violated(
            Invariant.LIMITS,
            charge.counter() + " is at " + now + " of " + charge.limit() + " with " + run);
      }
    }
  }

  static boolean isNewer(Invocation later, Invocation earlier) {
    return later.epoch() > earlier.epoch()
        || (later.epoch() == earlier.epoch() && later.sequence() > earlier.sequence());
  }

  // ---- the scheduler

  /** A leader sends a start. */
  void dispatched(RunId run) {
    if (plan.durable() && !assigned.contains(run)) {
      violated(Invariant.DURABLE_BEFORE_DISPATCH, "sent before it is durable: " + run);
    }
  }

  /** A worker reports an end. */
  void reported(TaskResult end) {
    TaskResult before = reported.putIfAbsent(RunId.of(end), end);
    if (before != null && !before.equals(end)) {
      violated(Invariant.ONE_END, "reported as " + before + ", then as " + end);
    }
  }

  /** The scheduler's side passes an end to the leader of that epoch. */
  void told(TaskResult end, long epoch) {
    RunId run = RunId.of(end);
    if (!told.add(new Told(epoch, run))) {
      violated(Invariant.ONE_END, "an end told twice: " + end);
    }
    boolean over = end.kind() == TaskResult.Kind.EXITED || end.kind() == TaskResult.Kind.KILLED;
    if (over && run.equals(live.get(new TaskKey(run.job(), run.node())))) {
      violated(Invariant.DEAD_IS_DEAD, "told as ended while it lives: " + run);
    }
    TaskResult real = ends.get(run);
    if (end.kind() == TaskResult.Kind.EXITED
        && (real == null || !Objects.equals(real.rawStatus(), end.rawStatus()))) {
      violated(Invariant.ONE_END, "told as " + end + ", but it was " + real);
    }
    if (end.kind() == TaskResult.Kind.NOT_STARTED) {
      neverStarted.add(run);
      boolean lives = run.equals(live.get(new TaskKey(run.job(), run.node())));
      if (everStarted.contains(run) && (lives || !setBack.contains(run))) {
        violated(Invariant.NEVER_IS_NEVER, "said to have never started, but it did: " + run);
      }
    }
    if (end.kind() == TaskResult.Kind.LOST) {
      lost.add(run);
      if (run.equals(live.get(new TaskKey(run.job(), run.node())))) {
        violated(Invariant.DEAD_IS_DEAD, "taken for dead while it lives: " + run);
      }
    }
  }

  /** A row becomes durable. */
  void committed(@Nullable StatusRow before, StatusRow row) {
    // Written for an operator's command, and for nothing else.
    boolean byCommand = row.invocation().epoch() == 0 && commanded.contains(row.job());
    verified(
        verifications.committed(
            before,
            row,
            before == null ? null : ends.get(new RunId(row.job(), row.node(), before.invocation())),
            commanded.contains(row.job())));
    if (byCommand || SimulatedVerifications.hasFailed(before, row)) {
      steps.restart(row.key());
      acknowledgedDone.remove(row.key());
    }
    boolean awaited = before != null && before.status().awaitsVerification();
    if (byCommand && before != null && before.status().isFinal() && !before.equals(row)) {
      coverage.happened(SimulationEvent.FINAL_STATUS_LIFTED);
      finals.remove(row.key());
      acknowledgedDone.remove(row.key());
    } else if (before != null && SimulatedVerifications.isOver(before) && !before.equals(row)) {
      violated(Invariant.FINAL_IS_FINAL, "a final status was replaced: " + before + " by " + row);
    }
    boolean runs = row.status().main() == TaskStatus.Main.RUNNING;
    if (before != null
        && !byCommand
        && !awaited
        && before.invocation().equals(row.invocation())
        && before.status().main() != TaskStatus.Main.RUNNING
        && !before.equals(row)) {
      violated(Invariant.ONE_END, "an end was replaced: " + before + " by " + row);
    }
    if (runs) {
      assigned.add(new RunId(row.job(), row.node(), row.invocation()));
    }
    if (SimulatedVerifications.isOver(row)) {
      finals.put(row.key(), row);
    }
    if (row.status().main() == TaskStatus.Main.DONE) {
      everDone.computeIfAbsent(row.job(), job -> new HashSet<>()).add(row.node());
    }
  }

  /** A scheduler tells a worker to forget an end. */
  void acknowledged(RunId run, @Nullable StatusRow row) {
    TaskResult end = ends.get(run);
    if (end == null || !plan.durable() || forgotten.contains(run) || setBack.contains(run)) {
      return;
    }
    if (row != null && row.invocation().epoch() == 0) {
      return; // An operator has commanded the task since.
    }
    if (row == null || isNewer(run.invocation(), row.invocation())) {
      violated(
          Invariant.NOTHING_ACKNOWLEDGED_IS_LOST,
          "acknowledged before anything of it is durable: " + run);
    } else if (row.invocation().equals(run.invocation())
        && !keeps(row.status(), end, steps.of(run))) {
      violated(
          Invariant.NOTHING_ACKNOWLEDGED_IS_LOST,
          "acknowledged, but lost: " + end + "; stored: " + row.status().label());
    } else if (row.invocation().equals(run.invocation())
        && row.status().main() == TaskStatus.Main.DONE) {
      acknowledgedDone.put(row.key(), run);
    }
    StepPosition at = row == null ? null : row.status().step();
    // The end of an invocation that was taken for lost does not count.
    if (at != null && !at.isCompensation() && steps.isBefore(run, at.step())) {
      steps.acknowledged(run, "done".equals(end.rawStatus()));
    }
  }

  private static boolean keeps(TaskStatus stored, TaskResult end, String step) {
    StepPosition at = stored.step();
    // Without its job nobody knows yet which step follows the one that has ended.
    boolean isBeyond =
        at == null
            ? stored.isFinal()
            : at.phase() == StepPosition.Phase.ENDED || !at.label().equals(step);
    if (!step.isEmpty() && isBeyond) {
      return true;
    }
    // A compensation that ends while its job is not configured is repeated when the job is back.
    boolean isRepeated =
        at != null
            && at.isCompensation()
            && at.label().equals(step)
            && stored.main() == TaskStatus.Main.ERROR;
    if (stored.label() == StatusLabel.LOST || isRepeated) {
      return true;
    }
    return "done".equals(end.rawStatus())
        ? stored.main() == TaskStatus.Main.DONE
        : stored.main() != TaskStatus.Main.RUNNING && stored.label() != StatusLabel.NEVER_STARTED;
  }
}
