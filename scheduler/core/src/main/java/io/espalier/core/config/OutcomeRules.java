package io.espalier.core.config;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * {@code fail_job_when} and {@code succeed_job_when}: when a job as a whole has failed or succeeded
 * (docs/design/features.md#rules-that-end-a-job).
 *
 * @param failedTasks failed tasks from which on the job has failed; empty: no such rule
 * @param failedPercent the job has failed when more percent of the tasks that have ended failed;
 *     empty: no such rule
 * @param minSamples ended tasks below which {@code failedPercent} says nothing
 * @param window only tasks that ended within it count for a failure; empty: all
 * @param donePercent tasks in percent that must be done for the job to have succeeded; {@link
 *     #NEVER}: it is endless and does not succeed, however many are
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

  /** Whether the job can fail before its tasks are through. */
  public boolean canFail() {
    return failedTasks.isPresent() || failedPercent.isPresent();
  }
}
