package io.espalier.core.scheduling;

/**
 * An order over the open jobs of a round; found through {@link java.util.ServiceLoader}. One file
 * each, plus one test that extends {@code SchedulingPolicyContract}.
 *
 * <p>Contract: stateless; places until the round is over. It cannot over-commit, because only the
 * round holds counters. A round may be cut into slices: then {@link #schedule} is called again with
 * the same round and goes on with what it finds. Every decision comes from the round, so the same
 * events and the same seed give the same placements.
 */
public interface SchedulingPolicy {
  /** The word in {@code "scheduler"}. */
  String name();

  /** Calls {@link Round#placeOne} until {@link Round#isOver}. */
  void schedule(Round round);
}
