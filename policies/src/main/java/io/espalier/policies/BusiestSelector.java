package io.espalier.policies;

import io.espalier.core.scheduling.spi.WorkerLoad;
import io.espalier.core.scheduling.spi.WorkerSelector;

/**
 * Fills one worker before it uses the next, to leave machines free for large tasks: selects the
 * worker with the smallest sum of free slots times weight (docs/design/bistro.md#worker-selectors).
 * The slots of the task itself are the same on all workers, so they do not change the order.
 * Resources without a weight do not count.
 */
public final class BusiestSelector implements WorkerSelector {
  @Override
  public String name() {
    return "busiest";
  }

  @Override
  public long rank(WorkerLoad worker) {
    long rest = 0;
    for (int resource = 0; resource < worker.resources(); resource++) {
      rest = sum(rest, (long) worker.free(resource) * worker.weight(resource));
    }
    return rest;
  }

  /** Adds with saturation at the largest and the smallest long. */
  private static long sum(long a, long b) {
    long sum = a + b;
    boolean runsOver = ((a ^ sum) & (b ^ sum)) < 0;
    return runsOver ? (a < 0 ? Long.MIN_VALUE : Long.MAX_VALUE) : sum;
  }
}
