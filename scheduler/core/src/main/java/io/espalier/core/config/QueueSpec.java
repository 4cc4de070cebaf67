package io.espalier.core.config;

import java.util.Map;

/**
 * A queue: a tenant that shares the tree with others (features A10, A13).
 *
 * @param priorityFactor more than 0; half of it doubles the share
 * @param maxSlots by resource index: slots that its running tasks may hold in all
 * @param maxFraction by resource index: the same as a part of all slots in the tree, 0 to 1
 */
public record QueueSpec(
    String name,
    double priorityFactor,
    Map<Integer, Integer> maxSlots,
    Map<Integer, Double> maxFraction) {
  public QueueSpec {
    maxSlots = Map.copyOf(maxSlots);
    maxFraction = Map.copyOf(maxFraction);
  }
}
