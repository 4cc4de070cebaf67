package io.espalier.core.config;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * How long the tasks of a job may take; what is empty is not limited.
 *
 * @param timeout of one attempt, from its start
 * @param completeBy from then on no task of the job is started, and those that run are stopped
 * @param noOutput the longest silence of an attempt: without a line of output, progress or status
 */
public record TimeLimits(
    Optional<Duration> timeout, Optional<Instant> completeBy, Optional<Duration> noOutput) {
  public static final TimeLimits NONE =
      new TimeLimits(Optional.empty(), Optional.empty(), Optional.empty());
}
