package io.espalier.core.config;

import java.util.List;

/** Reads what a job says of its place among others. */
final class JobSchedulingParser {
  private JobSchedulingParser() {}

  /**
   * @param queues that there are
   */
  static JobScheduling read(Fields in, JobScheduling inherited, List<QueueSpec> queues) {
    return new JobScheduling(
        QueuesParser.readQueue(in, inherited.queue(), queues),
        inherited.maxConcurrent(),
        inherited.startRate(),
        inherited.reserveAfter(),
        inherited.roles());
  }
}
