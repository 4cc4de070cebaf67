package io.espalier.policies;

import io.espalier.core.scheduling.Round;
import io.espalier.core.scheduling.SchedulingPolicy;

/**
 * Starts all it can of the job that has fewest tasks left, then of the next: finishes jobs that are
 * nearly done. All remaining tasks of a job count, also those that wait or run
 * (docs/design/design.md#where-espalier-differs-from-bistro). Jobs with equally many come in random
 * order.
 */
public final class LongTailPolicy implements SchedulingPolicy {
  @Override
  public String name() {
    return "long_tail";
  }

  @Override
  public void schedule(Round round) {
    JobHeap jobs = new JobHeap(round.openJobs(), round::remaining);
    while (!jobs.isEmpty() && !round.isOver()) {
      int job = jobs.poll();
      while (round.placeOne(job)) {
        // One after the other.
      }
    }
  }
}
