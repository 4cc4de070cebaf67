package io.espalier.cli.bench;

import io.espalier.core.json.Json;

/**
 * The result of one point of the experiment. Rates are per second of virtual time.
 *
 * @param measuredSeconds of virtual time
 * @param endedPerSecond completed tasks per second
 * @param throughput achieved / possible by the limits, as in the paper; a task of the turned-over
 *     job counts by its duration
 * @param used the fraction of the slots' time in which a task ran: the throughput without the
 *     randomness of the durations
 * @param turnovers tasks per second of the job with the global resource
 * @param starts in the measured time
 * @param slices loop steps in which the tasks were placed
 * @param workNanos the scheduler's time for starts and completions, by its clock
 * @param wordsPerStart words of the index touched per start and its completion
 * @param checksum of all placements, in order
 */
record PaperResult(
    PaperPoint point,
    double measuredSeconds,
    double endedPerSecond,
    double throughput,
    double used,
    double turnovers,
    long starts,
    long slices,
    long workNanos,
    double wordsPerStart,
    long checksum) {
  /** Returns the tasks per second that the limits allow, without those of the turned-over job. */
  double possiblePerSecond() {
    return point.slots() / point.taskSeconds();
  }

  /** Returns virtual seconds per second of the scheduler's work; 0: not measured. */
  double headroom() {
    return workNanos <= 0 ? 0 : measuredSeconds * 1e9 / workNanos;
  }

  /** Returns microseconds of the scheduler's work per start; 0: not measured. */
  double microsPerStart() {
    return starts == 0 ? 0 : workNanos / 1e3 / starts;
  }

  Json.Obj toJson(double bruteForce) {
    Json.Builder json =
        Json.object()
            .put("figure", point.figure())
            .put("x", point.x())
            .put("leaves", point.leaves())
            .put("jobs", point.jobs())
            .put("task_seconds", point.taskSeconds())
            .put("slots", point.slots())
            .put("measured_seconds", measuredSeconds)
            .put("possible_per_second", possiblePerSecond())
            .put("ended_per_second", endedPerSecond)
            .put("throughput", throughput)
            .put("slots_used", used)
            .put("starts", starts)
            .put("slices", slices)
            .put("words_per_start", wordsPerStart)
            .put("paper_brute_force", bruteForce)
            .put("checksum", Long.toHexString(checksum));
    if (point.hasGlobalJob()) {
      json.put("turnovers_wanted_per_second", point.turnovers())
          .put("turnovers_per_second", turnovers);
    }
    if (workNanos > 0) {
      json.put("micros_per_start", microsPerStart()).put("headroom", headroom());
    }
    return json.build();
  }
}
