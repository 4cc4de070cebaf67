package io.espalier.core.config;

/** Reads what a job says of its place among others. */
final class JobSchedulingParser {
  private JobSchedulingParser() {}

  static JobScheduling read(Fields in, JobScheduling inherited) {
    return new JobScheduling(
        inherited.queue(),
        inherited.maxConcurrent(),
        inherited.startRate(),
        ReserveAfterParser.read(in, inherited.reserveAfter()),
        inherited.roles());
  }
}
