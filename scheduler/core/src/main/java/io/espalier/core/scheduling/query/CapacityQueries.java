package io.espalier.core.scheduling.query;

import io.espalier.core.api.ResourceUse;
import io.espalier.core.api.group.GroupKindView;
import io.espalier.core.api.view.Explanation.Reason;
import io.espalier.core.api.view.QueueView;
import io.espalier.core.config.Resource;
import io.espalier.core.problem.Problem;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.capacity.HealthLimit;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.capacity.RunningCap;
import io.espalier.core.scheduling.group.RedundancyGroups;
import io.espalier.core.scheduling.queue.QueueUsageHistory;
import io.espalier.core.scheduling.reservation.CapacityReservation;
import io.espalier.core.scheduling.reservation.Reservation;
import io.espalier.core.scheduling.state.LimitBounds;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.scheduling.worker.WorkerTable;
import io.espalier.core.scheduling.worker.WorkerUtilization;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.QueueUsage;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Questions to the core about what limits starts: limits and usage of nodes, queues and workers,
 * rates and reservations.
 *
 * <p>{@code SchedulingCore.capacity} returns it; use it on the thread of the core.
 */
public final class CapacityQueries {
  private final Supplier<SchedulingState> current;
  private final WorkerTable pool;
  private final QueueUsageHistory queueHistory;
  private final PeakUsageTracker peaks;

  public CapacityQueries(
      Supplier<SchedulingState> current,
      WorkerTable pool,
      QueueUsageHistory queueHistory,
      PeakUsageTracker peaks) {
    this.current = current;
    this.pool = pool;
    this.queueHistory = queueHistory;
    this.peaks = peaks;
  }

  private SchedulingState state() {
    return current.get();
  }

  /** Returns the kinds of redundancy groups. Costs time proportional to their number. */
  public List<GroupKindView> groups() {
    return GroupViews.kinds(state());
  }

  /**
   * Lists groups of one kind.
   *
   * @param onlyFull whether to list only groups in which no further member may become busy
   * @param after name of the last group of the previous page; empty: from the first one
   * @param limit maximum number of groups
   */
  public GroupScan groups(String kind, boolean onlyFull, String after, int limit) {
    return new GroupScan(current, kind, onlyFull, after, limit);
  }

  /** Returns the redundancy groups, not to be changed; null: none are configured. */
  public @Nullable RedundancyGroups redundancyGroups() {
    return state().groups;
  }

  /** Returns how many slots of a resource all nodes of its level, or all workers, have together. */
  public long total(Resource resource) {
    return state().queues.total(resource.index());
  }

  /** Returns all queues. Costs time proportional to the number of queues and jobs. */
  public List<QueueView> queues() {
    return QueueViews.of(state());
  }

  /** Returns the use of each resource. Costs time proportional to resources, queues and jobs. */
  public List<ResourceUse> resources() {
    return QueueViews.use(state());
  }

  /** Returns the recent usage of all queues, including queues that are no longer configured. */
  public List<QueueUsage> queueUsage() {
    return state().queues.usage(queueHistory);
  }

  /** Returns all caps of jobs and queues, including those whose target does not exist. */
  public List<RunningCap> caps() {
    return List.copyOf(state().limitTable.caps());
  }

  /** Returns all factors of limits, including those whose target does not exist. */
  public List<LimitFactor> factors() {
    return List.copyOf(state().limitTable.factors());
  }

  /** Returns what health leaves of limits, also where the target does not exist. */
  public List<HealthLimit> health() {
    return state().limitTable.health();
  }

  /** Returns what health leaves for one node or, with an empty name, for a level; or null. */
  public @Nullable HealthLimit health(String resource, String node) {
    return state().limitTable.ownHealth(resource, node);
  }

  /** Returns the limit that a node would have if health took nothing away. */
  public int limitWithoutHealth(int node, int resource) {
    return state().ledger.limitWithoutHealth(node, resource);
  }

  /** Returns the limit of a resource on a node, by its override or as configured. */
  public int baseLimit(int node, int resource) {
    return state().ledger.base(node, resource);
  }

  /** Returns all overrides of limits, including those whose target does not exist. */
  public List<LimitOverride> overrides() {
    return List.copyOf(state().limitTable.overrides());
  }

  /**
   * Returns whether all overrides, factors and what health leaves are in effect, see {@code
   * SchedulingCore.stepLimits}.
   */
  public boolean areLimitsInEffect() {
    return state().limits.isDone();
  }

  /** Returns the limit of a resource on a node that is in effect. */
  public int limit(int node, int resource) {
    return state().ledger.limit(node, resource);
  }

  /**
   * Returns why the limit of a resource on a node is below what it is by its override or as
   * configured; empty: it is not.
   */
  public String lowered(int node, Resource resource) {
    String addition = LimitMessages.lowered(state(), node, resource);
    return addition.startsWith("; ") ? addition.substring(2) : addition;
  }

  /** Returns the configured limit of a resource on a node, without overrides. */
  public int configuredLimit(int node, int resource) {
    return state().nodeLimits().of(node, resource);
  }

  /**
   * Returns the problems with limits that node sources deliver, with jobs whose needs no node can
   * meet, and with filters that are too slow for a node or a worker.
   */
  public List<Problem> nodeProblems() {
    List<Problem> problems = new ArrayList<>(state().nodeLimits().problems());
    problems.addAll(state().neverFits().problems(state().limitTable));
    problems.addAll(state().slowFilters());
    if (state().groups != null) {
      problems.addAll(state().groups.members().problems());
    }
    problems.addAll(state().workers.problems(state().jobs));
    return problems;
  }

  /** See {@link LimitBounds#beyondSomeLimit}. */
  public BitSet jobsBeyondSomeLimit() {
    return state().bounds.beyondSomeLimit();
  }

  /** Returns whether no node has any of a resource, which stops all jobs that need it. */
  public boolean isStop(String resource) {
    Resource known = state().config().settings().resources().find(resource);
    return known != null && state().bounds.isStop(known);
  }

  /**
   * Returns when tasks must be killed next because usage exceeds a limit; {@link Long#MAX_VALUE}:
   * no usage exceeds a limit, or nothing is to be killed for it.
   */
  public long nextOverLimitMillis() {
    return state().bounds.nextKillMillis(state().over);
  }

  /** Returns the workers in the pool or, alone, the scheduler's own host; null: none are needed. */
  public @Nullable List<WorkerInfo> workers() {
    return pool.mode() == WorkerTable.Mode.NONE
        ? null
        : pool.pool().stream().map(pool::info).filter(Objects::nonNull).toList();
  }

  /** Returns whether the choice of a worker depends on what workers measure. */
  public boolean readsMeasurements() {
    return state().workers.readsMeasurements();
  }

  /**
   * Returns the utilization of the workers: those of the pool, and those that have left and still
   * run tasks.
   */
  public List<WorkerUtilization> workerUse() {
    List<WorkerUtilization> all = new ArrayList<>();
    for (int worker = 0; worker < pool.high(); worker++) {
      if (pool.isUsed(worker)) {
        all.add(
            new WorkerUtilization(
                pool.shard(worker), pool.runs(worker), state().workers.slots(worker)));
      }
    }
    return all;
  }

  /** Returns the free slots of a resource on a node; negative when it is over-committed. */
  public int free(int node, int resource) {
    return state().ledger.free(node, state().index.level(node), resource);
  }

  /** Returns the number of jobs that wait for their start rate. */
  public int jobsHeldByRate() {
    return state().caps.heldCount();
  }

  /** Returns the number of nodes that wait for their start rate. */
  public int nodesHeldByRate() {
    return state().rates.heldCount();
  }

  /** Returns the nodes that are reserved for tasks that have waited long, unordered. */
  public List<Reservation> reservations() {
    return state().reservations == null ? List.of() : state().reservations.answers().all();
  }

  /** Returns the reservations in queues and on workers for jobs that have waited long. */
  public List<CapacityReservation> keptRoom() {
    return state().rooms.kept();
  }

  /**
   * Returns the closed gates of a node itself. Takes constant time while the node is open.
   *
   * @param job whose own gates on the node count, too; -1: only those for all jobs
   */
  public List<Reason> closed(int job, int node) {
    return Explainer.closed(state(), job, node);
  }

  /** Returns the reservation of a node, or null. */
  public @Nullable Reservation reservation(int node) {
    return state().reservations == null
        ? null
        : state().reservations.answers().of(node, state().index.level(node));
  }

  /** Returns the number of reserved nodes. */
  public int reservedNodes() {
    return state().reservations == null ? 0 : state().reservations.answers().count();
  }

  /** Returns the number of slots that are idle because they are reserved. */
  public long reservedSlots() {
    return state().reservations == null ? 0 : state().reservations.answers().idleSlots();
  }

  /**
   * Returns the peak usage of each resource of the levels that have nodes, since this core was
   * created.
   */
  public List<PeakUsage> peaks() {
    return peaks.of(state());
  }
}
