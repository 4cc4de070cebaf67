package io.espalier.core.config;

import io.espalier.core.config.window.Schedule;
import java.math.BigDecimal;
import java.math.RoundingMode;
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

  /** Returns whether the queue has a cap on a resource. */
  public boolean limits(int resource) {
    return maxSlots.containsKey(resource) || maxFraction.containsKey(resource);
  }

  /**
   * Returns how many slots of a resource with a cap the running tasks of the queue may have.
   *
   * @param total the slots of the tree, or of all workers
   */
  public long slots(int resource, long total) {
    long most = maxSlots.getOrDefault(resource, Integer.MAX_VALUE);
    Double fraction = maxFraction.get(resource);
    if (fraction == null) {
      return most;
    }
    // In binary, 0.29 * 100 is 28.999999999999996.
    BigDecimal part = BigDecimal.valueOf(fraction).multiply(BigDecimal.valueOf(total));
    return Math.min(most, part.setScale(0, RoundingMode.FLOOR).longValueExact());
  }
}
