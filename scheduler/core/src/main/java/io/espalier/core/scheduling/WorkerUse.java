package io.espalier.core.scheduling;

import java.util.List;

/**
 * How much of a worker is in use.
 *
 * @param tasks how many hold it
 * @param slots of the worker level's resources, in the order of the settings
 */
public record WorkerUse(String shard, int tasks, List<Slots> slots) {
  public WorkerUse {
    slots = List.copyOf(slots);
  }

  /**
   * Of one resource.
   *
   * @param used more than the limit where that was lowered since
   */
  public record Slots(String resource, int used, int limit) {}
}
