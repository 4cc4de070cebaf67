package io.espalier.core.config;

import java.util.List;
import java.util.OptionalInt;

/** Reads what a job says of its place among others. */
final class JobSchedulingParser {
  private static final String MAX_CONCURRENT = "max_concurrent";

  private JobSchedulingParser() {}

  /**
   * @param queues that there are
   */
  static JobScheduling read(Fields in, JobScheduling inherited, List<QueueSpec> queues) {
    return new JobScheduling(
        QueuesParser.readQueue(in, inherited.queue(), queues),
        maxConcurrent(in, inherited.maxConcurrent()),
        in.knows("start_rate") ? StartRateParser.ofJob(in) : inherited.startRate(),
        ReserveAfterParser.read(in, inherited.reserveAfter()),
        inherited.roles());
  }

  /** Of a job only; {@code false} is any number. */
  private static int maxConcurrent(Fields in, int inherited) {
    if (!in.knows(MAX_CONCURRENT)) {
      return inherited;
    }
    OptionalInt most = in.limit(MAX_CONCURRENT, OptionalInt.empty(), 1, Integer.MAX_VALUE);
    return most.orElse(0);
  }
}
