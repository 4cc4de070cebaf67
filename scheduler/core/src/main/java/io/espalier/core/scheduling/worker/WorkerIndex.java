package io.espalier.core.scheduling.worker;

import io.espalier.core.api.view.WorkerView.Slots;
import io.espalier.core.config.Job;
import io.espalier.core.config.Levels;
import io.espalier.core.config.Settings;
import io.espalier.core.config.label.LabelExpression;
import io.espalier.core.problem.Problem;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.capacity.LimitTable;
import io.espalier.core.scheduling.capacity.OverLimitTracker;
import io.espalier.core.scheduling.gate.JobGates;
import io.espalier.core.scheduling.index.StartableIndex;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.spi.SplitMix64;
import io.espalier.core.scheduling.spi.WorkerSelector;
import io.espalier.core.scheduling.spi.WorkerSelector.Search;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An index of the jobs that have a fitting worker, which also selects the worker
 * (docs/design/design.md#jobs-that-are-placed-on-hosts). It works with requirement classes, which
 * group jobs by their needs on a worker and their worker filter, and tracks on which workers each
 * class fits. {@link WorkerCapacity} counts the capacity and usage of the workers. {@link
 * RankedWorkers} keeps the workers in the selector's order together with these bits. This class
 * connects the two, and translates bits of classes into bits of jobs. A start or an end touches the
 * trees of one worker.
 *
 * <p>Which workers must fit depends on the placement of the job:
 *
 * <ul>
 *   <li>jobs without placement, and all jobs as a necessary condition: any worker;
 *   <li>{@code host_placement}: any worker of that host. Both are bits per job, next to those of
 *       the root;
 *   <li>{@code level_for_host_placement}: any worker of the host that a node of that level names.
 *       This is part of {@code open(j, n)} through {@link HostIndex}. On a path without a node of
 *       that level, any worker will do (docs/design/bistro.md#host-placement).
 * </ul>
 */
public final class WorkerIndex {
  /** Whether tasks need workers at all; otherwise this class does nothing. */
  private final boolean active;

  private final WorkerTable table;
  private final Map<String, WorkerSelector> selectors;
  private final int words;
  private final RequirementClasses classes;
  private final int classWords;

  /** By job: the level whose nodes name its hosts; -1: none. */
  private final int[] placementLevel;

  /** By job: the host it must run on; -1: any. */
  private final int[] pinnedTo;

  /** The bits of the jobs that are pinned to a host. */
  private final long[] pinned;

  /**
   * The bits of the jobs that have a fitting worker; all bits are set when tasks need no workers.
   */
  private final long[] open;

  private final JobGates gates;
  private final HostIndex hosts;
  private final StartableIndex index;
  private final WorkerCapacity ledger;
  private final RankedWorkers order;
  private final SplitMix64 random;
  private @Nullable WorkerSelector selector;

  // By worker.
  private boolean[] takes = new boolean[0];

  /** By worker: the classes whose filters accept it. */
  private long[] passes = new long[0];

  /** By worker: the job that it is reserved for, or -1. */
  private int[] keptFor = new int[0];

  private final long[] fit;
  private final long[] allBefore;
  private final long[] hostBefore;
  private final long[] changed;

  /**
   * @param hosts the hosts of the same state, which the startable index queries too
   * @param placementLevel by job: see {@link #placementLevels}
   * @param gates must be told of every job that gains or loses its last fitting worker; {@link
   *     #open} is one of their sources
   * @param overrides the overrides of limits; after a change of these, {@link #put} must be called
   *     again for the workers
   * @param over receives the places where usage exceeds the limit
   * @param instance the name of the scheduler's own host
   * @param random draws workers for selectors that ask for it
   */
  public WorkerIndex(
      WorkerTable table,
      Map<String, WorkerSelector> selectors,
      Settings settings,
      JobTable jobs,
      HostIndex hosts,
      int[] placementLevel,
      StartableIndex index,
      JobGates gates,
      LimitTable overrides,
      OverLimitTracker over,
      String instance,
      SplitMix64 random) {
    this.table = table;
    this.selectors = selectors;
    this.hosts = hosts;
    this.placementLevel = placementLevel;
    this.index = index;
    this.gates = gates;
    this.random = random;
    ledger = new WorkerCapacity(table, settings, overrides, over, instance);
    words = jobs.words;
    WorkerTable.Mode mode = table.mode();
    active =
        mode == WorkerTable.Mode.POOL || (mode == WorkerTable.Mode.LOCAL && ledger.width() > 0);
    Levels levels = settings.levels();
    classes =
        new RequirementClasses(levels, ledger.resources(), jobs, mode == WorkerTable.Mode.POOL);
    classWords = classes.words;
    pinnedTo = new int[jobs.count()];
    Arrays.fill(pinnedTo, -1);
    pinned = new long[words];
    open = new long[words];
    Arrays.fill(open, active ? 0 : -1L);
    for (int j = 0; j < pinnedTo.length; j++) {
      Job job = jobs.job(j);
      if (job != null && mode == WorkerTable.Mode.POOL && !job.hostPlacement().isEmpty()) {
        pinnedTo[j] = hosts.use(job.hostPlacement());
        pinned[j >>> 6] |= 1L << j;
      }
    }
    order = new RankedWorkers(classWords);
    order.growHosts(hosts.high());
    fit = new long[classWords];
    allBefore = new long[classWords];
    hostBefore = new long[classWords];
    changed = new long[words];
    selector = selectors.get(settings.workerSelector());
  }

  /**
   * Returns by job the level whose nodes name the host of its tasks; -1 when the tasks may run on
   * any host or all run on the same one (docs/design/bistro.md#host-placement). Placement has no
   * effect on local runners.
   */
  public static int[] placementLevels(WorkerTable.Mode mode, JobTable jobs) {
    int[] levels = new int[jobs.count()];
    for (int j = 0; j < levels.length; j++) {
      Job job = jobs.job(j);
      int level = job == null ? -1 : job.levelForHostPlacement().orElse(-1);
      boolean counts =
          mode == WorkerTable.Mode.POOL
              && job != null
              && job.hostPlacement().isEmpty()
              && level <= jobs.levels[j];
      levels[j] = counts ? level : -1;
    }
    return levels;
  }

  /** Returns the problems of jobs whose worker filter is too slow. */
  public List<Problem> problems(JobTable jobs) {
    return classes.problems(jobs);
  }

  public boolean isActive() {
    return active;
  }

  /** Returns the bits of the jobs that have a fitting worker. */
  public long open(int word) {
    return open[word];
  }

  public long work() {
    return order.work();
  }

  // ---- the pool

  private void grow(int worker) {
    if (worker < takes.length) {
      return;
    }
    int size = Math.max(16, Math.max(worker + 1, takes.length * 2));
    takes = Arrays.copyOf(takes, size);
    passes = Arrays.copyOf(passes, size * classWords);
    int old = keptFor.length;
    keptFor = Arrays.copyOf(keptFor, size);
    Arrays.fill(keptFor, old, size, -1);
    ledger.grow(size);
    order.grow(size);
  }

  /** Updates a worker that is new, changed or gone in the table. */
  public void put(int worker) {
    if (!active) {
      return;
    }
    grow(worker);
    WorkerInfo info = table.info(worker);
    int host = info == null ? -1 : hosts.find(info.host());
    int before = order.hostOf(worker);
    if (before >= 0 && (info == null || host != before)) {
      leave(worker, before);
      before = -1;
    }
    if (info == null) {
      return;
    }
    if (before < 0) {
      host = hosts.use(info.host());
      order.growHosts(hosts.high());
      order.usesHost(host);
    }
    takes[worker] = info.takesTasks();
    ledger.put(worker, info);
    Arrays.fill(passes, worker * classWords, (worker + 1) * classWords, 0);
    for (int c = 0; c < classes.count(); c++) {
      if (classes.passes(c, info)) {
        passes[worker * classWords + (c >>> 6)] |= 1L << c;
      }
    }
    refit(worker, host);
    ledger.tell(worker);
  }

  /** Handles a worker whose gate was closed or opened. */
  public void gateChanged(int worker) {
    int host = active && isKnown(worker) ? order.hostOf(worker) : -1;
    if (host >= 0) {
      refit(worker, host);
    }
  }

  private void leave(int worker, int host) {
    before(host);
    order.remove(worker);
    after(host);
    keptFor[worker] = -1;
    ledger.leave(worker);
    hosts.release(host);
  }

  /**
   * Applies new settings with other limits, weights, overrides, physical resources or another
   * selector.
   */
  public void setSettings(Settings next) {
    ledger.setSettings(next);
    selector = selectors.get(next.workerSelector());
    for (int worker = 0; worker < table.high(); worker++) {
      put(worker);
    }
  }

  /** Takes over the position of the previous state's last search. */
  public void goOnAfter(WorkerIndex before) {
    order.goOnAfter(before.order);
  }

  // ---- tasks

  /** Charges a task to a worker. */
  public void charge(int worker, int[] amounts) {
    change(worker, amounts, 1);
  }

  public void release(int worker, int[] amounts) {
    change(worker, amounts, -1);
  }

  private void change(int worker, int[] amounts, int sign) {
    if (!active || worker < 0) {
      return;
    }
    grow(worker);
    ledger.change(worker, amounts, sign);
    int host = order.hostOf(worker);
    if (host >= 0) {
      refit(worker, host);
    }
  }

  /** Limits the charges of an adopted or migrated task so that the counts cannot overflow. */
  public int[] countable(int worker, int[] amounts) {
    return active && worker >= 0 && worker < takes.length
        ? ledger.countable(worker, amounts)
        : amounts;
  }

  /**
   * Selects the worker for a task of an open job.
   *
   * @param path the task's node per level, -1 for none
   * @return the worker number; -1 when tasks need no workers
   */
  public int choose(int job, int[] path) {
    if (!active) {
      return -1;
    }
    int host = pinnedTo[job];
    int level = placementLevel[job];
    if (level >= 0 && path[level] >= 0) {
      host = hosts.ofNode(path[level], level);
    }
    int needClass = classes.ofJob[job];
    int worker =
        search() == Search.BETTER_OF_TWO
            ? betterOfTwo(host, needClass)
            : order.choose(host, needClass, search() == Search.IN_TURN);
    if (worker < 0) {
      throw new IllegalStateException("a job is open and no worker fits");
    }
    return worker;
  }

  /** Returns whether a worker that a task of a job was placed on has room for another one. */
  public boolean takesAnother(int job, int worker) {
    int needClass = classes.ofJob[job];
    return !active || (fit(worker, needClass >>> 6) & 1L << needClass) != 0;
  }

  /** Returns whether the selector reads what workers measure. */
  public boolean readsMeasurements() {
    return selector != null && selector.readsMeasurements();
  }

  private Search search() {
    return selector == null ? Search.IN_TURN : selector.search();
  }

  private int betterOfTwo(int host, int needClass) {
    int first = order.after(host, needClass, random.below(table.high()));
    int second = order.after(host, needClass, random.below(table.high()));
    if (second == first && first >= 0) {
      second = order.after(host, needClass, first);
    }
    return first < 0 || selector == null || loadRank(first) <= loadRank(second) ? first : second;
  }

  private long loadRank(int worker) {
    return selector == null ? 0 : selector.rank(ledger.load(worker));
  }

  // ---- fitting

  private long fit(int worker, int word) {
    if (!takes[worker] || table.isHeld(worker) || ledger.isFull(worker)) {
      return 0;
    }
    long bits = passes[worker * classWords + word];
    for (int k = 0; k < ledger.width(); k++) {
      bits &= classes.fit(k, ledger.free(worker, k), word);
    }
    return keptFor[worker] < 0 ? bits : bits & fitBeside(worker, word);
  }

  /** Returns the holder's class, and the classes that fit besides the reservation. */
  private long fitBeside(int worker, int word) {
    int holder = classes.ofJob[keptFor[worker]];
    long own = holder >>> 6 == word ? 1L << holder : 0;
    long bits = ledger.isFullBeside(worker) ? 0 : -1L;
    for (int k = 0; k < ledger.width() && bits != 0; k++) {
      int free = ledger.freeBeside(worker, k, classes.need(holder, k));
      bits &= classes.fit(k, free, word);
    }
    return bits | own;
  }

  // ---- reservations

  /**
   * Reserves a worker of the pool for the class of a job, as far as the job needs it.
   *
   * @param job -1: ends the reservation
   */
  public void keepFor(int worker, int job) {
    keptFor[worker] = job;
    refit(worker, order.hostOf(worker));
  }

  /** Returns the job that a worker is reserved for, or -1. */
  public int keptFor(int worker) {
    return isKnown(worker) ? keptFor[worker] : -1;
  }

  /** Returns whether a worker is reserved for jobs of another class. */
  boolean isKeptFromJob(int worker, int job) {
    int holder = keptFor(worker);
    return holder >= 0 && classes.ofJob[holder] != classes.ofJob[job];
  }

  /** Returns the free slots of a worker that a job may use; negative when over-committed. */
  public int freeFor(int job, int worker, int resource) {
    return isKeptFromJob(worker, job)
        ? ledger.freeBeside(worker, resource, need(keptFor[worker], resource))
        : ledger.free(worker, resource);
  }

  /**
   * Returns whether a worker has no task capacity for a job, counting a reservation for another
   * class.
   */
  public boolean isFullFor(int job, int worker) {
    return isKeptFromJob(worker, job) ? ledger.isFullBeside(worker) : ledger.isFull(worker);
  }

  private void computeFit(int worker) {
    for (int w = 0; w < classWords; w++) {
      fit[w] = fit(worker, w);
    }
  }

  /** Returns the place of a worker in the order that is kept. */
  private long rank(int worker) {
    return search() == Search.BETTER_OF_TWO ? 0 : loadRank(worker);
  }

  /** Updates a worker's bits and rank, and the bits that depend on them. */
  private void refit(int worker, int host) {
    long rank = rank(worker);
    computeFit(worker);
    if (!order.isUpToDate(worker, rank, fit)) {
      before(host);
      order.place(worker, host, rank, fit);
      after(host);
    }
  }

  private void before(int host) {
    for (int w = 0; w < classWords; w++) {
      allBefore[w] = order.fit(w);
      hostBefore[w] = order.fitOn(host, w);
    }
  }

  /** Flips the jobs of the classes that have started or ceased to fit. */
  private void after(int host) {
    for (int w = 0; w < classWords; w++) {
      long flips = allBefore[w] ^ order.fit(w);
      for (; flips != 0; flips &= flips - 1) {
        int c = (w << 6) + Long.numberOfTrailingZeros(flips);
        for (int j = 0; j < words; j++) {
          open[j] ^= classes.jobs(c, j) & ~pinned[j];
          gates.changed(j);
        }
      }
    }
    boolean any = false;
    Arrays.fill(changed, 0);
    for (int w = 0; w < classWords; w++) {
      long flips = hostBefore[w] ^ order.fitOn(host, w);
      any |= flips != 0;
      for (; flips != 0; flips &= flips - 1) {
        int c = (w << 6) + Long.numberOfTrailingZeros(flips);
        for (int j = 0; j < words; j++) {
          changed[j] |= classes.jobs(c, j);
        }
      }
    }
    if (any) {
      flipPinned(host);
      hosts.flip(host, changed, index);
    }
  }

  private void flipPinned(int host) {
    for (int w = 0; w < words; w++) {
      for (long bits = changed[w] & pinned[w]; bits != 0; bits &= bits - 1) {
        int job = (w << 6) + Long.numberOfTrailingZeros(bits);
        if (pinnedTo[job] == host) {
          open[w] ^= 1L << job;
          gates.changed(w);
        }
      }
    }
  }

  // ---- searching

  /**
   * Returns whether any worker can take a task of a job now.
   *
   * @param host the required host; null: any
   */
  public boolean finds(int job, @Nullable String host) {
    if (!active) {
      return true;
    }
    int needClass = classes.ofJob[job];
    int number = host == null ? -1 : hosts.find(host);
    long bits;
    if (host == null) {
      bits = order.fit(needClass >>> 6);
    } else {
      bits = number < 0 ? 0 : order.fitOn(number, needClass >>> 6);
    }
    return (bits & 1L << needClass) != 0;
  }

  /**
   * Returns whether any worker takes tasks of a job, full or not.
   *
   * @param host the required host; null: any
   */
  public boolean isThere(int job, @Nullable String host) {
    if (finds(job, host)) {
      return true;
    }
    int number = host == null ? -1 : hosts.find(host);
    for (int worker = 0; worker < table.high(); worker++) {
      WorkerInfo info = table.info(worker);
      if (info != null
          && info.takesTasks()
          && isKnown(worker)
          && passes(job, worker)
          && (host == null || (number >= 0 && isOn(worker, number)))) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether the worker filter of a job accepts a worker. */
  public boolean passes(int job, int worker) {
    int needClass = classes.ofJob[job];
    return (passes[worker * classWords + (needClass >>> 6)] & 1L << needClass) != 0;
  }

  /** Returns the condition of a job on the labels of workers. */
  public LabelExpression labels(int job) {
    return classes.labels(classes.ofJob[job]);
  }

  /** Returns the slots of a worker-level resource that a task of a job needs. */
  public int need(int job, int resource) {
    return classes.need(classes.ofJob[job], resource);
  }

  /** Returns the level whose nodes name the hosts of a job's tasks; -1: none. */
  public int placementLevel(int job) {
    return placementLevel[job];
  }

  /** Returns the host that all tasks of a job must run on; null: none. */
  public @Nullable String pinnedTo(int job) {
    return pinnedTo[job] < 0 ? null : hosts.name(pinnedTo[job]);
  }

  /** Returns whether a worker was ever in the pool or ran a task. */
  public boolean isKnown(int worker) {
    return worker < takes.length;
  }

  public boolean isOn(int worker, int host) {
    return isKnown(worker) && order.hostOf(worker) == host;
  }

  // ---- counts

  /** Returns what the workers have, and what of it is in use. */
  public WorkerCapacity capacity() {
    return ledger;
  }

  public int tasks(int worker) {
    return isKnown(worker) ? ledger.tasks(worker) : 0;
  }

  /** Returns the usage of a worker's slots; empty when tasks need no workers. */
  public List<Slots> slots(int worker) {
    return active && isKnown(worker) ? ledger.slots(worker) : List.of();
  }

  /**
   * Checks the shape, order and bits of the trees, and that they contain every worker of the pool.
   *
   * @throws IllegalStateException when the index is inconsistent
   */
  public void check() {
    order.check(table.pool().size());
    for (int worker : table.pool()) {
      computeFit(worker);
      if (!order.isUpToDate(worker, rank(worker), fit)) {
        throw new IllegalStateException("worker " + worker + " is out of date");
      }
    }
  }
}
