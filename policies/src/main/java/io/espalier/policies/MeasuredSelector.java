package io.espalier.policies;

import io.espalier.core.scheduling.spi.WorkerLoad;
import io.espalier.core.scheduling.spi.WorkerSelector;

/**
 * Takes of two random workers the one that is less in use: by what it has measured of its
 * processors and its memory, or by the slots that its tasks hold, whichever is more. Of a worker
 * that has measured nothing only the slots count, as {@link LeastLoadedSelector} counts them.
 *
 * <p>Drawing two is what keeps old measurements from doing harm: all tasks of the seconds between
 * two measurements would otherwise go to one worker.
 */
public final class MeasuredSelector implements WorkerSelector {
  @Override
  public String name() {
    return "measured";
  }

  @Override
  public long rank(WorkerLoad worker) {
    long fullest = Math.max(LeastLoadedSelector.fullest(worker), worker.measured().fullest());
    return LeastLoadedSelector.rank(fullest, worker.tasks());
  }

  @Override
  public boolean readsMeasurements() {
    return true;
  }

  @Override
  public Search search() {
    return Search.BETTER_OF_TWO;
  }
}
