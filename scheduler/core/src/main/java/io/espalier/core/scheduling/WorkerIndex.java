package io.espalier.core.scheduling;

import io.espalier.core.api.WorkerView.Slots;
import io.espalier.core.config.Job;
import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeLimit;
import io.espalier.core.config.Resource;
import io.espalier.core.config.Settings;
import io.espalier.core.config.WorkerSlots;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.status.LimitOverride;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which jobs find a worker, and which worker it is (design section 4, ruling 10). Per need class
 * (what a job needs of a worker, and its worker filter) it is known on which workers the class
 * fits; all workers, and those of each host, are kept in the selector's order with these bits above
 * them. So whether some worker fits is one bit, the worker to take is found in the depth of a tree,
 * and a start or an end touches the trees of one worker.
 *
 * <p>Conditions on other workers than a task's own:
 *
 * <ul>
 *   <li>jobs without placement, and all jobs as a necessary condition: some worker of all fits;
 *   <li>{@code host_placement}: some worker of that host fits; both are bits per job, beside those
 *       of the root;
 *   <li>{@code level_for_host_placement}: some worker of the host that a node of that level names
 *       fits: part of {@code open(j, n)} through {@link WorkerHosts}. Where a path has no node of
 *       that level any worker will do (behaviour 5.7).
 * </ul>
 */
final class WorkerIndex {
  /** Whether anything is asked of workers at all; if not, nothing here costs anything. */
  private final boolean active;

  private final WorkerTable table;
  private final Map<String, WorkerSelector> selectors;
  private final int words;
  private final WorkerClasses classes;
  private final int classWords;
  private final int width;

  /** By job: the level whose nodes name its hosts; -1: none. */
  private final int[] placementLevel;

  /** By job: the host it must run on; -1: any. */
  private final int[] pinnedTo;

  /** Bits of the jobs that are pinned to a host. */
  private final long[] pinned;

  /** Bits of the jobs that find a worker; -1 throughout when nothing is asked. */
  private final long[] open;

  private final WorkerHosts hosts;
  private final OpenIndex index;
  private final LimitOverrides overrides;
  private final OverLimits over;
  private final String instance;
  private final WorkerForest all;
  private final WorkerForest byHost;
  private int root = -1;
  private long cursorRank = Long.MIN_VALUE;
  private int cursor = -1;

  // By host.
  private int[] roots = new int[0];
  private long[] hostCursorRanks = new long[0];
  private int[] hostCursors = new int[0];

  // By worker.
  private int[] hostOf = new int[0];
  private int[] capacity = new int[0];
  private int[] used = new int[0];
  private int[] tasks = new int[0];
  private int[] maxTasks = new int[0];
  private boolean[] takes = new boolean[0];
  private long[] passes = new long[0];
  private long[] fits = new long[0];
  private long[] ranks = new long[0];

  private final Load load = new Load();
  private final long[] allBefore;
  private final long[] hostBefore;
  private final long[] changed;
  private Settings settings;
  private @Nullable WorkerSelector selector;
  private List<Resource> resources;

  /** By resource of workers: the slots of all in the pool. */
  private final long[] totals;

  private int totalsVersion;

  /** The load of one worker, without an object for each. */
  private final class Load implements WorkerLoad {
    int worker;

    @Override
    public int tasks() {
      return tasks[worker];
    }

    @Override
    public int maxTasks() {
      return maxTasks[worker];
    }

    @Override
    public int resources() {
      return width;
    }

    @Override
    public int weight(int resource) {
      return resources.get(resource).weight();
    }

    @Override
    public int limit(int resource) {
      return capacity[worker * width + resource];
    }

    @Override
    public int free(int resource) {
      return WorkerIndex.this.free(worker, resource);
    }
  }

  private final class Ranks implements WorkerForest.Ranks {
    @Override
    public long rank(int worker) {
      return ranks[worker];
    }

    @Override
    public long fit(int worker, int word) {
      return fits[worker * classWords + word];
    }
  }

  /**
   * @param hosts of the same world; the index asks it, too
   * @param placementLevel by job: see {@link #placementLevels}
   * @param overrides of limits: whoever changes them must {@link #put} the workers anew
   * @param over is told where more is in use than there is
   * @param instance the name by which the scheduler's own host goes
   */
  WorkerIndex(
      WorkerTable table,
      Map<String, WorkerSelector> selectors,
      Settings settings,
      JobTable jobs,
      WorkerHosts hosts,
      int[] placementLevel,
      OpenIndex index,
      LimitOverrides overrides,
      OverLimits over,
      String instance) {
    this.table = table;
    this.overrides = overrides;
    this.over = over;
    this.instance = instance;
    this.selectors = selectors;
    this.settings = settings;
    this.hosts = hosts;
    this.placementLevel = placementLevel;
    this.index = index;
    Levels levels = settings.levels();
    resources = settings.resources().ofLevel(levels.worker());
    width = resources.size();
    totals = new long[width];
    words = jobs.words;
    WorkerTable.Mode mode = table.mode();
    active = mode == WorkerTable.Mode.POOL || (mode == WorkerTable.Mode.LOCAL && width > 0);
    classes = new WorkerClasses(levels, resources, jobs, mode == WorkerTable.Mode.POOL);
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
    growHosts();
    all = new WorkerForest(classWords, new Ranks());
    byHost = new WorkerForest(classWords, new Ranks());
    allBefore = new long[classWords];
    hostBefore = new long[classWords];
    changed = new long[words];
    selector = selectors.get(settings.workerSelector());
  }

  /**
   * By job: the level whose nodes name the host a task must run on, -1 where any host or one and
   * the same will do (behaviour 5.7). Placement is nothing to local runners.
   */
  static int[] placementLevels(WorkerTable.Mode mode, JobTable jobs) {
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

  boolean isActive() {
    return active;
  }

  /** Bits of the jobs that find a worker. */
  long open(int word) {
    return open[word];
  }

  long work() {
    return all.work() + byHost.work();
  }

  // ---- the pool

  private void grow(int worker) {
    if (worker < hostOf.length) {
      return;
    }
    int old = hostOf.length;
    int size = Math.max(16, Math.max(worker + 1, old * 2));
    hostOf = Arrays.copyOf(hostOf, size);
    Arrays.fill(hostOf, old, size, -1);
    capacity = Arrays.copyOf(capacity, size * width);
    used = Arrays.copyOf(used, size * width);
    tasks = Arrays.copyOf(tasks, size);
    maxTasks = Arrays.copyOf(maxTasks, size);
    takes = Arrays.copyOf(takes, size);
    passes = Arrays.copyOf(passes, size * classWords);
    fits = Arrays.copyOf(fits, size * classWords);
    ranks = Arrays.copyOf(ranks, size);
    all.grow(size);
    byHost.grow(size);
  }

  private void growHosts() {
    int old = roots.length;
    if (hosts.high() > old) {
      int size = Math.max(16, hosts.high() * 2);
      roots = Arrays.copyOf(roots, size);
      hostCursors = Arrays.copyOf(hostCursors, size);
      hostCursorRanks = Arrays.copyOf(hostCursorRanks, size);
      Arrays.fill(roots, old, size, -1);
    }
  }

  /** Takes over what the table says of a worker: new, changed or gone. */
  void put(int worker) {
    if (!active) {
      return;
    }
    grow(worker);
    WorkerInfo info = table.info(worker);
    int host = info == null ? -1 : hosts.find(info.host());
    if (hostOf[worker] >= 0 && (info == null || host != hostOf[worker])) {
      leave(worker);
    }
    if (info == null) {
      return;
    }
    if (hostOf[worker] < 0) {
      host = hosts.use(info.host());
      growHosts();
      if (roots[host] < 0) {
        hostCursors[host] = -1;
        hostCursorRanks[host] = Long.MIN_VALUE;
      }
    }
    if (hostOf[worker] >= 0) {
      addToTotals(worker, -1);
    }
    takes[worker] = info.takesTasks();
    maxTasks[worker] = info.maxTasks();
    int at = worker * width;
    for (int limit :
        WorkerSlots.of(settings, info.address(), info.host(), info.ref().shard(), info.physical())
            .values()) {
      capacity[at++] = limit;
    }
    if (!overrides.isEmpty()) {
      override(worker);
    }
    addToTotals(worker, 1);
    Arrays.fill(passes, worker * classWords, (worker + 1) * classWords, 0);
    for (int c = 0; c < classes.count(); c++) {
      if (classes.passes(c, info.host(), info.ref().shard())) {
        passes[worker * classWords + (c >>> 6)] |= 1L << c;
      }
    }
    refit(worker, host);
    for (int k = 0; k < width; k++) {
      over.set(classes.resources[k], worker, free(worker, k) < 0);
    }
  }

  /** What operators say counts more than what is configured or measured. */
  private void override(int worker) {
    for (int k = 0; k < width; k++) {
      LimitOverride override = overrideOf(worker, k);
      if (override != null) {
        capacity[worker * width + k] = override.limit();
      }
    }
  }

  /** What an operator says of the limit of a resource of the worker level; null: nothing. */
  @Nullable LimitOverride overrideOf(int worker, int resource) {
    String shard = table.shard(worker);
    return overrides.on(
        Levels.WORKER, resources.get(resource).name(), shard.isEmpty() ? instance : shard);
  }

  /** Whether two settings say the same of workers, as far as it is not of jobs. */
  static boolean isSame(Settings old, Settings next) {
    return old.resources()
            .ofLevel(old.levels().worker())
            .equals(next.resources().ofLevel(next.levels().worker()))
        && old.workerSelector().equals(next.workerSelector())
        && old.workerOverrides().equals(next.workerOverrides())
        && rules(old).equals(rules(next))
        && old.physicalResources().equals(next.physicalResources());
  }

  private static List<NodeLimit> rules(Settings settings) {
    return settings.rules().nodeLimits().stream()
        .filter(rule -> rule.level() == settings.levels().worker())
        .toList();
  }

  /**
   * Limits, weights, overrides, physical resources or the selector have changed in the settings.
   */
  void setSettings(Settings next) {
    settings = next;
    resources = next.resources().ofLevel(next.levels().worker());
    selector = selectors.get(next.workerSelector());
    for (int worker = 0; worker < table.high(); worker++) {
      put(worker);
    }
  }

  /** Takes over where the last search ended. */
  void goOnAfter(WorkerIndex before) {
    cursor = before.cursor;
    cursorRank = before.cursorRank;
  }

  private void addToTotals(int worker, int sign) {
    for (int k = 0; k < width; k++) {
      totals[k] += (long) sign * capacity[worker * width + k];
    }
    totalsVersion++;
  }

  /** The slots of all workers in the pool, whatever their state. */
  long total(int resource) {
    return totals[resource];
  }

  /** Grows whenever a total may have changed. */
  int totalsVersion() {
    return totalsVersion;
  }

  private void leave(int worker) {
    addToTotals(worker, -1);
    int host = hostOf[worker];
    before(host);
    root = all.remove(root, worker);
    roots[host] = byHost.remove(roots[host], worker);
    after(host);
    hostOf[worker] = -1;
    for (int k = 0; k < width; k++) {
      over.set(classes.resources[k], worker, false);
    }
    Arrays.fill(fits, worker * classWords, (worker + 1) * classWords, 0);
    hosts.release(host);
  }

  // ---- tasks

  /** A task holds slots of a worker. */
  void charge(int worker, int[] amounts) {
    change(worker, amounts, 1);
  }

  void release(int worker, int[] amounts) {
    change(worker, amounts, -1);
  }

  /**
   * What can be counted of what a task holds that was not started here: where numbers would run
   * over, less.
   */
  int[] countable(int worker, int[] amounts) {
    int[] countable = amounts;
    if (active && worker >= 0 && worker < hostOf.length) {
      for (int k = 0; k < width; k++) {
        int r = classes.resources[k];
        int room = Integer.MAX_VALUE - used[worker * width + k];
        if (amounts[r] > room) {
          countable = countable == amounts ? amounts.clone() : countable;
          countable[r] = room;
        }
      }
    }
    return countable;
  }

  private void change(int worker, int[] amounts, int sign) {
    if (!active || worker < 0) {
      return;
    }
    grow(worker);
    tasks[worker] += sign;
    for (int k = 0; k < width; k++) {
      int before = free(worker, k);
      used[worker * width + k] += sign * amounts[classes.resources[k]];
      if (hostOf[worker] >= 0) {
        over.changed(classes.resources[k], worker, before, free(worker, k));
      }
    }
    if (hostOf[worker] >= 0) {
      refit(worker, hostOf[worker]);
    }
  }

  /**
   * The worker that the selector takes for a task of an open job.
   *
   * @param path the task's node per level, -1 for none
   * @return its number; -1 when nothing is asked of workers
   */
  int choose(int job, int[] path) {
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
        host < 0
            ? choose(all, root, needClass, cursorRank, cursor)
            : choose(byHost, roots[host], needClass, hostCursorRanks[host], hostCursors[host]);
    if (worker < 0) {
      throw new IllegalStateException("a job is open and no worker fits");
    }
    if (host < 0) {
      cursor = worker;
      cursorRank = ranks[worker];
    } else {
      hostCursors[host] = worker;
      hostCursorRanks[host] = ranks[worker];
    }
    return worker;
  }

  private int choose(WorkerForest forest, int top, int needClass, long rank, int last) {
    if (selector == null || selector.rotates()) {
      int next = forest.firstAfter(top, needClass, rank, last);
      if (next >= 0) {
        return next;
      }
    }
    return forest.first(top, needClass);
  }

  // ---- fitting

  private int free(int worker, int k) {
    return capacity[worker * width + k] - used[worker * width + k];
  }

  private long fit(int worker, int word) {
    if (!takes[worker] || isFull(worker)) {
      return 0;
    }
    long fit = passes[worker * classWords + word];
    for (int k = 0; k < width; k++) {
      fit &= classes.fit(k, free(worker, k), word);
    }
    return fit;
  }

  private long rank(int worker) {
    if (selector == null) {
      return 0;
    }
    load.worker = worker;
    return selector.rank(load);
  }

  /** Brings a worker's bits and place in the order up to date, and all that hangs on them. */
  private void refit(int worker, int host) {
    boolean isNew = hostOf[worker] < 0;
    long rank = rank(worker);
    boolean same = !isNew && rank == ranks[worker];
    for (int w = 0; same && w < classWords; w++) {
      same = fits[worker * classWords + w] == fit(worker, w);
    }
    if (same) {
      return;
    }
    before(host);
    if (!isNew && rank != ranks[worker]) {
      root = all.remove(root, worker);
      roots[host] = byHost.remove(roots[host], worker);
      isNew = true;
    }
    for (int w = 0; w < classWords; w++) {
      fits[worker * classWords + w] = fit(worker, w);
    }
    if (isNew) {
      ranks[worker] = rank;
      hostOf[worker] = host;
      root = all.insert(root, worker);
      roots[host] = byHost.insert(roots[host], worker);
    } else {
      all.update(worker);
      byHost.update(worker);
    }
    after(host);
  }

  private void before(int host) {
    for (int w = 0; w < classWords; w++) {
      allBefore[w] = all.fit(root, w);
      hostBefore[w] = byHost.fit(roots[host], w);
    }
  }

  /** Flips the jobs of the classes that fit somewhere now and did not before, or the reverse. */
  private void after(int host) {
    for (int w = 0; w < classWords; w++) {
      long flips = allBefore[w] ^ all.fit(root, w);
      for (; flips != 0; flips &= flips - 1) {
        int c = (w << 6) + Long.numberOfTrailingZeros(flips);
        for (int j = 0; j < words; j++) {
          open[j] ^= classes.jobs(c, j) & ~pinned[j];
        }
      }
    }
    boolean any = false;
    Arrays.fill(changed, 0);
    for (int w = 0; w < classWords; w++) {
      long flips = hostBefore[w] ^ byHost.fit(roots[host], w);
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
        }
      }
    }
  }

  // ---- looking

  /**
   * Whether some worker takes a task of a job now.
   *
   * @param host where it must run; null: anywhere
   */
  boolean finds(int job, @Nullable String host) {
    if (!active) {
      return true;
    }
    int needClass = classes.ofJob[job];
    int number = host == null ? -1 : hosts.find(host);
    long bits;
    if (host == null) {
      bits = all.fit(root, needClass >>> 6);
    } else {
      bits = number < 0 ? 0 : byHost.fit(roots[number], needClass >>> 6);
    }
    return (bits & 1L << needClass) != 0;
  }

  /**
   * Whether there is a worker that takes tasks of a job, full or not.
   *
   * @param host where it must run; null: anywhere
   */
  boolean isThere(int job, @Nullable String host) {
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

  /** Whether the worker filter of a job lets it use a worker. */
  boolean passes(int job, int worker) {
    int needClass = classes.ofJob[job];
    return (passes[worker * classWords + (needClass >>> 6)] & 1L << needClass) != 0;
  }

  /** Whether it runs as many tasks as it takes at once. */
  boolean isFull(int worker) {
    return maxTasks[worker] > 0 && tasks[worker] >= maxTasks[worker];
  }

  /** Slots that a task of a job takes of a resource of the worker level. */
  int need(int job, int resource) {
    return classes.need(classes.ofJob[job], resource);
  }

  /** The level whose nodes name the hosts of a job's tasks; -1: none. */
  int placementLevel(int job) {
    return placementLevel[job];
  }

  /** The host that all tasks of a job must run on; null: none. */
  @Nullable String pinnedTo(int job) {
    return pinnedTo[job] < 0 ? null : hosts.name(pinnedTo[job]);
  }

  /** Slots left of a resource of the worker level, negative when over-committed. */
  int freeOf(int worker, int resource) {
    return free(worker, resource);
  }

  int limitOf(int worker, int resource) {
    return capacity[worker * width + resource];
  }

  /** Slots of a resource, by its number among all, that a worker has. */
  int limitOfResource(int worker, int resource) {
    return capacity[worker * width + place(resource)];
  }

  /** Slots of a resource, by its number among all, that tasks hold on a worker. */
  int usedOfResource(int worker, int resource) {
    return used[worker * width + place(resource)];
  }

  private int place(int resource) {
    return Arrays.binarySearch(classes.resources, resource);
  }

  int tasks(int worker) {
    return worker < tasks.length ? tasks[worker] : 0;
  }

  boolean isKnown(int worker) {
    return worker < hostOf.length;
  }

  boolean isOn(int worker, int host) {
    return isKnown(worker) && hostOf[worker] == host;
  }

  /**
   * Checks the trees: shape, order, bits, and that each worker of the pool is where it belongs.
   *
   * @throws IllegalStateException when something is wrong
   */
  void checkTrees() {
    int size = table.pool().size();
    int inHosts = 0;
    for (int top : roots) {
      inHosts += byHost.check(top);
    }
    if (all.check(root) != size || inHosts != size) {
      throw new IllegalStateException("workers are missing in the worker index");
    }
    for (int worker : table.pool()) {
      for (int w = 0; w < classWords; w++) {
        if (fits[worker * classWords + w] != fit(worker, w) || ranks[worker] != rank(worker)) {
          throw new IllegalStateException("worker " + worker + " is out of date");
        }
      }
    }
  }

  /** How the slots of a worker are used; empty when nothing is asked of workers. */
  List<Slots> slots(int worker) {
    List<Slots> slots = new ArrayList<>();
    for (int k = 0; active && worker < hostOf.length && k < width; k++) {
      slots.add(
          new Slots(
              resources.get(k).name(), used[worker * width + k], capacity[worker * width + k]));
    }
    return slots;
  }

  List<Resource> resources() {
    return resources;
  }
}
