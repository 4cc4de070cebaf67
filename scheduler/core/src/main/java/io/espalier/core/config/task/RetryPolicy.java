package io.espalier.core.config.task;

import java.util.Optional;

/**
 * Decides when and whether a task of a job is retried.
 *
 * @param backoff intervals that increase from error to error
 * @param rules rules that consider progress; they take precedence if present
 */
public record RetryPolicy(Backoff backoff, Optional<ProgressRetryRules> rules) {
  /** Creates a policy with only a back-off. */
  public static RetryPolicy of(Backoff backoff) {
    return new RetryPolicy(backoff, Optional.empty());
  }
}
