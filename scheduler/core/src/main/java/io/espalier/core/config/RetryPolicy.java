package io.espalier.core.config;

import java.util.Optional;

/**
 * What decides when and whether a task of a job is tried again.
 *
 * @param backoff waits that rise from error to error
 * @param rules those that look at progress; they win where there are any
 */
public record RetryPolicy(Backoff backoff, Optional<ProgressRetryRules> rules) {
  /** By a back-off alone. */
  public static RetryPolicy of(Backoff backoff) {
    return new RetryPolicy(backoff, Optional.empty());
  }
}
