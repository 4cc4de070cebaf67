package io.espalier.worker.resources;

import io.espalier.core.config.WorkerSlots;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The resources of its host that a worker may use.
 *
 * @param cpuCores whole cores; 0: unknown
 * @param memoryMb 0: unknown
 * @param gpus the cards with their full capacity
 * @param notes what could not be read, for the log
 */
public record HostResources(int cpuCores, long memoryMb, List<Gpu> gpus, List<String> notes) {
  public HostResources {
    gpus = List.copyOf(gpus);
    notes = List.copyOf(notes);
  }

  /** Returns the amounts by name, as {@link WorkerSlots} takes them. */
  public Map<String, Long> physical() {
    Map<String, Long> amounts = new LinkedHashMap<>();
    amounts.put("ram_mb", memoryMb);
    amounts.put("cpu_core", (long) cpuCores);
    amounts.put("gpu_card", (long) gpus.size());
    gpus.forEach(gpu -> amounts.merge(WorkerSlots.GPU_PREFIX + gpu.name(), 1L, Long::sum));
    return amounts;
  }
}
