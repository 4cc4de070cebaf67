package io.espalier.core.scheduling.query;

import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.api.view.Explanation.Reason;
import io.espalier.core.api.view.WaitingReasons;
import io.espalier.core.config.Job;
import io.espalier.core.scheduling.capacity.NodeCapacity;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.gate.StageGate;
import io.espalier.core.scheduling.job.StatusCodes;
import io.espalier.core.scheduling.reservation.ReservationViews;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.topology.Topology;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Counts the waiting tasks of a job by wait reason, in slices. It walks the tree once; a node that
 * blocks determines the reason for all tasks below it. Where nodes have several parents, the path
 * of each task matters, and only a sample of the tasks is evaluated.
 *
 * <p>{@code TaskQueries.waiting} creates it; use it on the thread of the core.
 */
public final class WaitReasonScan {
  /** The maximum size of a sample. */
  static final int SAMPLED = 20_000;

  private static final int UNITS_PER_TASK = 1;
  private static final int UNITS_PER_NODE = 4;
  private static final int UNITS_PER_SAMPLE = 100;

  private final Supplier<SchedulingState> current;
  private final SchedulingState state;
  private final Topology topology;
  private final int job;
  private final int level;
  private final WaitReasonCounts groups;
  private final Explainer explainer;
  private final @Nullable Reason noWorker;
  private final boolean isTree;

  /** What blocks the whole job; null: nothing does. */
  private WaitReasonCounts.@Nullable Group ofJob;

  /** The parent for which {@link #blockAbove} was computed last, and the result. */
  private int parent = -1;

  private WaitReasonCounts.@Nullable Group above;

  private long counted;
  private boolean isDone;

  // The position in the walk: rows of edges not visited yet, and what blocks them.
  private final int[] next;
  private final int[] end;
  private final WaitReasonCounts.@Nullable Group[] blocks;
  private final int[] blockNodes;
  private int depth;

  // The position in the sample.
  private int at;
  private final int stride;

  public WaitReasonScan(Supplier<SchedulingState> current, int job, List<Reason> gates) {
    this.current = current;
    this.state = current.get();
    this.topology = state.topology;
    this.job = job;
    level = state.jobs.levels[job];
    isTree = topology.slots() == topology.size();
    groups = new WaitReasonCounts(topology, isTree);
    int levels = topology.levels().count();
    next = new int[levels];
    end = new int[levels];
    blocks = new WaitReasonCounts.@Nullable Group[levels];
    blockNodes = new int[levels];
    int tasks = state.tasks.end(job) - state.tasks.first(job);
    stride = isTree ? 1 : Math.max(1, tasks / SAMPLED);
    at = state.tasks.first(job);
    explainer = new Explainer(state);
    noWorker = noWorker(gates.isEmpty());
    if (!gates.isEmpty()) {
      all(gates.get(0));
    } else if (level < 0) {
      isDone = true;
    } else {
      next[0] = 0;
      end[0] = 1;
      blockNodes[0] = -1;
      depth = 1;
    }
  }

  private @Nullable Reason noWorker(boolean wanted) {
    if (!wanted || state.workers.placementLevel(job) >= 0) {
      return null;
    }
    List<Reason> reasons = new WorkerExplainer(state).reasons(job, state.workers.pinnedTo(job));
    return reasons.isEmpty() ? null : reasons.get(0);
  }

  /** Assigns one reason to all tasks. */
  private void all(Reason gate) {
    counted = total();
    WaitReasonCounts.Group group =
        groups.of(gate.kind(), -1, gate.message()).until(gate.untilMillis());
    ofJob = group;
    int first = state.tasks.first(job);
    int last = Math.min(state.tasks.end(job), first + 10_000);
    for (int node = first; node < last && !group.hasSamples(); node++) {
      if (isWaiting(state.tasks.code(job, node))) {
        group.sample(node);
      }
    }
    group.count = counted;
    isDone = true;
  }

  private long total() {
    long total = 0;
    for (int code = 0; code < StatusCodes.COUNT; code++) {
      total += isWaiting(code) ? state.tasks.count(job, code) : 0;
    }
    return total;
  }

  /**
   * Returns whether a task with this code has not ended, is not running, and has an eligible node.
   */
  private static boolean isWaiting(int code) {
    Main main = StatusCodes.main(code);
    return StatusCodes.effect(code) == StatusCodes.OPEN
        && main != Main.RUNNING
        && main != Main.DONE
        && main != Main.FAILED
        && main != Main.CANCELLED;
  }

  /** Returns whether jobs or nodes have been renumbered, so that the scan must be restarted. */
  public boolean isStale() {
    return current.get() != state;
  }

  public boolean isDone() {
    return isDone;
  }

  /**
   * Runs a slice.
   *
   * @param units about how many tasks to evaluate
   * @return the units used, at least 1
   */
  public int step(int units) {
    int used = 1;
    while (!isDone && used < units) {
      used += isTree ? walk() : sample();
    }
    return used;
  }

  private int walk() {
    if (depth == 0) {
      isDone = true;
      return 1;
    }
    int row = depth - 1;
    if (next[row] == end[row]) {
      depth--;
      return 1;
    }
    int slot = next[row]++;
    int node = topology.node(slot);
    WaitReasonCounts.Group block = blocks[row];
    int blockNode = blockNodes[row];
    boolean isTask = state.tasks.has(job, node);
    if (isTask && !isWaiting(state.tasks.code(job, node))) {
      return UNITS_PER_TASK;
    }
    if (block == null) {
      block = blockOf(slot, node);
      blockNode = node;
    }
    if (isTask) {
      count(node, block, blockNode);
      return UNITS_PER_TASK;
    }
    if (state.index.isAllowed(slot, job)) {
      next[depth] = topology.childStart(node);
      end[depth] = topology.childEnd(node);
      blocks[depth] = block;
      blockNodes[depth++] = blockNode;
    }
    return UNITS_PER_NODE;
  }

  private int sample() {
    int stop = state.tasks.end(job);
    int used = 0;
    while (at < stop && used < UNITS_PER_SAMPLE) {
      used++;
      int node = at;
      at += stride;
      if (isWaiting(state.tasks.code(job, node))) {
        int[] path = explainer.bestPath(job, node);
        WaitReasonCounts.Group block = null;
        int blockNode = -1;
        for (int i = path.length - 1; i >= 0 && block == null; i--) {
          blockNode = topology.node(path[i]);
          block = blockOf(path[i], blockNode);
        }
        count(node, block, blockNode);
        used += UNITS_PER_SAMPLE;
      }
    }
    isDone = at >= stop;
    return used;
  }

  private void count(int node, WaitReasonCounts.@Nullable Group block, int blockNode) {
    counted++;
    WaitReasonCounts.Group group = group(node, block);
    group.add(node, group == block ? blockNode : -1);
  }

  /**
   * Returns the kind of the reason for which a task waits, as in {@link
   * io.espalier.core.api.view.WaitingReasons.Group}; empty: it does not wait. It needs no earlier
   * {@link #step}, and nothing may have happened since the scan was created.
   */
  public String kind(int node) {
    if (!isWaiting(state.tasks.code(job, node))) {
      return "";
    }
    if (ofJob != null) {
      return ofJob.word();
    }
    return group(node, isTree ? blockOnPath(node) : blockOnBestPath(node)).word();
  }

  /** Returns about how many statuses could be looked at in the time of one {@link #kind}. */
  public int unitsPerKind() {
    return isTree ? UNITS_PER_NODE : UNITS_PER_SAMPLE;
  }

  /** Returns the topmost reason on the only path of a task; those above are computed once. */
  private WaitReasonCounts.@Nullable Group blockOnPath(int node) {
    int slot = topology.slot(node, 0);
    if (topology.parent(slot) != parent) {
      parent = topology.parent(slot);
      above = parent < 0 ? null : blockAbove(parent);
    }
    return above == null ? blockOf(slot, node) : above;
  }

  private WaitReasonCounts.@Nullable Group blockAbove(int node) {
    int slot = topology.slot(node, 0);
    int next = topology.parent(slot);
    WaitReasonCounts.Group block = next < 0 ? null : blockAbove(next);
    return block == null ? blockOf(slot, node) : block;
  }

  private WaitReasonCounts.@Nullable Group blockOnBestPath(int node) {
    int[] path = explainer.bestPath(job, node);
    WaitReasonCounts.Group block = null;
    for (int i = path.length - 1; i >= 0 && block == null; i--) {
      block = blockOf(path[i], topology.node(path[i]));
    }
    return block;
  }

  /**
   * Returns the reason of a waiting task.
   *
   * @param block the reason on its path; null: none
   */
  private WaitReasonCounts.Group group(int node, WaitReasonCounts.@Nullable Group block) {
    if (StatusCodes.isWaiting(state.tasks.code(job, node))) {
      return groups.of(Kind.BACKOFF, -1, "back off after their last attempt");
    }
    int[] dependencies = state.jobs.dependencies[job];
    for (int i = 0; i < dependencies.length; i++) {
      if (!state.statuses.isDependencyDone(job, node, dependencies[i])) {
        Job configured = state.jobs.job(job);
        String name = configured == null ? "" : configured.dependsOn().get(i);
        return groups.of(Kind.DEPENDENCY, i, "job " + name + " is not done on their node");
      }
    }
    StageGate stages = state.gateTable.stages(state.jobs.name(job));
    if (stages != null && state.statuses.staged().stage(job, node) > stages.open()) {
      return groups.of(Kind.ROLLOUT, -1, "wait for their stage: " + stages.reason());
    }
    if (block != null) {
      return block;
    }
    return noWorker == null
        ? groups.startable()
        : groups.of(Kind.NO_WORKER, -1, noWorker.message());
  }

  /** Returns the reason that blocks a job at an edge of the tree; null: none. */
  private WaitReasonCounts.@Nullable Group blockOf(int slot, int node) {
    int atLevel = state.index.level(node);
    // On a node with several paths, another path is open, or the task would not count as waiting.
    if (!topology.enabled(slot)) {
      return groups.of(Kind.NODE_DISABLED, -1, "a node on their path is disabled");
    }
    if (!state.index.isAllowed(slot, job)) {
      return groups.of(Kind.FILTERED, -1, "the filters of the job exclude a node on their path");
    }
    if (state.closed.isClosed(node)) {
      return closed(node, atLevel);
    }
    if (state.closed.isClosedFor(node, job)) {
      Scope scope =
          Scope.jobOnNode(
              state.jobs.name(job), topology.levels().name(atLevel), topology.name(node));
      return state.gateTable.get(GateKind.JOB_QUARANTINE, scope) != null
          ? groups.of(Kind.QUARANTINE, -1, "a node on their path is quarantined for the job")
          : groups.of(Kind.WINDOW, -1, "the window of a node on their path closes too soon");
    }
    int placing = state.workers.placementLevel(job);
    if (placing >= 0 && atLevel >= placing) {
      boolean passedBy =
          atLevel > placing && slot > 0 && state.index.level(topology.parent(slot)) < placing;
      if (atLevel == placing
          ? !state.workers.finds(job, topology.name(node))
          : passedBy && !state.workers.finds(job, null)) {
        return groups.of(Kind.NO_WORKER, -2, "no worker on their host takes them");
      }
    }
    if (state.rates.isHeld(node, atLevel)) {
      String message = "as many tasks as may have started below a node on their path";
      return groups
          .of(Kind.START_RATE, atLevel, message)
          .until(state.rates.heldUntil(node, atLevel));
    }
    if (state.groups != null && state.groups.obstacles(node, atLevel) > 0) {
      return groups.of(
          Kind.GROUP, atLevel, "a redundancy group on their path lets no further member be busy");
    }
    for (int r : state.ledger.resources(atLevel)) {
      int need = state.jobs.needs[job][r];
      if (need > 0 && !NodeCapacity.fits(need, state.ledger.free(node, atLevel, r))) {
        return groups.ofResource(r, need > state.ledger.base(node, r));
      }
    }
    ReservationViews kept = state.reservations == null ? null : state.reservations.answers();
    for (int r : state.ledger.resources(atLevel)) {
      if (kept != null && kept.keepsFrom(job, node, atLevel, r)) {
        return groups.of(
            Kind.RESERVED, -1, "a node on their path is kept free for a task that waits for long");
      }
    }
    return null;
  }

  /** Returns the reason of a node that is closed for all jobs: that of its first gate. */
  private WaitReasonCounts.Group closed(int node, int atLevel) {
    Scope scope = Scope.node(topology.levels().name(atLevel), topology.name(node));
    List<Gate> gates = state.gateTable.of(scope);
    GateKind kind = gates.isEmpty() ? GateKind.NODE_CLOSED : gates.get(0).kind();
    String message =
        switch (kind) {
          case NODE_BRAKE -> "a brake stops a node on their path";
          case NODE_WINDOW -> "no window of a node on their path is open";
          case NODE_MOVING -> "a node on their path moves to another scheduler";
          case NODE_QUARANTINE -> "a node on their path is quarantined";
          default -> "a node on their path is closed";
        };
    return groups.of(kind.explanation(), -2, message);
  }

  /**
   * Returns the counts once the scan is done.
   *
   * @param limit the maximum number of groups
   */
  public WaitingReasons reasons(int limit, long nowMillis) {
    return new WaitingReasons(
        state.jobs.name(job),
        nowMillis,
        counted,
        isTree ? counted : total(),
        stride > 1,
        groups.largest(limit, state, job));
  }
}
