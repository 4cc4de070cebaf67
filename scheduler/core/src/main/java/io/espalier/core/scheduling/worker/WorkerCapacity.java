package io.espalier.core.scheduling.worker;

import io.espalier.core.api.WorkerView.Slots;
import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeLimitRule;
import io.espalier.core.config.Resource;
import io.espalier.core.config.Settings;
import io.espalier.core.config.WorkerSlots;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.capacity.LimitOverrides;
import io.espalier.core.scheduling.capacity.OverLimitTracker;
import io.espalier.core.scheduling.spi.WorkerLoad;
import io.espalier.core.status.LimitOverride;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What every worker has and what tasks hold of it: slots per resource of the worker level, and
 * tasks. It only counts; who fits on account of that is the {@link WorkerIndex}'s matter. A worker
 * may hold more than it has: what runs is counted whatever the limits are.
 *
 * <p>Resources are numbered by their place among those of the worker level, except where a method
 * says otherwise. Tasks are counted for workers that are not in the pool, too; totals and the
 * overuse that is told are those of the pool.
 */
final class WorkerCapacity {
  private final WorkerTable table;
  private final LimitOverrides overrides;
  private final OverLimitTracker over;
  private final String instance;
  private final int width;

  /** The resources of the worker level, by their number among all, ascending. */
  private final int[] numbers;

  private Settings settings;
  private List<Resource> resources;

  // By worker, or by worker and resource.
  private int[] capacity = new int[0];
  private int[] used = new int[0];
  private int[] tasks = new int[0];
  private int[] maxTasks = new int[0];
  private boolean[] inPool = new boolean[0];

  /** By resource: the slots of all in the pool. */
  private final long[] totals;

  private int totalsVersion;
  private final Load load = new Load();

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
      return WorkerCapacity.this.free(worker, resource);
    }
  }

  /**
   * @param overrides of limits: whoever changes them must {@link #put} the workers anew
   * @param over is told where more is in use than there is
   * @param instance the name by which the scheduler's own host goes
   */
  WorkerCapacity(
      WorkerTable table,
      Settings settings,
      LimitOverrides overrides,
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

  /** Makes room for so many workers. */
  void grow(int size) {
    capacity = Arrays.copyOf(capacity, size * width);
    used = Arrays.copyOf(used, size * width);
    tasks = Arrays.copyOf(tasks, size);
    maxTasks = Arrays.copyOf(maxTasks, size);
    inPool = Arrays.copyOf(inPool, size);
  }

  // ---- limits

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

  private static List<NodeLimitRule> rules(Settings settings) {
    return settings.rules().nodeLimits().stream()
        .filter(rule -> rule.level() == settings.levels().worker())
        .toList();
  }

  /** Other limits or weights of the same resources; {@link #put} must follow for each worker. */
  void setSettings(Settings next) {
    settings = next;
    resources = next.resources().ofLevel(next.levels().worker());
  }

  /** A worker is in the pool, new or with other properties; {@link #tell} must follow. */
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
    if (!overrides.isEmpty()) {
      override(worker);
    }
    addToTotals(worker, 1);
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

  /** What an operator says of the limit of a resource; null: nothing. */
  @Nullable LimitOverride overrideOf(int worker, int resource) {
    String shard = table.shard(worker);
    return overrides.on(
        Levels.WORKER, resources.get(resource).name(), shard.isEmpty() ? instance : shard);
  }

  /** Tells of every resource whether more of it is in use than there is. */
  void tell(int worker) {
    for (int k = 0; k < width; k++) {
      over.set(numbers[k], worker, inPool[worker] && free(worker, k) < 0);
    }
  }

  /** A worker is in the pool no more; what its tasks hold goes on being counted. */
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
   * A task takes slots of a worker, or gives them back.
   *
   * @param amounts by number of the resource among all
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

  /**
   * What can be counted of what a task holds that was not started here: where numbers would run
   * over, less.
   */
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

  // ---- questions

  int width() {
    return width;
  }

  List<Resource> resources() {
    return resources;
  }

  /** Slots left, negative when over-committed. */
  int free(int worker, int resource) {
    return capacity[worker * width + resource] - used[worker * width + resource];
  }

  int limit(int worker, int resource) {
    return capacity[worker * width + resource];
  }

  int tasks(int worker) {
    return tasks[worker];
  }

  /** Whether it runs as many tasks as it takes at once. */
  boolean isFull(int worker) {
    return maxTasks[worker] > 0 && tasks[worker] >= maxTasks[worker];
  }

  /** Slots left beside some that are kept free. */
  int freeBeside(int worker, int resource, int kept) {
    return (int) Math.max(Integer.MIN_VALUE, (long) free(worker, resource) - kept);
  }

  /** Whether it takes no task beside one that it is kept free for. */
  boolean isFullBeside(int worker) {
    return maxTasks[worker] > 0 && tasks[worker] >= maxTasks[worker] - 1;
  }

  /** Valid until the next question. */
  WorkerLoad load(int worker) {
    load.worker = worker;
    return load;
  }

  /** Slots of a resource, by its number among all, that a worker has. */
  int limitOfResource(int worker, int resource) {
    return capacity[worker * width + Arrays.binarySearch(numbers, resource)];
  }

  /** Slots of a resource, by its number among all, that tasks hold on a worker. */
  int usedOfResource(int worker, int resource) {
    return used[worker * width + Arrays.binarySearch(numbers, resource)];
  }

  /** The slots of all workers in the pool, whatever their state. */
  long total(int resource) {
    return totals[resource];
  }

  /** Grows whenever a total may have changed. */
  int totalsVersion() {
    return totalsVersion;
  }

  /** How the slots of a worker are used. */
  List<Slots> slots(int worker) {
    List<Slots> slots = new ArrayList<>();
    for (int k = 0; k < width; k++) {
      int at = worker * width + k;
      slots.add(new Slots(resources.get(k).name(), used[at], capacity[at]));
    }
    return slots;
  }
}
