package io.espalier.core.status;

import io.espalier.core.config.ProgressRetryRules;
import io.espalier.core.status.TaskStatus.Main;

/**
 * What the end of an attempt means for the next one.
 *
 * @param fails there is none: the task fails for good
 * @param waitSeconds until it may start, where its status waits at all
 * @param position on the back-off, which a job goes on from that has its rules taken away
 */
record RetryDecision(boolean fails, int waitSeconds, int position, RetryCounts counts) {

  /** By rules that look at progress (docs/design/features.md#retries-that-look-at-progress). */
  static RetryDecision ended(TaskStatus current, ParsedStatus report, ProgressRetryRules rules) {
    RetryCounts before = current.retries();
    boolean isStop = report.main() == Main.INCOMPLETE && report.keepsData();
    return switch (report.main()) {
      case DONE -> new RetryDecision(false, 0, 0, RetryCounts.NONE);
      case FAILED -> new RetryDecision(false, 0, 0, before.failed());
      case ERROR -> {
        boolean wasLost = current.main() != Main.RUNNING && current.savedBackoff();
        // A lost attempt was judged when it was lost.
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
   * It was stopped or lost, which is no failure of the task: without progress nothing is counted
   * and the last wait is repeated (docs/design/design.md#where-espalier-differs-from-bistro); with
   * progress it is one that got on.
   */
  static RetryDecision stopped(TaskStatus current, ProgressRetryRules rules) {
    RetryCounts before = current.retries();
    RetryCounts counts = before.stopped();
    return before.gotOn()
        ? new RetryDecision(false, rules.progressBackoffSeconds(), 0, counts)
        : of(false, rules.noProgressWait(counts.successive()), counts);
  }

  /** It says itself that it is not done, and that this is no error. */
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
