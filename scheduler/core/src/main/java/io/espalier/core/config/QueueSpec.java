package io.espalier.core.config;

import io.espalier.core.config.window.Schedule;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * A queue: a tenant that shares the tree with others (docs/design/features.md#queues).
 *
 * @param priorityFactor priority factor, more than 0; with equal history, half the factor doubles
 *     the share
 * @param weight weight, more than 0; usage over time is shared in proportion to the weights; empty:
 *     the factor applies. If one queue has a weight, those without one have the weight 1
 * @param maxSlots maximum total slots of its running tasks, by resource index
 * @param maxFraction the same as a fraction of all slots in the tree, 0 to 1, by resource index
 * @param schedule when tasks of its jobs may start
 */
public record QueueSpec(
    String name,
    double priorityFactor,
    OptionalDouble weight,
    Map<Integer, Integer> maxSlots,
    Map<Integer, Double> maxFraction,
    Schedule schedule) {
  /** Creates a queue without a weight and without windows. */
  public QueueSpec(
      String name,
      double priorityFactor,
      Map<Integer, Integer> maxSlots,
      Map<Integer, Double> maxFraction) {
    this(name, priorityFactor, OptionalDouble.empty(), maxSlots, maxFraction, Schedule.ALWAYS);
  }

  public QueueSpec {
    maxSlots = Map.copyOf(maxSlots);
    maxFraction = Map.copyOf(maxFraction);
  }
}
