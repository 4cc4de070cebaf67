package io.espalier.core.outcome;

import io.espalier.core.config.task.OutcomeRules;

/**
 * The inputs that determine the state of a job.
 *
 * @param valid whether its configuration has no errors
 * @param off why the configuration keeps it from running; empty: it may run
 * @param overdue why its {@code complete_by} prevents further starts; empty: it does not
 * @param stuck why none of its tasks can start unless an operator acts, while none run; empty: it
 *     is not stuck
 * @param donePercent percentage of tasks that must be done; {@link OutcomeRules#NEVER}: the job is
 *     endless
 * @param tally the counts of its tasks; a task that is being verified is done
 * @param unverified how many of its done tasks are being verified or still to be verified
 * @param halted why its roll-out is halted; empty: it is not
 */
public record JobStateInputs(
    boolean valid,
    String off,
    String overdue,
    String stuck,
    double donePercent,
    JobCounts tally,
    JobFlags flags,
    long unverified,
    String halted) {
  /** Creates the inputs of a job without verification and roll-out. */
  public JobStateInputs(
      boolean valid,
      String off,
      String overdue,
      String stuck,
      double donePercent,
      JobCounts tally,
      JobFlags flags) {
    this(valid, off, overdue, stuck, donePercent, tally, flags, 0, "");
  }

  /** Returns true when its success rule is met, and only verifications are missing. */
  public boolean isInVerification() {
    return unverified > 0 && isSuccess();
  }

  /** Returns true when its success rule is met. */
  public boolean isSuccess() {
    long total = tally.total();
    return total + tally.cancelled() > 0
        && !isOpen()
        && Percent.isAtLeast(tally.done(), total, toSucceed());
  }

  /**
   * Returns true when it has no end: it is endless, and no passed {@code complete_by} has ended it
   * nevertheless.
   */
  public boolean isOpen() {
    return donePercent == OutcomeRules.NEVER && overdue.isEmpty();
  }

  /**
   * The percentage that must be done to succeed, all tasks for an endless job that {@code
   * complete_by} has ended.
   */
  double toSucceed() {
    return donePercent == OutcomeRules.NEVER ? OutcomeRules.DEFAULT.donePercent() : donePercent;
  }

  /**
   * Returns true when its success rule keeps the remaining tasks from starting: it requires less
   * than all, enough are done, and no operator has requested the rest since.
   */
  public boolean restIsNotNeeded() {
    return isSuccess() && unverified == 0 && !flags.goesOn() && tally.untried() + tally.left() > 0;
  }

  /** A copy with other flags. */
  public JobStateInputs with(JobFlags others) {
    return new JobStateInputs(
        valid, off, overdue, stuck, donePercent, tally, others, unverified, halted);
  }

  /** A copy with other counts. */
  public JobStateInputs with(JobCounts others) {
    return new JobStateInputs(
        valid, off, overdue, stuck, donePercent, others, flags, unverified, halted);
  }
}
