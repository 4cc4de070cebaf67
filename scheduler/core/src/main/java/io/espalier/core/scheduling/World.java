package io.espalier.core.scheduling;

import io.espalier.core.config.Config;
import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.problem.Problem;
import io.espalier.core.status.LimitOverride;
import io.espalier.core.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Everything that is numbered by the jobs and nodes of one configuration: statuses, free slots, the
 * index over them, and where the running tasks stand. A change of jobs or nodes makes a new world
 * out of the old one ({@link Migration}); what happens within a world costs what it touches.
 *
 * <p>The world itself puts its parts together and knows what concerns several of them: what is open
 * to start, what the limits are. What happens to a task is in {@link TaskStatuses}, what it takes
 * in {@link Occupancy}, what waits for time in {@link TimedWaits}.
 */
final class World implements ReservationContext {
  final Topology topology;
  final JobTable jobs;
  final Ledger ledger;
  final OverLimits over;
  final OpenIndex index;
  final WorkerHosts hosts;
  final WorkerIndex workers;
  final TaskTable tasks;
  final WholeJobs wholeJobs;
  final RateClock clock;
  final JobCaps caps;
  final NodeRates rates;
  final QueueTable queues;
  final HistogramRows histograms;
  final RunPlaces places;
  final TaskStatuses statuses;
  final Occupancy occupancy;
  final Whereabouts whereabouts;
  final TimedWaits waits;

  /** Null: no job can be starved by lighter ones. */
  final @Nullable Reservations reservations;

  /** Room of queues and workers that is kept for jobs. */
  final SharedRooms rooms;

  final LimitOverrides overrides = new LimitOverrides();
  final LimitShifts limits = new LimitShifts(this, overrides);
  final RunTable runs;
  final WorkerTable pool;
  final Map<String, WorkerSelector> selectors;

  private Config config;
  private NodeLimits nodeLimits;
  private NeverFits neverFits;

  /** Jobs of which a filter is too slow; the same as long as filters and nodes are. */
  private final Map<String, Problem> tooSlow;

  private int version;

  /** Jobs that need more than any node has now; null: to be found again. */
  private @Nullable BitSet tooLarge;

  World(
      Config given,
      Topology topology,
      NodeLimits nodeLimits,
      JobTable jobs,
      NodeVerdicts verdicts,
      Randomness random,
      RunTable runs,
      WorkerTable pool,
      Map<String, WorkerSelector> selectors,
      RateClock clock) {
    tooSlow = verdicts.tooSlow();
    config = NodeVerdicts.judged(given, tooSlow);
    jobs.replace(config);
    TaskTable tasks = verdicts.freshTasks();
    this.topology = topology;
    this.nodeLimits = nodeLimits;
    neverFits = NeverFits.of(jobs, nodeLimits, config.settings(), topology);
    this.jobs = jobs;
    this.tasks = tasks;
    this.runs = runs;
    this.pool = pool;
    this.selectors = selectors;
    this.clock = clock;
    caps = new JobCaps(jobs, clock);
    rates = new NodeRates(topology, config.settings().rules().startRates(), clock);
    ResourceCatalog catalog = config.settings().resources();
    Levels levels = topology.levels();
    over = new OverLimits(catalog.count());
    ledger = new Ledger(topology, catalog, nodeLimits, jobs, over);
    int[] placement = WorkerIndex.placementLevels(pool.mode(), jobs);
    hosts = new WorkerHosts(topology, jobs, placement);
    HeavyJobs heavy = HeavyJobs.of(topology, catalog, jobs);
    reservations = heavy == null ? null : new Reservations(this, heavy);
    index =
        new OpenIndex(
            topology,
            ledger,
            jobs,
            config.settings().nodeOrder(),
            verdicts.allowed(),
            gates(),
            random);
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
            overrides,
            over,
            topology.name(0));
    queues = new QueueTable(config, jobs, ledger, workers);
    wholeJobs = new WholeJobs(topology, jobs, tasks);
    histograms = new HistogramRows(topology, jobs, tasks);
    places = new RunPlaces(levels.count(), jobs.needs, runs.high() + runs.high() / 4);
    statuses = new TaskStatuses(topology, jobs, tasks, index, wholeJobs, histograms, runs, places);
    rooms = new SharedRooms(this);
    occupancy = new Occupancy(this, statuses, runs);
    whereabouts = new Whereabouts(topology, jobs, places);
    waits = new TimedWaits(caps, rates, index, statuses, reservations, rooms);
  }

  private NodeGate[] gates() {
    List<NodeGate> all = new ArrayList<>();
    if (hosts.placesAny()) {
      all.add(hosts);
    }
    if (rates.limitsAny()) {
      all.add(rates);
    }
    if (reservations != null) {
      all.add(reservations);
    }
    return all.toArray(new NodeGate[0]);
  }

  Config config() {
    return config;
  }

  /** A configuration with the same filters, as far as it can be in force with these nodes. */
  Config judged(Config next) {
    return NodeVerdicts.judged(next, tooSlow);
  }

  /** The configured limits, whatever operators say. */
  NodeLimits nodeLimits() {
    return nodeLimits;
  }

  /** Jobs that need more than any node has. */
  NeverFits neverFits() {
    return neverFits;
  }

  /** The largest limit that any node has, by configuration or operator; at times a little more. */
  int largestLimit(Resource resource) {
    int largest = nodeLimits.largest(resource.index());
    for (LimitOverride override : overrides.all()) {
      if (override.resource().equals(resource.name())) {
        largest = Math.max(largest, override.limit());
      }
    }
    return largest;
  }

  /**
   * Whether the tasks of a job may start, each as far as its own status and node go: nothing keeps
   * the job as a whole, and it needs no more than some node has. Constant time.
   */
  boolean mayStart(int job) {
    if (!jobs.isActive(job)) {
      return false;
    }
    BitSet found = tooLarge;
    if (found == null) {
      found = new BitSet();
      for (int j = 0; j < jobs.count(); j++) {
        for (Resource resource : config.settings().resources().all()) {
          if (needs(j, resource) > mostNow(resource)) {
            found.set(j);
          }
        }
      }
      tooLarge = found;
    }
    return !found.get(job);
  }

  /** Slots of a resource of nodes that each task of a job takes; 0 of one of workers. */
  int needs(int job, Resource resource) {
    return resource.level() < topology.levels().worker() && resource.level() <= jobs.levels[job]
        ? jobs.needs[job][resource.index()]
        : 0;
  }

  /**
   * The largest limit that is in effect on any node, as {@link #largestLimit} but for overrides of
   * whole levels, which may lower it; {@link Integer#MAX_VALUE}: there are no nodes.
   */
  private int mostNow(Resource resource) {
    int largest = nodeLimits.largest(resource.index());
    if (largest < 0) {
      return Integer.MAX_VALUE;
    }
    String level = topology.levels().name(resource.level());
    LimitOverride all = overrides.ofLevel(level, resource.name());
    int most = all == null ? largest : all.limit();
    for (LimitOverride override : overrides.all()) {
      if (override.resource().equals(resource.name())) {
        most = Math.max(most, override.limit());
      }
    }
    return most;
  }

  private void limitsChanged() {
    tooLarge = null;
    tasks.changed();
  }

  /** A configuration that differs in nothing that is numbered. */
  void setConfig(Config next, NodeLimits nextLimits, NeverFits nextNeverFits) {
    config = next;
    nodeLimits = nextLimits;
    neverFits = nextNeverFits;
    version++;
    jobs.replace(next);
    limitsChanged();
    caps.reread();
    queues.replace(next);
    rooms.changed();
  }

  /** Grows with every change in place. */
  int version() {
    return version;
  }

  /**
   * @param changed receives the tasks whose status changes
   * @param charged receives the nodes that are charged a token
   */
  void logTo(@Nullable LongQueue changed, @Nullable LongQueue charged) {
    statuses.logTo(changed);
    rates.logTo(charged);
  }

  // ---- what reservations ask for

  @Override
  public Topology topology() {
    return topology;
  }

  @Override
  public JobTable jobs() {
    return jobs;
  }

  @Override
  public Ledger ledger() {
    return ledger;
  }

  @Override
  public OpenIndex index() {
    return index;
  }

  @Override
  public TaskTable tasks() {
    return tasks;
  }

  @Override
  public JobCaps caps() {
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

  // ---- starting

  @Override
  public long openJobs(int word) {
    return index.openAtRoot(word)
        & jobs.active(word)
        & workers.open(word)
        & caps.open(word)
        & queues.open(word);
  }

  // ---- heavy jobs

  /** The limit of a node has changed; returns whether the index must look at it for that. */
  boolean limitChanged(int node, int level) {
    if (reservations == null) {
      return false;
    }
    reservations.limitsChanged();
    return reservations.isHeld(node, level);
  }

  /** A job has become active or has ceased to be. */
  void activated(int job, boolean on) {
    if (reservations != null) {
      reservations.activated(job, on);
    }
    if (!on) {
      rooms.stopped(job);
    }
  }

  /** A round is over; until time is told again it may be later than was told. */
  void roundOver() {
    if (reservations != null) {
      reservations.clockRuns();
    }
    rooms.roundOver();
  }

  @Override
  public boolean mayGetWorker(int job) {
    return rooms.workers().hopes(job);
  }

  @Override
  public boolean holdsNodes(int job) {
    return reservations != null && reservations.held().holdsAny(job);
  }

  /** Goes on with what is kept free, when this world comes into force. */
  void takeOver(World before, Renumbering numbers) {
    if (reservations != null) {
      reservations.takeOver(before.reservations, numbers);
    }
    rooms.takeOver(before.rooms, numbers);
  }

  // ---- limits

  /** After how long with more in use than the limit tasks are killed; -1: never. */
  long killOverLimitMillis(Resource resource) {
    Duration after = config.settings().rules().killOverLimit().get(resource.name());
    return after == null ? -1 : after.toMillis();
  }

  /** When the first tasks are to be killed for it; {@link Long#MAX_VALUE}: none. */
  long nextOverLimitMillis() {
    long next = Long.MAX_VALUE;
    if (!over.isEmpty() && !config.settings().rules().killOverLimit().isEmpty()) {
      for (Resource resource : config.settings().resources().all()) {
        long delay = killOverLimitMillis(resource);
        long first = over.first(resource.index());
        if (delay >= 0 && first != Long.MAX_VALUE) {
          next = Math.min(next, first + delay);
        }
      }
    }
    return next;
  }

  /** An override was given, changed or ended; {@link LimitShifts#step} must follow. */
  void override(LimitOverride.Key key, @Nullable LimitOverride override) {
    if (override == null) {
      overrides.remove(key);
    } else {
      overrides.put(override);
    }
    limitsChanged();
    limits.changed(key);
  }

  /** The configured limit of a resource of nodes has changed. */
  void configuredLimitChanged(Resource resource) {
    String level = topology.levels().name(resource.level());
    limits.changed(new LimitOverride.Key(level, resource.name(), ""));
  }

  /** See {@link SchedulingCore#work}. */
  long work() {
    return index.work() + workers.work() + over.work();
  }

  long byteSize() {
    return ledger.byteSize()
        + index.byteSize()
        + tasks.byteSize()
        + rates.byteSize()
        + nodeLimits.byteSize();
  }
}
