package io.espalier.core.config;

import java.util.Optional;

/**
 * What decides when and whether a task of a job is tried again.
 *
 * @param backoff waits that rise from error to error
 * @param rules those that look at progress; they win where there are any
 */
public record Retrying(Backoff backoff, Optional<RetryRules> rules) {
  /** By a back-off alone. */
  public static Retrying of(Backoff backoff) {
    return new Retrying(backoff, Optional.empty());
  }
}
