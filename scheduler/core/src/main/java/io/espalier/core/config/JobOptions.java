package io.espalier.core.config;

import io.espalier.core.config.task.Backoff;
import io.espalier.core.config.task.KillRequest;
import io.espalier.core.config.task.LogOptions;
import io.espalier.core.config.task.OutcomeRules;
import io.espalier.core.config.task.ProgressRetryRules;
import io.espalier.core.config.task.RetryPolicy;
import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.config.task.TimeLimits;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The options that a job inherits from the settings, unless it has its own.
 *
 * @param backoff intervals between attempts
 * @param level index of the level of tasks
 * @param killOrphansAfter delay before orphans are killed; empty: never
 * @param timeLimits time limits of each task and of the job; the settings have no {@code
 *     completeBy}, which belongs to a job
 * @param logs retention and redaction of the output of tasks
 * @param scheduling scheduling options
 * @param retry retry rules that consider progress; empty: {@code backoff} applies
 * @param outcome rules for when the job as a whole has failed or succeeded
 */
public record JobOptions(
    Backoff backoff,
    int level,
    Optional<Duration> killOrphansAfter,
    SubprocessOptions subprocess,
    KillRequest kill,
    TimeLimits timeLimits,
    LogOptions logs,
    JobScheduling scheduling,
    Optional<ProgressRetryRules> retry,
    OutcomeRules outcome) {

  /** The options of a configuration that has none. */
  public static JobOptions usual(int level) {
    return new JobOptions(
        Backoff.DEFAULT,
        level,
        Optional.empty(),
        SubprocessOptions.DEFAULT,
        KillRequest.DEFAULT,
        TimeLimits.NONE,
        LogOptions.DEFAULT,
        JobScheduling.DEFAULT,
        Optional.empty(),
        OutcomeRules.DEFAULT);
  }

  /** A copy with other scheduling options. */
  public JobOptions withScheduling(Consumer<JobSchedulingBuilder> change) {
    return new JobOptions(
        backoff,
        level,
        killOrphansAfter,
        subprocess,
        kill,
        timeLimits,
        logs,
        scheduling.with(change),
        retry,
        outcome);
  }

  /** The policy for retrying tasks. */
  public RetryPolicy retrying() {
    return new RetryPolicy(backoff, retry);
  }
}
