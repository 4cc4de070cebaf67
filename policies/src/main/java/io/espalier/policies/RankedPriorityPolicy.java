package io.espalier.policies;

import io.espalier.core.scheduling.Round;
import io.espalier.core.scheduling.SchedulingPolicy;

/**
 * Starts as many tasks as possible of the job with the highest priority, then of the next
 * (docs/design/bistro.md#policies). Jobs of equal priority come in random order.
 */
public final class RankedPriorityPolicy implements SchedulingPolicy {
  @Override
  public String name() {
    return "ranked_priority";
  }

  @Override
  public void schedule(Round round) {
    JobHeap jobs = new JobHeap(round.openJobs(), job -> -round.priority(job));
    while (!jobs.isEmpty() && !round.isOver()) {
      int job = jobs.poll();
      while (round.placeOne(job)) {
        // The loop starts one task after the other.
      }
    }
  }
}
