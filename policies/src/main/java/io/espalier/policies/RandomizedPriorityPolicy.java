package io.espalier.policies;

import io.espalier.core.scheduling.Round;
import io.espalier.core.scheduling.SchedulingPolicy;

/**
 * Draws the job of each start with a probability of its priority over the sum of the priorities of
 * the open jobs (docs/design/bistro.md#policies). Jobs whose priority is not positive come last, in
 * turn, when no other job is open.
 */
public final class RandomizedPriorityPolicy implements SchedulingPolicy {
  @Override
  public String name() {
    return "randomized_priority";
  }

  @Override
  public void schedule(Round round) {
    int[] jobs = round.openJobs();
    double[] weights = new double[jobs.length];
    for (int i = 0; i < jobs.length; i++) {
      weights[i] = weight(round, jobs[i]);
    }
    WeightedLottery lottery = new WeightedLottery(weights);
    while (lottery.total() > 0 && !round.isOver()) {
      int at = lottery.draw(round.random().fraction());
      if (!round.placeOne(jobs[at])) {
        lottery.setWeight(at, 0);
      }
    }
    while (!round.isOver()) {
      round.placeOne(round.nextInTurn());
    }
  }

  private static double weight(Round round, int job) {
    double priority = round.priority(job);
    return priority > 0 && priority < Double.POSITIVE_INFINITY ? priority : 0;
  }
}
