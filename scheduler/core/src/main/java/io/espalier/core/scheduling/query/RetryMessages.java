package io.espalier.core.scheduling.query;

import io.espalier.core.config.task.ProgressRetryRules;
import io.espalier.core.status.RetryCounts;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskStatus;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Explains how long and why a task waits, or why it is not retried
 * (docs/design/features.md#waits-are-explained).
 */
final class RetryMessages {
  private RetryMessages() {}

  /**
   * Explains the wait of a task.
   *
   * @param rules the rules of its job; null: only back-off applies
   */
  static String waits(@Nullable TaskStatus status, @Nullable ProgressRetryRules rules) {
    if (status != null && !status.usesBackoff()) {
      return "the task ended sooner than \"working_wait\" after its start: it waits until "
          + Instant.ofEpochMilli(status.readyAtMillis());
    }
    if (status == null || rules == null) {
      return "the task is backing off";
    }
    return "the task waits until "
        + Instant.ofEpochMilli(status.readyAtMillis())
        + " ("
        + status.backoffSeconds()
        + " s after "
        + after(status)
        + ")";
  }

  private static String after(TaskStatus status) {
    RetryCounts counts = status.retries();
    StatusLabel label = status.label();
    if (label == StatusLabel.NEVER_STARTED) {
      return "a start that came to nothing";
    }
    if (label == StatusLabel.LOST) {
      return "its worker was lost";
    }
    if (status.holdsPosition()) {
      return "an end that is no failure of its own";
    }
    return counts.successive() > 0
        ? ordinal(counts.successive()) + " failure without progress"
        : ordinal(counts.progress()) + " failure with progress";
  }

  /** Explains why a task has failed permanently. */
  static String failed(@Nullable TaskStatus status, @Nullable ProgressRetryRules rules) {
    String why = status == null || rules == null ? null : status.retries().exhausted(rules);
    return "the task has failed for good"
        + (why == null ? "" : " after " + why)
        + "; it can be forgiven";
  }

  static String ordinal(int number) {
    boolean teen = number / 10 % 10 == 1;
    return number
        + switch (teen ? 0 : number % 10) {
          case 1 -> "st";
          case 2 -> "nd";
          case 3 -> "rd";
          default -> "th";
        };
  }
}
