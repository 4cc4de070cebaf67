package io.espalier.server.bench;

import io.espalier.core.json.Json;

/**
 * What one point of the experiment came to. Rates are per second of virtual time.
 *
 * @param measuredSeconds of virtual time
 * @param endedPerSecond tasks
 * @param throughput achieved / possible by the limits, as in the paper; a task of the job that
 *     turns over counts by its duration
 * @param used the part of the slots' time in which a task ran: the same without the chance in the
 *     durations
 * @param turnovers tasks per second of the job with the global resource
 * @param starts in the measured time
 * @param slices steps of the loop in which they were placed
 * @param workNanos what the scheduler took for them and for their ends, by its clock
 * @param wordsPerStart words of the index touched per start, with its end
 * @param checksum of everything that was placed, in order
 */
public record PaperResult(
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
  /** Tasks per second that the limits allow; without the turned-over job's, where there is one. */
  public double possiblePerSecond() {
    return point.slots() / point.taskSeconds();
  }

  /** Virtual seconds per second of the scheduler's work; 0: not measured. */
  public double headroom() {
    return workNanos <= 0 ? 0 : measuredSeconds * 1e9 / workNanos;
  }

  /** Of the scheduler's work; 0: not measured. */
  public double microsPerStart() {
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
