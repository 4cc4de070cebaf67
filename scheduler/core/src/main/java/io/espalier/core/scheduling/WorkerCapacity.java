package io.espalier.core.scheduling;

import io.espalier.core.config.PhysicalResource;
import io.espalier.core.config.Resource;
import io.espalier.core.config.Settings;
import io.espalier.core.running.WorkerInfo;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * How many slots of each resource a worker has (behaviour 5.9): the limit of the settings; instead
 * of it what its host offers, where a physical resource is mapped to it; instead of both what is
 * said of this very worker.
 */
final class WorkerCapacity {
  private static final String GPU = "GPU: ";

  private WorkerCapacity() {}

  /** Slots in the order of the worker level's resources. */
  static int[] of(Settings settings, WorkerInfo worker) {
    List<Resource> resources = settings.resources().ofLevel(settings.levels().worker());
    Map<String, Long> slots = new HashMap<>();
    for (Resource resource : resources) {
      slots.put(resource.name(), (long) resource.limit());
    }
    for (PhysicalResource physical : settings.physicalResources()) {
      long amount = worker.physical().getOrDefault(physical.kind().label(), 0L);
      if (amount > 0) {
        double logical = (amount - physical.reserveAmount()) / physical.multiplyLogicalBy();
        slots.replace(physical.logicalResource(), (long) Math.max(0, logical));
      }
    }
    worker
        .physical()
        .forEach(
            (name, count) -> {
              if (name.startsWith(GPU)) {
                slots.computeIfPresent(name, (n, limit) -> limit + count);
              }
            });
    // The most specific one wins: the process, the shard, the host.
    for (String key : List.of(worker.host(), worker.ref().shard(), worker.address())) {
      settings
          .workerOverrides()
          .getOrDefault(key, Map.of())
          .forEach((name, amount) -> slots.replace(name, (long) amount));
    }
    int[] capacity = new int[resources.size()];
    for (int i = 0; i < capacity.length; i++) {
      capacity[i] =
          (int) Math.min(Integer.MAX_VALUE / 2, slots.getOrDefault(resources.get(i).name(), 0L));
    }
    return capacity;
  }
}
