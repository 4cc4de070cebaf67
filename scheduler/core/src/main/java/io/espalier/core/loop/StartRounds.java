package io.espalier.core.loop;

import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.loop.state.LoopStats;
import io.espalier.core.loop.state.Throughput;
import io.espalier.core.loop.watch.Quarantines;
import io.espalier.core.loop.watch.WindowGates;
import io.espalier.core.running.TaskResult;
import io.espalier.core.scheduling.PlacementListener;
import io.espalier.core.scheduling.SchedulingPolicy;
import java.util.Map;
import java.util.function.Consumer;

/** Runs the rounds of the scheduling core in slices, and records what they place. */
final class StartRounds {
  private static final int STARTS_PER_SLICE = 256;
  private static final long POLICY_RETRY_MILLIS = 1_000;

  private final SharedParts parts;
  private final Map<String, SchedulingPolicy> policies;
  private final RoundSteps steps;
  private final LaunchFactory launches;
  private final Throughput throughput;
  private final Quarantines quarantines;
  private final WindowGates windows;
  private final LoopStats stats;
  private final Consumer<TaskResult> ended;
  private boolean isComplete;
  private boolean hasPlaced;
  private long retryPolicyAt;

  /**
   * @param steps say how many tasks may start
   * @param ended takes the ends of tasks that are not handed to the runner
   */
  StartRounds(
      SharedParts parts,
      Map<String, SchedulingPolicy> policies,
      RoundSteps steps,
      LaunchFactory launches,
      Throughput throughput,
      Quarantines quarantines,
      WindowGates windows,
      LoopStats stats,
      Consumer<TaskResult> ended) {
    this.parts = parts;
    this.policies = Map.copyOf(policies);
    this.steps = steps;
    this.launches = launches;
    this.throughput = throughput;
    this.quarantines = quarantines;
    this.windows = windows;
    this.stats = stats;
    this.ended = ended;
  }

  /** Returns whether the last round has ended and placed nothing, and none will by itself. */
  boolean isOver() {
    return isComplete && !hasPlaced && !parts.core().awaitsBatches();
  }

  /** When a policy that has failed is tried again; {@link Long#MAX_VALUE}: none has. */
  long nextMillis(long nowMillis) {
    return retryPolicyAt > nowMillis ? retryPolicyAt : Long.MAX_VALUE;
  }

  /** Runs a slice of a round. Returns true when the round can place more tasks. */
  boolean step(long nowMillis) {
    if (nowMillis < retryPolicyAt || parts.core().isTouched()) {
      return false;
    }
    if (parts.ports().commits().isSaturated()) {
      stats.saturatedStep();
      return false;
    }
    int largest = parts.core().largestBatch();
    // Whole batches fill a slice, so that its end cuts none.
    int room = Math.min(STARTS_PER_SLICE / largest * largest, steps.room());
    if (room == 0) {
      // A confirmation, or a later step, opens it.
      isComplete = false;
      return false;
    }
    String name = parts.core().config().settings().policy();
    SchedulingPolicy policy = policies.get(name);
    if (policy == null) {
      parts.views().error("policy", "no such policy: " + name);
      return false;
    }
    int before = parts.live().size();
    boolean wasOver = isComplete;
    try {
      PlacementListener.OfBatches sink = (run, batch) -> placed(run, batch, nowMillis);
      isComplete = parts.core().round(policy, room, sink);
      parts.views().error("policy", null);
    } catch (RuntimeException e) {
      // A bug in a plug-in must not stop the scheduler; its placements so far remain valid.
      parts.views().error("policy", policy.name() + " failed: " + e);
      parts.ports().warnings().warn("policy " + policy.name() + " failed: " + e, "", "");
      stats.policyFailed(parts.live().size() - before);
      retryPolicyAt = nowMillis + POLICY_RETRY_MILLIS;
      isComplete = false;
      return false;
    }
    int placed = parts.live().size() - before;
    hasPlaced = placed > 0;
    // A round that places nothing, right after another one that placed nothing, is not counted.
    stats.round(placed, isComplete && (hasPlaced || !wasOver));
    return !isComplete;
  }

  private void placed(long run, long batch, long nowMillis) {
    Live task = launches.placed(run, batch, nowMillis);
    throughput.placed(task, nowMillis);
    quarantines.placed(task, nowMillis);
    windows.placed(task);
    parts.rollouts().placed(task, nowMillis);
    parts.committer().started(task, nowMillis);
    if (task.isEmpty) {
      ended.accept(
          TaskResult.of(task.key.job(), task.key.node(), task.invocation(), TaskResult.Kind.EXITED)
              .withRawStatus("done")
              .withExit(0, null)
              .withMessage("its step is gone from the job: nothing was run"));
    }
  }
}
