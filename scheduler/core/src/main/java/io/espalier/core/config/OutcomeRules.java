package io.espalier.core.config;

import java.time.Duration;
import java.util.Optional;

/**
 * When a job as a whole has failed or succeeded (features L2, L11).
 *
 * @param failedTasks failed tasks from which on the job has failed; 0: no such rule
 * @param failedPercent the same in percent of the tasks that have ended; 0: no such rule
 * @param minSamples ended tasks below which {@code failedPercent} says nothing
 * @param window only tasks that ended within it count; empty: all
 * @param donePercent tasks in percent that must be done for the job to have succeeded
 */
public record OutcomeRules(
    int failedTasks,
    double failedPercent,
    int minSamples,
    Optional<Duration> window,
    double donePercent) {
  /** Never fails; succeeds when every task is done. */
  public static final OutcomeRules DEFAULT = new OutcomeRules(0, 0, 0, Optional.empty(), 100);
}
