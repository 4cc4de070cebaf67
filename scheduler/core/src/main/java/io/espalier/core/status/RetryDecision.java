package io.espalier.core.status;

import io.espalier.core.config.task.ProgressRetryRules;
import io.espalier.core.status.TaskStatus.Main;

/**
 * The consequence of an attempt's end for the next attempt.
 *
 * @param fails whether there is no next attempt: the task fails permanently
 * @param waitSeconds time until it may start, if its status waits at all
 * @param position position on the back-off, from which the task continues if its job's rules are
 *     removed
 */
record RetryDecision(boolean fails, int waitSeconds, int position, RetryCounts counts) {

  /**
   * Decides by rules that consider progress
   * (docs/design/features.md#retries-that-look-at-progress).
   */
  static RetryDecision ended(TaskStatus current, ParsedStatus report, ProgressRetryRules rules) {
    RetryCounts before = current.retries();
    boolean isStop = report.main() == Main.INCOMPLETE && report.keepsData();
    return switch (report.main()) {
      case DONE -> new RetryDecision(false, 0, 0, RetryCounts.NONE);
      case FAILED -> new RetryDecision(false, 0, 0, before.failed());
      case ERROR -> {
        boolean wasLost = current.main() != Main.RUNNING && current.savedBackoff();
        // A lost attempt was counted when it was lost.
        yield report.holdsPosition() || wasLost ? stopped(current, rules) : failed(current, rules);
      }
      default -> isStop ? stopped(current, rules) : unfinished(before, report, rules);
    };
  }

  private static RetryDecision failed(TaskStatus current, ProgressRetryRules rules) {
    RetryCounts counts = current.retries().failed();
    boolean fails = counts.exhausted(rules) != null;
    return current.retries().gotOn()
        ? new RetryDecision(fails, rules.progressBackoffSeconds(), 0, counts)
        : of(fails, rules.noProgressWait(counts.successive()), counts);
  }

  /**
   * Decides for an attempt that was stopped or lost, which is not a failure of the task. Without
   * progress nothing is counted and the last wait is repeated
   * (docs/design/design.md#where-espalier-differs-from-bistro); with progress the attempt counts as
   * one that made progress.
   */
  static RetryDecision stopped(TaskStatus current, ProgressRetryRules rules) {
    RetryCounts before = current.retries();
    RetryCounts counts = before.stopped();
    return before.gotOn()
        ? new RetryDecision(false, rules.progressBackoffSeconds(), 0, counts)
        : of(false, rules.noProgressWait(counts.successive()), counts);
  }

  /** Decides for an attempt that reports itself incomplete without an error. */
  private static RetryDecision unfinished(
      RetryCounts before, ParsedStatus report, ProgressRetryRules rules) {
    if (!report.usesBackoff()) {
      RetryCounts counts = new RetryCounts(0, before.noProgress(), before.progress(), false);
      return new RetryDecision(false, 0, 0, counts);
    }
    RetryCounts counts = before.ended();
    return of(false, rules.noProgressWait(counts.successive()), counts);
  }

  private static RetryDecision of(boolean fails, int wait, RetryCounts counts) {
    return new RetryDecision(fails, wait, wait, counts);
  }
}
