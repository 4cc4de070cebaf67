package io.espalier.core.scheduling.worker;

import io.espalier.core.api.WorkerView.Slots;
import java.util.List;

/**
 * How much of a worker is in use.
 *
 * @param tasks how many hold it
 * @param slots of the worker level's resources, in the order of the settings
 */
public record WorkerUtilization(String shard, int tasks, List<Slots> slots) {
  public WorkerUtilization {
    slots = List.copyOf(slots);
  }
}
