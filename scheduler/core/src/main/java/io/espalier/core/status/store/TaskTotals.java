package io.espalier.core.status.store;

import io.espalier.core.running.Counters;
import io.espalier.core.status.Attempt;

/**
 * What all ended invocations of one task add up to, also those whose attempts are no longer kept.
 *
 * @param ended how many there were
 * @param cpuMillis their CPU time, as far as known
 * @param ranMillis the time for which they ran; ends of releases that did not record it are missing
 * @param waitedMillis the time for which the task was eligible before them, as far as known
 * @param counters what they counted
 */
public record TaskTotals(
    long ended, long cpuMillis, long ranMillis, long waitedMillis, Counters counters) {
  /** The totals of a task that never ran to an end. */
  public static final TaskTotals NONE = new TaskTotals(0, 0, 0, 0, Counters.NONE);

  /** Returns the totals after another attempt has ended. */
  public TaskTotals plus(Attempt attempt) {
    return plus(
        new TaskTotals(
            1,
            Math.max(0, attempt.usage().cpuMillis()),
            attempt.ranMillis(),
            Math.max(0, attempt.waitedMillis()),
            attempt.counters()));
  }

  /** Returns the sum of both. */
  public TaskTotals plus(TaskTotals other) {
    return new TaskTotals(
        ended + other.ended,
        cpuMillis + other.cpuMillis,
        ranMillis + other.ranMillis,
        waitedMillis + other.waitedMillis,
        counters.plus(other.counters));
  }
}
