package io.espalier.core.scheduling;

/**
 * Chooses the order in which the open jobs of a round start tasks. Policies are found through
 * {@link java.util.ServiceLoader}; each takes one file, plus one test that extends {@code
 * SchedulingPolicyContract}.
 *
 * <p>Contract: a policy is stateless and starts tasks until the round is over. It cannot
 * over-commit, because only the round has counters. A round may be cut into slices; then {@link
 * #schedule} is called again with the same round and continues from the state that it finds there.
 * Every decision depends only on the round, so the same events and the same seed give the same
 * placements.
 */
public interface SchedulingPolicy {
  /** Returns the policy's name in the setting {@code "scheduler"}. */
  String name();

  /** Calls {@link Round#placeOne} until {@link Round#isOver}. */
  void schedule(Round round);
}
