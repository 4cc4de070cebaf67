package io.espalier.policies;

import io.espalier.core.scheduling.spi.WorkerLoad;
import io.espalier.core.scheduling.spi.WorkerSelector;

/**
 * Lets workers take turns: selects the next worker that may take the task, in the order in which
 * they joined. All workers together form one cycle, and those of each host another
 * (docs/design/bistro.md#worker-selectors).
 */
public final class RoundRobinSelector implements WorkerSelector {
  @Override
  public String name() {
    return "roundrobin";
  }

  @Override
  public long rank(WorkerLoad worker) {
    return 0;
  }

  @Override
  public Search search() {
    return Search.IN_TURN;
  }
}
