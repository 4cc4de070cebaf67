package io.espalier.policies;

import io.espalier.core.scheduling.Round;
import io.espalier.core.scheduling.SchedulingPolicy;
import java.util.Arrays;
import java.util.Comparator;

/**
 * Starts all it can of the job with the highest priority, then of the next (behaviour 5.3). Jobs of
 * equal priority come in random order.
 */
public final class RankedPriorityPolicy implements SchedulingPolicy {
  @Override
  public String name() {
    return "ranked_priority";
  }

  @Override
  public void schedule(Round round) {
    Arrays.stream(round.openJobs())
        .boxed()
        .sorted(Comparator.comparingDouble(round::priority).reversed())
        .forEachOrdered(
            job -> {
              while (round.placeOne(job)) {
                // One after the other.
              }
            });
  }
}
