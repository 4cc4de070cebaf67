package io.espalier.policies;

import io.espalier.core.scheduling.Round;
import io.espalier.core.scheduling.SchedulingPolicy;

/**
 * Draws the job of each start with a probability of its priority over the sum of the priorities of
 * the open jobs (behaviour 5.3). Jobs whose priority is not positive come last, in turn, when no
 * other job is open.
 */
public final class RandomizedPriorityPolicy implements SchedulingPolicy {
  @Override
  public String name() {
    return "randomized_priority";
  }

  @Override
  public void schedule(Round round) {
    int[] jobs = round.openJobs();
    int count = jobs.length;
    double total = 0;
    for (int job : jobs) {
      total += weight(round, job);
    }
    while (count > 0 && total > 0 && !round.isOver()) {
      int at = draw(round, jobs, count, total);
      if (at < 0) {
        break;
      }
      if (!round.placeOne(jobs[at])) {
        jobs[at] = jobs[--count];
        total = 0;
        for (int i = 0; i < count; i++) {
          total += weight(round, jobs[i]);
        }
      }
    }
    while (!round.isOver()) {
      round.placeOne(round.nextInTurn());
    }
  }

  /** An index into the jobs, or -1 when none has a weight. */
  private static int draw(Round round, int[] jobs, int count, double total) {
    double point = round.random().fraction() * total;
    int last = -1;
    for (int i = 0; i < count; i++) {
      double weight = weight(round, jobs[i]);
      if (weight > 0) {
        last = i;
        point -= weight;
        if (point < 0) {
          return i;
        }
      }
    }
    // Rounding may leave a rest.
    return last;
  }

  private static double weight(Round round, int job) {
    double priority = round.priority(job);
    return priority > 0 && priority < Double.POSITIVE_INFINITY ? priority : 0;
  }
}
