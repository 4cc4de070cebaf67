package io.espalier.testkit.scheduling;

import io.espalier.core.config.JobScheduling;
import io.espalier.core.config.QueueSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Generates random queues, and the queue that a job names. */
final class RandomQueues {
  private static final List<String> NAMES = List.of("default", "q0", "q1", "q2");

  /** More than the number of resources. */
  private static final int RESOURCES = 8;

  private RandomQueues() {}

  /**
   * Returns random queues, often none.
   *
   * @param scarce whether there are queues with small limits
   */
  static QueueSpec[] any(Random random, boolean scarce) {
    List<QueueSpec> queues = new ArrayList<>();
    if (!scarce && random.nextInt(100) < 50) {
      return new QueueSpec[0];
    }
    for (String name : NAMES) {
      if (random.nextInt(3) > 0) {
        Map<Integer, Integer> slots = new HashMap<>();
        Map<Integer, Double> parts = new HashMap<>();
        for (int r = 0; r < RESOURCES; r++) {
          if (random.nextInt(scarce ? 2 : 6) == 0) {
            slots.put(r, scarce ? 2 + random.nextInt(3) : random.nextInt(9));
          }
          if (random.nextInt(6) == 0) {
            parts.put(r, random.nextInt(100) / 100.0);
          }
        }
        queues.add(new QueueSpec(name, 0.5 + random.nextInt(3), slots, parts));
      }
    }
    return queues.toArray(new QueueSpec[0]);
  }

  /** Returns random scheduling options of a job; its queue may not be configured. */
  static JobScheduling scheduling(Random random) {
    String queue = NAMES.get(random.nextInt(NAMES.size()));
    return JobScheduling.DEFAULT.with(s -> s.queue(queue));
  }
}
