package io.espalier.core.scheduling.worker;

import io.espalier.core.api.view.WorkerView.Slots;
import java.util.List;

/**
 * The utilization of a worker.
 *
 * @param tasks the number of tasks charged to it
 * @param slots the slots of the worker level's resources, in the order of the settings
 */
public record WorkerUtilization(String shard, int tasks, List<Slots> slots) {
  public WorkerUtilization {
    slots = List.copyOf(slots);
  }
}
