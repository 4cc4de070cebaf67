package example;

import io.espalier.core.scheduling.Round;
import io.espalier.core.scheduling.SchedulingPolicy;

/** {@code fewest_left}: the job with the fewest tasks left goes first, so that jobs end. */
public final class FewestLeftPolicy implements SchedulingPolicy {
  @Override
  public String name() {
    return "fewest_left";
  }

  @Override
  public void schedule(Round round) {
    while (!round.isOver()) {
      int fewest = -1;
      for (int job : round.openJobs()) {
        if (fewest < 0 || round.remaining(job) < round.remaining(fewest)) {
          fewest = job;
        }
      }
      if (fewest < 0) {
        return;
      }
      round.placeOne(fewest);
    }
  }
}
