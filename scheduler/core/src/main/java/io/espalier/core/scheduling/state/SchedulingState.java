package io.espalier.core.scheduling.state;

import io.espalier.core.config.Config;
import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.problem.Problem;
import io.espalier.core.scheduling.capacity.ConfiguredLimits;
import io.espalier.core.scheduling.capacity.HealthLimit;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.capacity.LimitTable;
import io.espalier.core.scheduling.capacity.NodeCapacity;
import io.espalier.core.scheduling.capacity.OverLimitTracker;
import io.espalier.core.scheduling.capacity.UnsatisfiableJobs;
import io.espalier.core.scheduling.gate.GateTable;
import io.espalier.core.scheduling.gate.JobGates;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.group.RedundancyGroups;
import io.espalier.core.scheduling.index.ClosedNodes;
import io.espalier.core.scheduling.index.NodeCondition;
import io.espalier.core.scheduling.index.NodeRateLimiter;
import io.espalier.core.scheduling.index.StartableIndex;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.job.Renumbering;
import io.espalier.core.scheduling.job.StatusCodes;
import io.espalier.core.scheduling.queue.QueueTable;
import io.espalier.core.scheduling.reservation.NodeReservations;
import io.espalier.core.scheduling.reservation.ReservationContext;
import io.espalier.core.scheduling.reservation.ReservationStages;
import io.espalier.core.scheduling.reservation.StarvableJobs;
import io.espalier.core.scheduling.spi.SplitMix64;
import io.espalier.core.scheduling.spi.WorkerSelector;
import io.espalier.core.scheduling.task.JobThrottle;
import io.espalier.core.scheduling.task.NodeEligibility;
import io.espalier.core.scheduling.task.OrphanCheck;
import io.espalier.core.scheduling.task.RunPlacements;
import io.espalier.core.scheduling.task.RunningTasks;
import io.espalier.core.scheduling.task.StatusHistograms;
import io.espalier.core.scheduling.task.TaskStatuses;
import io.espalier.core.scheduling.task.TaskTable;
import io.espalier.core.scheduling.task.WholeJobDependencies;
import io.espalier.core.scheduling.util.LongQueue;
import io.espalier.core.scheduling.util.RateLimiterClock;
import io.espalier.core.scheduling.worker.HostIndex;
import io.espalier.core.scheduling.worker.WorkerIndex;
import io.espalier.core.scheduling.worker.WorkerTable;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The scheduling state: all data numbered by the jobs and nodes of one configuration, that is the
 * statuses, the free slots, the index over them, and the positions of the running tasks. When jobs
 * or nodes change, {@code StateMigration} builds a new state from the old one; within a state, the
 * cost of an event depends on what it touches.
 *
 * <p>This class assembles the parts and answers queries that concern several of them, such as which
 * jobs are open and what the limits are. {@link TaskStatuses} handles statuses, {@link
 * TaskAllocator} the resources of tasks, and {@link Wakeups} everything that waits for time.
 */
public final class SchedulingState implements ReservationContext {
  public final Topology topology;
  public final JobTable jobs;
  public final JobGates gates;
  public final NodeCapacity ledger;
  public final OverLimitTracker over;
  public final StartableIndex index;

  /** The nodes that are closed by a gate. */
  public final ClosedNodes closed;

  /** Null: no redundancy groups are configured. */
  public final @Nullable RedundancyGroups groups;

  public final HostIndex hosts;
  public final WorkerIndex workers;
  public final TaskTable tasks;
  public final WholeJobDependencies wholeJobs;
  public final RateLimiterClock clock;
  public final JobThrottle caps;
  public final NodeRateLimiter rates;
  public final QueueTable queues;
  public final StatusHistograms histograms;
  public final RunPlacements places;
  public final TaskStatuses statuses;
  public final TaskAllocator occupancy;
  public final OrphanCheck whereabouts;
  public final Wakeups waits;

  /** Null: no job can be starved by lighter ones. */
  public final @Nullable NodeReservations reservations;

  /** Reservations in queues and on workers. */
  public final ReservationStages rooms;

  /** The closed gates by name, the same object in all states of a core. */
  public final GateTable gateTable;

  /** The overrides and factors of limits, the same object in all states of a core. */
  public final LimitTable limitTable;

  public final LimitUpdater limits;

  /** What the limits of all nodes are together. */
  public final LimitBounds bounds;

  public final RunningTasks runs;
  public final WorkerTable pool;
  public final Map<String, WorkerSelector> selectors;

  private Config config;
  private UnsatisfiableJobs neverFits;

  /** The jobs with a filter that is too slow; constant as long as filters and nodes are. */
  private final Map<String, Problem> tooSlow;

  private int version;

  public SchedulingState(
      Config given,
      Topology topology,
      ConfiguredLimits nodeLimits,
      JobTable jobs,
      NodeEligibility verdicts,
      SplitMix64 random,
      RunningTasks runs,
      WorkerTable pool,
      Map<String, WorkerSelector> selectors,
      RateLimiterClock clock,
      GateTable gateTable,
      LimitTable limitTable) {
    tooSlow = verdicts.tooSlow();
    config = NodeEligibility.judged(given, tooSlow);
    jobs.replace(config);
    TaskTable tasks = verdicts.freshTasks();
    this.topology = topology;
    neverFits = UnsatisfiableJobs.of(jobs, nodeLimits, config.settings(), topology);
    this.jobs = jobs;
    gates = new JobGates(jobs.words);
    this.tasks = tasks;
    this.runs = runs;
    this.pool = pool;
    this.selectors = selectors;
    this.clock = clock;
    this.gateTable = gateTable;
    this.limitTable = limitTable;
    limits = new LimitUpdater(this, limitTable);
    bounds = new LimitBounds(topology, jobs, limitTable, config.settings(), nodeLimits);
    caps = new JobThrottle(jobs, clock, gates, limitTable, gateTable);
    rates = new NodeRateLimiter(topology, config.settings().rules().startRates(), clock);
    ResourceCatalog catalog = config.settings().resources();
    Levels levels = topology.levels();
    over = new OverLimitTracker(catalog.count());
    ledger = new NodeCapacity(topology, catalog, nodeLimits, jobs, over);
    groups = RedundancyGroups.of(config.settings().rules().groups(), topology);
    int[] placement = WorkerIndex.placementLevels(pool.mode(), jobs);
    hosts = new HostIndex(topology, jobs, placement);
    StarvableJobs heavy = StarvableJobs.of(topology, catalog, jobs);
    reservations = heavy == null ? null : new NodeReservations(this, heavy);
    index =
        new StartableIndex(
            topology,
            ledger,
            jobs,
            config.settings().nodeOrder(),
            verdicts.allowed(),
            conditions(),
            random);
    closed = new ClosedNodes(index);
    if (reservations != null) {
      index.watch(reservations);
    }
    workers =
        new WorkerIndex(
            pool,
            selectors,
            config.settings(),
            jobs,
            hosts,
            placement,
            index,
            gates,
            limitTable,
            over,
            topology.name(0),
            random);
    queues = new QueueTable(config, jobs, ledger, workers, gates, limitTable);
    gates.add(jobs::active);
    gates.add(workers::open);
    gates.add(caps::open);
    gates.add(queues::open);
    gates.changed();
    wholeJobs = new WholeJobDependencies(topology, jobs, tasks);
    histograms = new StatusHistograms(topology, jobs, tasks);
    places = new RunPlacements(levels.count(), jobs.needs, runs.high() + runs.high() / 4);
    statuses =
        new TaskStatuses(
            topology, jobs, tasks, index, wholeJobs, histograms, runs, places, gateTable, clock);
    rooms = new ReservationStages(this);
    occupancy = new TaskAllocator(this, statuses, runs);
    whereabouts = new OrphanCheck(topology, jobs, places);
    waits = new Wakeups(caps, rates, index, statuses, reservations, rooms);
  }

  private NodeCondition[] conditions() {
    List<NodeCondition> all = new ArrayList<>();
    if (hosts.placesAny()) {
      all.add(hosts);
    }
    if (rates.limitsAny()) {
      all.add(rates);
    }
    if (reservations != null) {
      all.add(reservations);
    }
    if (groups != null) {
      all.add(groups);
    }
    return all.toArray(new NodeCondition[0]);
  }

  public Config config() {
    return config;
  }

  /**
   * Marks in a configuration with the same filters the jobs that cannot be in force with these
   * nodes.
   */
  public Config judged(Config next) {
    return NodeEligibility.judged(next, tooSlow);
  }

  /** Returns the problems with filters that are too slow to be in force with these nodes. */
  public List<Problem> slowFilters() {
    return tooSlow.keySet().stream()
        .filter(job -> config.job(job) != null)
        .sorted()
        .map(tooSlow::get)
        .toList();
  }

  /** Returns the configured limits, without overrides. */
  public ConfiguredLimits nodeLimits() {
    return bounds.configured();
  }

  /** Returns the jobs that need more than any node has. */
  public UnsatisfiableJobs neverFits() {
    return neverFits;
  }

  /**
   * Returns whether the tasks of a job may start, apart from their own statuses and nodes: the job
   * is active and needs no more than some node has. Takes constant time.
   */
  public boolean mayStart(int job) {
    return jobs.isActive(job) && !bounds.isTooLarge(job);
  }

  /**
   * Returns since when a task that is not running could start, as far as its job, its status and
   * what it depends on are concerned, epoch milliseconds; 0: it could not, or its node is excluded
   * or disabled.
   */
  public long eligibleMillis(int job, int node) {
    boolean isOpen = StatusCodes.effect(tasks.code(job, node)) == StatusCodes.OPEN;
    return isOpen && jobs.isActive(job) && statuses.isReady(job, node)
        ? eligibleMillis(job, node, statuses.of(job, node))
        : 0;
  }

  /**
   * Returns the same of a task that was eligible until it was placed, just now.
   *
   * @param before its status before; null: it was never tried
   */
  public long eligibleMillis(int job, int node, @Nullable TaskStatus before) {
    long millis = jobs.activeSince(job);
    if (before != null) {
      long ready = before.readyAtMillis();
      millis = Math.max(millis, ready > 0 ? ready : before.sinceMillis());
    }
    long ago = statuses.releasedAgoMillis(job, node);
    return ago == Long.MAX_VALUE ? millis : Math.max(millis, clock.wallMillis() - ago);
  }

  private void limitsChanged() {
    bounds.changed();
    tasks.changed();
  }

  /** Sets a configuration whose numbering is the same. */
  public void setConfig(Config next, ConfiguredLimits nextLimits, UnsatisfiableJobs nextNeverFits) {
    config = next;
    bounds.replace(next.settings(), nextLimits);
    neverFits = nextNeverFits;
    version++;
    jobs.replace(next);
    limitsChanged();
    caps.reread();
    queues.replace(next);
    rooms.changed();
  }

  /** Returns a version that grows with every in-place update. */
  public int version() {
    return version;
  }

  /**
   * @param changed receives the tasks whose status changes
   * @param charged receives the nodes that are charged a token
   */
  public void logTo(@Nullable LongQueue changed, @Nullable LongQueue charged) {
    statuses.logTo(changed);
    rates.logTo(charged);
  }

  // ---- ReservationContext

  @Override
  public Topology topology() {
    return topology;
  }

  @Override
  public JobTable jobs() {
    return jobs;
  }

  @Override
  public NodeCapacity ledger() {
    return ledger;
  }

  @Override
  public StartableIndex index() {
    return index;
  }

  @Override
  public TaskTable tasks() {
    return tasks;
  }

  @Override
  public JobThrottle caps() {
    return caps;
  }

  @Override
  public QueueTable queues() {
    return queues;
  }

  @Override
  public WorkerIndex workers() {
    return workers;
  }

  @Override
  public WorkerTable workerTable() {
    return pool;
  }

  // ---- gates

  /**
   * Closes or opens a node, for all jobs or for one, according to its gates.
   *
   * @return the node if that is a change and the index must evaluate it again, or -1
   */
  public int updateGate(Scope scope) {
    int level = topology.levels().find(scope.level());
    int node =
        level < 0 || level >= topology.levels().worker() ? -1 : topology.find(level, scope.name());
    if (node < 0) {
      return -1;
    }
    if (scope.kind() == Scope.Kind.JOB_ON_NODE) {
      int job = jobs.find(scope.job());
      return job >= 0 && closed.set(node, job, gateTable.isClosed(scope)) ? node : -1;
    }
    return closed.set(node, gateTable.isClosed(scope)) ? node : -1;
  }

  /** Makes the index and the reservations follow a node that was closed or opened. */
  public void gateChanged(int node) {
    index.refresh(node, index.level(node));
    if (reservations == null) {
      return;
    }
    if (closed.isClosed(node) || closed.isClosedForSome(node)) {
      reservations.closed(node);
    }
    if (!closed.isClosed(node)) {
      reservations.opened(node);
    }
  }

  @Override
  public boolean isClosed(int node, int job) {
    return closed.isClosed(node, job);
  }

  // ---- starting

  @Override
  public long openJobs(int word) {
    return index.openAtRoot(word) & gates.open(word);
  }

  /**
   * Opens members of redundancy groups with room, when a round has found nothing more to start.
   *
   * @param most about how many
   * @return whether the round must go on
   */
  public boolean wakeMembers(int most) {
    return groups != null && groups.wake(most, index);
  }

  // ---- reservations

  /**
   * Handles a changed limit of a node; returns whether the index must refresh the node for its
   * reservation.
   */
  boolean limitChanged(int node, int level) {
    if (reservations == null) {
      return false;
    }
    reservations.limitsChanged();
    return reservations.isHeld(node, level);
  }

  /** Handles a job that has become active or inactive. */
  public void activated(int job, boolean on) {
    if (reservations != null) {
      reservations.activated(job, on);
    }
    if (!on) {
      rooms.ended(job);
    }
  }

  /** Ends a round; until the clock is set again, its time may be outdated. */
  public void roundOver() {
    if (reservations != null) {
      reservations.roundOver();
    }
    rooms.roundOver();
  }

  @Override
  public boolean mayGetWorker(int job) {
    return rooms.mayGetWorker(job);
  }

  @Override
  public boolean holdsNodes(int job) {
    return reservations != null && reservations.holdsAny(job);
  }

  /** Takes over the reservations of the previous state when this state comes into force. */
  public void takeOver(SchedulingState before, Renumbering numbers) {
    if (reservations != null) {
      reservations.takeOver(before.reservations, numbers);
    }
    rooms.takeOver(before.rooms, numbers);
  }

  // ---- limits

  /**
   * Begins to follow the table of overrides, factors and caps; {@link LimitUpdater#step} must
   * follow.
   */
  public void followLimits() {
    caps.followCaps();
    queues.followCaps();
    limitsChanged();
    limits.restore();
  }

  /**
   * Returns whether all overrides, factors and stages, and what health leaves, are in effect;
   * {@link #stepLimits} brings them into effect.
   */
  public boolean areLimitsInEffect() {
    return limits.isDone() && statuses.staged().isDone();
  }

  /**
   * Brings overrides, factors, stages and what health leaves into effect.
   *
   * @param units about how many words of the index to touch
   * @return whether all of them are in effect
   */
  public boolean stepLimits(int units) {
    int used = limits.step(units, true);
    int unused = statuses.staged().step(units - used, statuses);
    queues.refresh();
    return areLimitsInEffect();
  }

  /** Handles an override that was set, changed or ended; {@link LimitUpdater#step} must follow. */
  public void overrideChanged(LimitOverride.Key key) {
    limitsChanged();
    limits.changed(key);
  }

  /**
   * Handles factors that were set, changed or removed; {@link LimitUpdater#step} must follow.
   *
   * @param changed the factors as they were before, and as they are
   */
  public void factorsChanged(List<LimitFactor> changed) {
    limits.factorsChanged(changed);
  }

  /**
   * Handles what health leaves of a limit, which was set, changed or removed; {@link
   * LimitUpdater#step} must follow.
   */
  public void healthChanged(HealthLimit changed) {
    limits.healthChanged(changed);
  }

  /** Handles a cap of a job or queue that was set, changed or removed. */
  public void capChanged(Scope scope) {
    tasks.changed();
    int job = scope.kind() == Scope.Kind.JOB ? jobs.find(scope.name()) : -1;
    if (job >= 0) {
      caps.capChanged(job);
    } else if (scope.kind() == Scope.Kind.QUEUE) {
      queues.capChanged(scope.name());
    }
  }

  /** Handles a changed configured limit of a node resource. */
  public void configuredLimitChanged(Resource resource) {
    limits.changed(resource);
  }

  /** See {@code SchedulingCore.work}. */
  public long work() {
    return index.work()
        + workers.work()
        + over.work()
        + (reservations == null ? 0 : reservations.work());
  }

  public long byteSize() {
    return ledger.byteSize()
        + index.byteSize()
        + tasks.byteSize()
        + rates.byteSize()
        + (groups == null ? 0 : groups.byteSize())
        + nodeLimits().byteSize();
  }
}
