package io.espalier.policies;

import io.espalier.core.scheduling.Round;
import io.espalier.core.scheduling.SchedulingPolicy;

/**
 * Lets jobs take turns, one task each, in the order of their names
 * (docs/design/bistro.md#policies). The turn survives rounds, so that even jobs that compete for
 * one slot at a time get it in turn. With the setting {@code shuffle}, each turn is in a random
 * order: then jobs that compete for one slot get it at random.
 */
public final class RoundRobinPolicy implements SchedulingPolicy {
  @Override
  public String name() {
    return "roundrobin";
  }

  @Override
  public void schedule(Round round) {
    while (round.isShuffled() && !round.isOver()) {
      for (int job : round.openJobs()) {
        round.placeOne(job);
      }
    }
    while (!round.isOver()) {
      round.placeOne(round.nextInTurn());
    }
  }
}
