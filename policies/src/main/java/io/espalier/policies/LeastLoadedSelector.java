package io.espalier.policies;

import io.espalier.core.scheduling.spi.WorkerLoad;
import io.espalier.core.scheduling.spi.WorkerSelector;

/**
 * Spreads tasks by the load of workers: selects the worker whose fullest resource is least full, in
 * thousandths of its slots. The number of tasks relative to the task limit counts as one more
 * resource. Of equally full workers it selects the one with fewer tasks. Resources without slots on
 * a worker do not count.
 */
public final class LeastLoadedSelector implements WorkerSelector {
  private static final int PARTS = 1_000;

  @Override
  public String name() {
    return "least_loaded";
  }

  @Override
  public long rank(WorkerLoad worker) {
    return rank(fullest(worker), worker.tasks());
  }

  /** Returns the thousandths of its fullest resource that tasks hold. */
  static long fullest(WorkerLoad worker) {
    long fullest = share(worker.tasks(), worker.maxTasks());
    for (int resource = 0; resource < worker.resources(); resource++) {
      long used = (long) worker.limit(resource) - worker.free(resource);
      fullest = Math.max(fullest, share(used, worker.limit(resource)));
    }
    return fullest;
  }

  static long rank(long fullest, int tasks) {
    // A limit that was lowered far below the usage gives shares beyond an int.
    return (Math.min(fullest, Integer.MAX_VALUE) << Integer.SIZE) + tasks;
  }

  private static long share(long used, long limit) {
    return limit <= 0 ? 0 : used * PARTS / limit;
  }
}
