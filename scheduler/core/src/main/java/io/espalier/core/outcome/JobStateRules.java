package io.espalier.core.outcome;

/**
 * The state machine of jobs (docs/design/features.md#states-of-jobs): determines a job's state and
 * the legal transitions.
 *
 * <p><b>Precedence.</b> If several states apply, the first of these counts: invalid, disabled,
 * failed by rule, succeeded, failed because nothing is left to run, stopped, paused, halted, stuck,
 * verifying, open, running, waiting. A finished job is therefore shown as finished even when it is
 * paused; and a job that the configuration keeps from running is shown as such, even if it also
 * failed.
 *
 * <p>Failed by rule is the only state that tasks and configuration alone cannot end.
 */
public final class JobStateRules {
  /**
   * A state and its reason.
   *
   * @param reason sentence for people; empty where the state is self-explanatory
   */
  public record Verdict(JobState state, String reason) {}

  private static final Verdict RUNNING = new Verdict(JobState.RUNNING, "");
  private static final Verdict ENOUGH =
      new Verdict(JobState.RUNNING, "enough is done: only what runs goes on");
  private static final Verdict OPEN =
      new Verdict(JobState.OPEN, "it is endless: nodes that come are taken up");
  private static final Verdict WAITING = new Verdict(JobState.WAITING, "");
  private static final Verdict NO_TASKS =
      new Verdict(JobState.WAITING, "there is no node that it may run on");
  private static final Verdict INVALID =
      new Verdict(JobState.INVALID, "its configuration has errors");

  private JobStateRules() {}

  /** Determines the state from the inputs. */
  public static Verdict of(JobStateInputs facts) {
    JobFlags flags = facts.flags();
    JobCounts tally = facts.tally();
    if (!facts.valid()) {
      return INVALID;
    }
    if (!facts.off().isEmpty()) {
      return new Verdict(JobState.DISABLED, facts.off());
    }
    if (flags.isFailed()) {
      return new Verdict(JobState.FAILED, flags.failure());
    }
    boolean rests = tally.isThrough() || facts.restIsNotNeeded();
    if (tally.running() == 0 && rests && facts.isSuccess() && facts.unverified() == 0) {
      return new Verdict(JobState.SUCCEEDED, success(facts));
    }
    if (tally.total() > 0 && tally.isThrough() && !facts.isOpen() && !facts.isInVerification()) {
      return new Verdict(JobState.FAILED, "nothing is left to run: " + missing(facts));
    }
    if (!facts.overdue().isEmpty() && tally.running() == 0 && tally.total() > 0) {
      return new Verdict(JobState.FAILED, facts.overdue() + "; " + missing(facts));
    }
    if (flags.paused()) {
      return new Verdict(flags.stopped() ? JobState.STOPPED : JobState.PAUSED, "");
    }
    if (!facts.halted().isEmpty()) {
      return new Verdict(JobState.HALTED, facts.halted());
    }
    boolean hasWork = tally.total() > 0 || !facts.isOpen();
    if (!facts.stuck().isEmpty() && tally.running() == 0 && hasWork) {
      return new Verdict(JobState.STUCK, facts.stuck());
    }
    if (facts.isInVerification()) {
      return new Verdict(JobState.VERIFYING, facts.unverified() + " tasks are left to be verified");
    }
    if (facts.isOpen()) {
      return OPEN;
    }
    if (tally.total() == 0) {
      return NO_TASKS;
    }
    if (facts.restIsNotNeeded()) {
      return ENOUGH;
    }
    return tally.total() == tally.untried() ? WAITING : RUNNING;
  }

  private static String success(JobStateInputs facts) {
    JobCounts tally = facts.tally();
    String cancelled = cancelled(tally);
    if (tally.total() == 0) {
      return "nothing is left to run" + cancelled;
    }
    if (tally.done() == tally.total()) {
      return (tally.total() == 1 ? "its task is done" : "all " + tally.total() + " tasks are done")
          + cancelled;
    }
    long rest = tally.untried() + tally.left();
    return tally.done()
        + " of "
        + tally.total()
        + " tasks are done, "
        + Percent.text(facts.toSucceed())
        + " are enough"
        + cancelled
        + (rest == 0 ? "" : "; " + rest + " are left and not started any more");
  }

  private static String missing(JobStateInputs facts) {
    JobCounts tally = facts.tally();
    return tally.done()
        + " of "
        + tally.total()
        + (tally.total() == 1 ? " task is done" : " tasks are done")
        + (facts.toSucceed() == 100 ? "" : ", " + Percent.text(facts.toSucceed()) + " must be")
        + (tally.failed() == 0 ? "" : ", " + tally.failed() + " failed for good")
        + cancelled(tally);
  }

  private static String cancelled(JobCounts tally) {
    long count = tally.cancelled();
    return count == 0 ? "" : ", " + count + (count == 1 ? " is cancelled" : " are cancelled");
  }

  /**
   * Returns whether the transition is legal. Operators may pause, stop, forgive and rerun in any
   * state.
   *
   * @return false for resuming a job that is neither paused, halted nor ended in a way that an
   *     operator can undo, for the expiry of a pause that does not exist, and for a failure of a
   *     job that has already failed or has met its success rule
   */
  public static boolean isLegal(JobStateInputs facts, JobEvent event) {
    JobFlags flags = facts.flags();
    return switch (event) {
      case PAUSE, STOP, FORGIVE, RERUN -> true;
      case PAUSE_ENDS -> flags.paused() && !flags.stopped();
      case RESUME ->
          flags.paused()
              || flags.isFailed()
              || facts.restIsNotNeeded()
              || !facts.halted().isEmpty();
      case RULE_BROKEN -> !flags.isFailed() && !(facts.isSuccess() && !flags.goesOn());
    };
  }

  /**
   * The flags after an event. For {@link JobEvent#FORGIVE} and {@link JobEvent#RERUN}, the inputs
   * must be those after the tasks have changed.
   *
   * @param reason for {@link JobEvent#RULE_BROKEN}: how, not empty; otherwise ignored
   * @throws IllegalStateException when the event is not {@link #isLegal legal}
   */
  public static JobFlags after(JobStateInputs facts, JobEvent event, String reason) {
    if (!isLegal(facts, event)) {
      throw new IllegalStateException(event + " of a job that is " + of(facts).state().word());
    }
    JobFlags flags = facts.flags();
    boolean goesOn = flags.goesOn() || facts.restIsNotNeeded();
    return switch (event) {
      case PAUSE -> new JobFlags(true, false, flags.failure(), flags.goesOn());
      case PAUSE_ENDS -> new JobFlags(false, false, flags.failure(), flags.goesOn());
      case STOP -> new JobFlags(true, true, flags.failure(), flags.goesOn());
      case RESUME -> new JobFlags(false, false, "", goesOn);
      case FORGIVE, RERUN -> new JobFlags(flags.paused(), flags.stopped(), "", goesOn);
      case RULE_BROKEN -> new JobFlags(flags.paused(), flags.stopped(), reason, flags.goesOn());
    };
  }
}
