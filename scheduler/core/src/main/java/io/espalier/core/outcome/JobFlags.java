package io.espalier.core.outcome;

/**
 * What of a job's state does not follow from its configuration and its tasks, and is stored.
 *
 * @param paused by an operator, also as part of a stop
 * @param stopped the pause is a stop
 * @param failure how its failure rule was broken; empty: it was not. Stays until an operator acts
 * @param goesOn an operator wants the rest of the tasks to run although the success rule is met
 */
public record JobFlags(boolean paused, boolean stopped, String failure, boolean goesOn) {
  public static final JobFlags NONE = new JobFlags(false, false, "", false);

  public boolean isFailed() {
    return !failure.isEmpty();
  }
}
