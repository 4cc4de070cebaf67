package io.espalier.policies;

import io.espalier.core.scheduling.Round;
import io.espalier.core.scheduling.SchedulingPolicy;

/**
 * Lets jobs take turns, one task each, in the order of their names
 * (docs/design/bistro.md#policies). The turn survives rounds, so that even jobs that compete for
 * one slot at a time get it in turn.
 */
public final class RoundRobinPolicy implements SchedulingPolicy {
  @Override
  public String name() {
    return "roundrobin";
  }

  @Override
  public void schedule(Round round) {
    while (!round.isOver()) {
      round.placeOne(round.nextInTurn());
    }
  }
}
