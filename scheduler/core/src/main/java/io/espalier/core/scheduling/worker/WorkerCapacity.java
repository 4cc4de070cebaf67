package io.espalier.core.scheduling.worker;

import io.espalier.core.api.view.WorkerView.Slots;
import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeLimitRule;
import io.espalier.core.config.Resource;
import io.espalier.core.config.Settings;
import io.espalier.core.config.WorkerSlots;
import io.espalier.core.running.MeasuredLoad;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.capacity.LimitTable;
import io.espalier.core.scheduling.capacity.OverLimitTracker;
import io.espalier.core.scheduling.spi.WorkerLoad;
import io.espalier.core.status.store.LimitOverride;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Counts the capacity and usage of every worker: slots per resource of the worker level, and tasks.
 * It only counts; {@link WorkerIndex} decides which tasks fit. Usage may exceed the capacity,
 * because running tasks are counted regardless of limits.
 *
 * <p>Unless a method says otherwise, resources are numbered by their position among those of the
 * worker level. Tasks are also counted for workers outside the pool; totals and reported over-limit
 * usage cover only the pool.
 */
public final class WorkerCapacity {
  private final WorkerTable table;
  private final LimitTable overrides;
  private final OverLimitTracker over;
  private final String instance;
  private final int width;

  /** The catalog numbers of the worker level's resources, ascending. */
  private final int[] numbers;

  private Settings settings;
  private List<Resource> resources;

  // By worker, or by worker and resource.
  private int[] capacity = new int[0];
  private int[] used = new int[0];
  private int[] tasks = new int[0];
  private int[] maxTasks = new int[0];
  private boolean[] inPool = new boolean[0];

  /** By resource: the slots of all workers in the pool. */
  private final long[] totals;

  private int totalsVersion;
  private final Load load = new Load();

  /** The load of one worker; one object serves all workers. */
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
    public MeasuredLoad measured() {
      WorkerInfo info = table.info(worker);
      return info == null ? MeasuredLoad.UNKNOWN : info.measured();
    }

    @Override
    public int free(int resource) {
      return WorkerCapacity.this.free(worker, resource);
    }
  }

  /**
   * @param overrides the overrides of limits; after a change of these, {@link #put} must be called
   *     again for the workers
   * @param over receives the places where usage exceeds the limit
   * @param instance the name of the scheduler's own host
   */
  WorkerCapacity(
      WorkerTable table,
      Settings settings,
      LimitTable overrides,
      OverLimitTracker over,
      String instance) {
    this.table = table;
    this.settings = settings;
    this.overrides = overrides;
    this.over = over;
    this.instance = instance;
    resources = settings.resources().ofLevel(settings.levels().worker());
    width = resources.size();
    numbers = resources.stream().mapToInt(Resource::index).toArray();
    totals = new long[width];
  }

  /** Grows the arrays to a number of workers. */
  void grow(int size) {
    capacity = Arrays.copyOf(capacity, size * width);
    used = Arrays.copyOf(used, size * width);
    tasks = Arrays.copyOf(tasks, size);
    maxTasks = Arrays.copyOf(maxTasks, size);
    inPool = Arrays.copyOf(inPool, size);
  }

  // ---- limits

  /**
   * Returns whether two settings agree on everything about workers that does not belong to jobs.
   */
  public static boolean isSame(Settings old, Settings next) {
    return old.resources()
            .ofLevel(old.levels().worker())
            .equals(next.resources().ofLevel(next.levels().worker()))
        && old.workerSelector().equals(next.workerSelector())
        && old.workerOverrides().equals(next.workerOverrides())
        && rules(old).equals(rules(next))
        && old.physicalResources().equals(next.physicalResources());
  }

  private static List<NodeLimitRule> rules(Settings settings) {
    return settings.rules().nodeLimits().stream()
        .filter(rule -> rule.level() == settings.levels().worker())
        .toList();
  }

  /**
   * Sets other limits or weights of the same resources; {@link #put} must follow for each worker.
   */
  void setSettings(Settings next) {
    settings = next;
    resources = next.resources().ofLevel(next.levels().worker());
  }

  /** Adds a worker to the pool, or updates its properties; {@link #tell} must follow. */
  void put(int worker, WorkerInfo info) {
    if (inPool[worker]) {
      addToTotals(worker, -1);
    }
    inPool[worker] = true;
    maxTasks[worker] = info.maxTasks();
    int at = worker * width;
    for (int limit :
        WorkerSlots.of(settings, info.address(), info.host(), info.ref().shard(), info.physical())
            .values()) {
      capacity[at++] = limit;
    }
    if (overrides.hasOverrides()) {
      override(worker);
    }
    addToTotals(worker, 1);
  }

  /** Applies overrides, which take precedence over configured and measured limits. */
  private void override(int worker) {
    for (int k = 0; k < width; k++) {
      LimitOverride override = overrideOf(worker, k);
      if (override != null) {
        capacity[worker * width + k] = override.limit();
      }
    }
  }

  /** Returns the override of a resource's limit on a worker, or null. */
  public @Nullable LimitOverride overrideOf(int worker, int resource) {
    String shard = table.shard(worker);
    return overrides.on(
        Levels.WORKER, resources.get(resource).name(), shard.isEmpty() ? instance : shard);
  }

  /** Reports for every resource whether usage exceeds the limit. */
  void tell(int worker) {
    for (int k = 0; k < width; k++) {
      over.set(numbers[k], worker, inPool[worker] && free(worker, k) < 0);
    }
  }

  /** Removes a worker from the pool; the usage of its tasks is still counted. */
  void leave(int worker) {
    addToTotals(worker, -1);
    inPool[worker] = false;
    tell(worker);
  }

  private void addToTotals(int worker, int sign) {
    for (int k = 0; k < width; k++) {
      totals[k] += (long) sign * capacity[worker * width + k];
    }
    totalsVersion++;
  }

  // ---- tasks

  /**
   * Charges a task to a worker, or releases its charge.
   *
   * @param amounts slots by catalog number of the resource
   * @param sign 1 or -1
   */
  void change(int worker, int[] amounts, int sign) {
    tasks[worker] += sign;
    for (int k = 0; k < width; k++) {
      int before = free(worker, k);
      used[worker * width + k] += sign * amounts[numbers[k]];
      if (inPool[worker]) {
        over.changed(numbers[k], worker, before, free(worker, k));
      }
    }
  }

  /** Limits the charges of an adopted or migrated task so that the counts cannot overflow. */
  int[] countable(int worker, int[] amounts) {
    int[] countable = amounts;
    for (int k = 0; k < width; k++) {
      int r = numbers[k];
      int room = Integer.MAX_VALUE - used[worker * width + k];
      if (amounts[r] > room) {
        countable = countable == amounts ? amounts.clone() : countable;
        countable[r] = room;
      }
    }
    return countable;
  }

  // ---- queries

  int width() {
    return width;
  }

  /** Returns the resources of the worker level, in the order of their numbers here. */
  public List<Resource> resources() {
    return resources;
  }

  /** Returns the free slots; negative when over-committed. */
  public int free(int worker, int resource) {
    return capacity[worker * width + resource] - used[worker * width + resource];
  }

  /** Returns the limit in effect on a worker. */
  public int limit(int worker, int resource) {
    return capacity[worker * width + resource];
  }

  int tasks(int worker) {
    return tasks[worker];
  }

  /** Returns whether the worker runs its maximum number of tasks. */
  public boolean isFull(int worker) {
    return maxTasks[worker] > 0 && tasks[worker] >= maxTasks[worker];
  }

  /** Returns the free slots after subtracting reserved ones. */
  int freeBeside(int worker, int resource, int kept) {
    return (int) Math.max(Integer.MIN_VALUE, (long) free(worker, resource) - kept);
  }

  /** Returns whether the worker can take no task besides one that it is reserved for. */
  boolean isFullBeside(int worker) {
    return maxTasks[worker] > 0 && tasks[worker] >= maxTasks[worker] - 1;
  }

  /** Returns the load of a worker; valid until the next call. */
  WorkerLoad load(int worker) {
    load.worker = worker;
    return load;
  }

  /** Returns the limit of a resource, by its catalog number, on a worker. */
  public int limitOfResource(int worker, int resource) {
    return capacity[worker * width + Arrays.binarySearch(numbers, resource)];
  }

  /** Returns the slots of a resource, by its catalog number, in use on a worker. */
  public int usedOfResource(int worker, int resource) {
    return used[worker * width + Arrays.binarySearch(numbers, resource)];
  }

  /** Returns the slots of all workers in the pool, regardless of their state. */
  public long total(int resource) {
    return totals[resource];
  }

  /** Returns a version that grows whenever a total may have changed. */
  public int totalsVersion() {
    return totalsVersion;
  }

  /** Returns the usage of a worker's slots. */
  List<Slots> slots(int worker) {
    List<Slots> slots = new ArrayList<>();
    for (int k = 0; k < width; k++) {
      int at = worker * width + k;
      slots.add(new Slots(resources.get(k).name(), used[at], capacity[at]));
    }
    return slots;
  }
}
