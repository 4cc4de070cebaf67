package io.espalier.core.config;

import java.util.Map;
import java.util.OptionalDouble;

/**
 * A queue: a tenant that shares the tree with others (docs/design/features.md#queues).
 *
 * @param priorityFactor more than 0; with the same history half of it doubles the share
 * @param weight more than 0; what it uses over time is shared out in this proportion; empty: its
 *     factor decides. If one queue has a weight, those without one have the weight 1
 * @param maxSlots by resource index: slots that its running tasks may hold in all
 * @param maxFraction by resource index: the same as a part of all slots in the tree, 0 to 1
 */
public record QueueSpec(
    String name,
    double priorityFactor,
    OptionalDouble weight,
    Map<Integer, Integer> maxSlots,
    Map<Integer, Double> maxFraction) {
  /** A queue without a weight. */
  public QueueSpec(
      String name,
      double priorityFactor,
      Map<Integer, Integer> maxSlots,
      Map<Integer, Double> maxFraction) {
    this(name, priorityFactor, OptionalDouble.empty(), maxSlots, maxFraction);
  }

  public QueueSpec {
    maxSlots = Map.copyOf(maxSlots);
    maxFraction = Map.copyOf(maxFraction);
  }
}
