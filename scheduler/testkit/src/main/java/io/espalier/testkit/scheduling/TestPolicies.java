package io.espalier.testkit.scheduling;

import io.espalier.core.scheduling.Round;
import io.espalier.core.scheduling.SchedulingPolicy;
import java.util.function.Consumer;

/** Two policies that do not depend on the policy module. */
public final class TestPolicies {
  public static final SchedulingPolicy IN_TURN =
      policy(
          "in_turn",
          round -> {
            while (!round.isOver()) {
              round.placeOne(round.nextInTurn());
            }
          });

  public static final SchedulingPolicy ONE_BY_ONE =
      policy(
          "one_by_one",
          round -> {
            for (int job : round.openJobs()) {
              while (round.placeOne(job)) {
                // The loop starts all tasks of this job, then of the next.
              }
            }
          });

  /** Starts jobs whose names begin with "h", or are "b", only where nothing else can be started. */
  public static final SchedulingPolicy LIGHT_FIRST =
      policy(
          "light_first",
          round -> {
            while (!round.isOver()) {
              int last = -1;
              boolean any = false;
              for (int job : round.openJobs()) {
                if (round.name(job).startsWith("h") || round.name(job).equals("b")) {
                  last = job;
                } else {
                  any |= round.placeOne(job);
                }
              }
              if (!any && last >= 0) {
                round.placeOne(last);
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
