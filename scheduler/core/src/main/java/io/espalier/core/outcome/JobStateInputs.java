package io.espalier.core.outcome;

import io.espalier.core.config.OutcomeRules;

/**
 * All that the state of a job follows from.
 *
 * @param valid its configuration has no errors
 * @param off why the configuration lets nothing of it run; empty: it may
 * @param overdue why its {@code complete_by} lets nothing more start; empty: it does
 * @param stuck why nothing of it can move unless somebody acts, where nothing runs; empty: it can
 * @param donePercent that must be done; {@link OutcomeRules#NEVER}: the job is endless
 */
public record JobStateInputs(
    boolean valid,
    String off,
    String overdue,
    String stuck,
    double donePercent,
    JobCounts tally,
    JobFlags flags) {
  /** Whether its success rule is met. */
  public boolean isSuccess() {
    long total = tally.total();
    return total > 0 && !isOpen() && Percent.isAtLeast(tally.done(), total, toSucceed());
  }

  /** Whether it has no end: it is endless, and no {@code complete_by} ends it all the same. */
  public boolean isOpen() {
    return donePercent == OutcomeRules.NEVER && overdue.isEmpty();
  }

  /** How much must be done once there is an end. */
  double toSucceed() {
    return donePercent == OutcomeRules.NEVER ? OutcomeRules.DEFAULT.donePercent() : donePercent;
  }

  /**
   * Whether its success rule keeps the rest of its tasks from starting: it asks for less than all,
   * that much is done, and nobody has said since that the rest is to run too.
   */
  public boolean restIsNotNeeded() {
    return isSuccess() && !flags.goesOn() && tally.untried() + tally.left() > 0;
  }

  /** The same with other flags. */
  public JobStateInputs with(JobFlags others) {
    return new JobStateInputs(valid, off, overdue, stuck, donePercent, tally, others);
  }

  /** The same with other counts. */
  public JobStateInputs with(JobCounts others) {
    return new JobStateInputs(valid, off, overdue, stuck, donePercent, others, flags);
  }
}
