package io.espalier.testkit.scheduling;

import io.espalier.core.scheduling.Round;
import io.espalier.core.scheduling.SchedulingPolicy;
import java.util.function.Consumer;

/** Two orders that need no policy module. */
final class TestPolicies {
  static final SchedulingPolicy IN_TURN =
      policy(
          "in_turn",
          round -> {
            while (!round.isOver()) {
              round.placeOne(round.nextInTurn());
            }
          });

  static final SchedulingPolicy ONE_BY_ONE =
      policy(
          "one_by_one",
          round -> {
            for (int job : round.openJobs()) {
              while (round.placeOne(job)) {
                // All of this job, then the next.
              }
            }
          });

  private TestPolicies() {}

  private static SchedulingPolicy policy(String name, Consumer<Round> schedule) {
    return new SchedulingPolicy() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public void schedule(Round round) {
        schedule.accept(round);
      }
    };
  }
}
