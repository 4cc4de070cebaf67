package io.espalier.policies;

import io.espalier.core.scheduling.Round;
import io.espalier.core.scheduling.SchedulingPolicy;

/**
 * Starts as many tasks as possible of the job with the fewest tasks left, then of the next, so that
 * nearly finished jobs complete. All remaining tasks of a job count, including those that wait or
 * run (docs/design/design.md#where-espalier-differs-from-bistro). Jobs with equal numbers come in
 * random order.
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
        // The loop starts one task after the other.
      }
    }
  }
}
