package io.espalier.policies;

import io.espalier.core.scheduling.spi.WorkerLoad;
import io.espalier.core.scheduling.spi.WorkerSelector;

/**
 * Takes the less loaded of two random workers, as {@link LeastLoadedSelector} measures load. The
 * fullest worker is then hardly fuller than the average, and a worker that has just come is not
 * flooded.
 */
public final class TwoChoiceSelector implements WorkerSelector {
  private final WorkerSelector load = new LeastLoadedSelector();

  @Override
  public String name() {
    return "two_choice";
  }

  @Override
  public long rank(WorkerLoad worker) {
    return load.rank(worker);
  }

  @Override
  public Search search() {
    return Search.BETTER_OF_TWO;
  }
}
