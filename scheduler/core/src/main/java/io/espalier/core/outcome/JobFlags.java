package io.espalier.core.outcome;

/**
 * The part of a job's state that its configuration and its tasks do not determine, and that is
 * therefore stored.
 *
 * @param paused whether it is paused by an operator, also as part of a stop
 * @param stopped whether the pause is a stop
 * @param failure how its failure rule was violated; empty: it was not. Remains until an operator
 *     acts
 * @param goesOn whether an operator wants the remaining tasks to run although the success rule is
 *     met
 */
public record JobFlags(boolean paused, boolean stopped, String failure, boolean goesOn) {
  public static final JobFlags NONE = new JobFlags(false, false, "", false);

  public boolean isFailed() {
    return !failure.isEmpty();
  }
}
