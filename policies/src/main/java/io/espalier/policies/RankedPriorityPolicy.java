package io.espalier.policies;

import io.espalier.core.scheduling.Round;
import io.espalier.core.scheduling.SchedulingPolicy;

/**
 * Starts all it can of the job with the highest priority, then of the next
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
        // One after the other.
      }
    }
  }
}
