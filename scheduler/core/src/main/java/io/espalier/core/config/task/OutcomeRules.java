package io.espalier.core.config.task;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * The rules {@code fail_job_when} and {@code succeed_job_when}: when a job as a whole has failed or
 * succeeded (docs/design/features.md#rules-that-end-a-job).
 *
 * @param failedTasks number of failed tasks from which the job has failed; empty: no such rule
 * @param failedPercent percentage of ended tasks; if more have failed, the job has failed; empty:
 *     no such rule
 * @param minSamples number of ended tasks below which {@code failedPercent} is not evaluated
 * @param window period in which ended tasks count for a failure; empty: all count
 * @param donePercent percentage of tasks that must be done for the job to succeed; {@link #NEVER}:
 *     the job is endless and never succeeds
 */
public record OutcomeRules(
    OptionalInt failedTasks,
    OptionalDouble failedPercent,
    int minSamples,
    Optional<Duration> window,
    double donePercent) {
  /** Never fails; succeeds when every task is done. */
  public static final OutcomeRules DEFAULT =
      new OutcomeRules(OptionalInt.empty(), OptionalDouble.empty(), 1, Optional.empty(), 100);

  /** More than all tasks: a success rule that is never met. */
  public static final double NEVER = Double.POSITIVE_INFINITY;

  /** Returns true when the job can fail before its tasks are finished. */
  public boolean canFail() {
    return failedTasks.isPresent() || failedPercent.isPresent();
  }
}
