package io.espalier.core.config.task;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Time limits of the tasks of a job; empty values are unlimited.
 *
 * @param timeout limit of one attempt, from its start
 * @param completeBy time from which no task of the job is started, and running ones are stopped
 * @param noOutput longest time in which an attempt writes no line of output, progress or status
 */
public record TimeLimits(
    Optional<Duration> timeout, Optional<Instant> completeBy, Optional<Duration> noOutput) {
  public static final TimeLimits NONE =
      new TimeLimits(Optional.empty(), Optional.empty(), Optional.empty());
}
