package io.espalier.core.loop.watch;

import io.espalier.core.config.task.OutcomeRules;
import io.espalier.core.outcome.CompletionWindow;
import io.espalier.core.outcome.FailureRule;
import io.espalier.core.outcome.JobCounts;
import io.espalier.core.outcome.JobFlags;
import io.espalier.core.outcome.JobState;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.outcome.JobStateRecord.Start;
import io.espalier.core.running.Counters;
import io.espalier.core.status.TaskStatus;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one job beside its configuration and its tasks, even while it is not configured:
 * its latest state, what operators have done to it, and the ends that its failure rule counts.
 */
final class JobMemory {
  private final String job;

  /** The latest state, durable or not; null: it was never evaluated. */
  @Nullable JobStateRecord latest;

  /** Why none of its tasks can start; empty when it is not stuck. */
  String stuck = "";

  private String failure = "";
  private boolean stopped;
  private boolean goesOn;
  private Start from = Start.ALL;
  private Counters counters = Counters.NONE;
  private @Nullable CompletionWindow window;
  private Optional<Duration> windowLength = Optional.empty();

  /** Whether a task has ended since the rule was last evaluated on its window. */
  private boolean hasNewEnd;

  JobMemory(String job) {
    this.job = job;
  }

  /** Restores what outlived a restart. */
  void restore(JobStateRecord stored) {
    latest = stored;
    failure = stored.failure();
    // It stays stuck until it is evaluated again: a restart does not change that.
    stuck = stored.state() == JobState.STUCK ? stored.reason() : "";
    stopped = stored.stopped();
    goesOn = stored.goesOn();
    from = stored.countedFrom();
    counters = stored.counters();
  }

  /** Returns a record of the job in a state, with all that must survive a restart. */
  JobStateRecord record(JobState state, String reason, long sinceMillis) {
    return new JobStateRecord(
        job, state, reason, sinceMillis, failure, stopped, goesOn, from, counters);
  }

  /** Returns a record of the latest state. */
  JobStateRecord record(long nowMillis) {
    JobStateRecord before = latest;
    return before == null
        ? record(JobState.RUNNING, "", nowMillis)
        : record(before.state(), before.reason(), before.sinceMillis());
  }

  // ---- flags

  JobFlags flags(boolean paused) {
    return new JobFlags(paused, stopped, failure, goesOn);
  }

  void setFlags(JobFlags flags) {
    failure = flags.failure();
    stopped = flags.stopped();
    goesOn = flags.goesOn();
  }

  /** Returns why the job has failed; empty when it has not. */
  String failure() {
    return failure;
  }

  void fail(String why) {
    failure = why;
  }

  void pauseEnded() {
    stopped = false;
  }

  /** Returns whether an operator has resumed the job although enough of it is done. */
  boolean goesOn() {
    return goesOn;
  }

  void goesOnNoLonger() {
    goesOn = false;
  }

  // ---- counters

  /** Returns those counters of a task for which the job has room, and keeps their names. */
  Counters fitting(Counters ofTask) {
    Counters fitting = ofTask.fitting(counters);
    counters = counters.plus(fitting.zeros());
    return fitting;
  }

  /** Adds what a task has counted, and returns the sums. */
  Counters add(Counters more) {
    counters = counters.plus(more);
    return counters;
  }

  // ---- the failure rule

  /** Lets only ends from now on count for the failure rule. */
  void countFrom(JobCounts tally, long nowMillis) {
    from = new Start(tally.failed(), tally.ended(), nowMillis);
    if (window != null) {
      window.clear();
    }
  }

  /** Forgets the ends in the window: all of them will be restored. */
  void forgetWindow() {
    window = null;
    windowLength = Optional.empty();
  }

  /**
   * Counts an end for the window of the failure rule.
   *
   * @param rules null: the job is not configured. It may return before the last of its tasks has
   *     ended; then the window it had counts on
   */
  void countEnd(@Nullable OutcomeRules rules, TaskStatus status) {
    boolean failed = status.main() == TaskStatus.Main.FAILED;
    if (!failed && status.main() != TaskStatus.Main.DONE) {
      return;
    }
    Optional<Duration> length =
        rules == null ? windowLength : rules.canFail() ? rules.window() : Optional.empty();
    if (length.isPresent() && status.sinceMillis() >= from.millis()) {
      window(length.get()).add(status.sinceMillis(), failed);
    }
  }

  /** Notes that a task has ended, so that the rule is evaluated on its window. */
  void newEnd() {
    hasNewEnd = true;
  }

  private CompletionWindow window(Duration length) {
    CompletionWindow current = window;
    if (current == null || !windowLength.equals(Optional.of(length))) {
      current = new CompletionWindow(length.toMillis());
      window = current;
      windowLength = Optional.of(length);
    }
    return current;
  }

  /** Returns why the failure rule of the job is broken, or null. */
  @Nullable String brokenRule(OutcomeRules rules, JobCounts tally, long nowMillis) {
    if (tally.failed() < from.failed() || tally.ended() < from.ended()) {
      // Tasks counted earlier are gone or will run again: only ends from now on count.
      from =
          new Start(
              Math.min(from.failed(), tally.failed()),
              Math.min(from.ended(), tally.ended()),
              from.millis());
    }
    if (!rules.canFail()) {
      return null;
    }
    if (rules.window().isEmpty()) {
      return FailureRule.broken(
          rules, tally.failed() - from.failed(), tally.ended() - from.ended());
    }
    CompletionWindow ends = window(rules.window().get());
    if (!hasNewEnd) {
      // The expiry of old successes must not fail a job in which nothing ends.
      return null;
    }
    hasNewEnd = false;
    ends.moveTo(nowMillis);
    return FailureRule.broken(rules, ends.failed(), ends.ended());
  }
}
