package io.espalier.core.config;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Computes the slots of each worker resource of a worker: the limit of the level, replaced by what
 * its host physically offers, replaced by what the configuration specifies for this worker
 * (docs/design/bistro.md#resources-of-workers): first in {@code worker_resources_override}, then in
 * {@code node_resources_override}.
 */
public final class WorkerSlots {
  /**
   * The prefix of a GPU's name: both the physical amount and the logical resource have this name.
   */
  public static final String GPU_PREFIX = "GPU: ";

  private WorkerSlots() {}

  /**
   * Computes the slots of a worker.
   *
   * @param address host:port, the first key searched in the overrides
   * @param host second key
   * @param shard third key; only the first key found is used
   * @param physical physical resources of the host: {@code ram_mb}, {@code cpu_core}, {@code
   *     gpu_card}, and the number of GPUs by {@code "GPU: NAME"}; 0 or absent: unknown
   * @return slots by name, for all resources of the worker level in the order of the catalog; never
   *     negative
   */
  public static Map<String, Integer> of(
      Settings settings, String address, String host, String shard, Map<String, Long> physical) {
    List<Resource> resources = settings.resources().ofLevel(settings.levels().worker());
    Map<String, Integer> slots = new LinkedHashMap<>();
    resources.forEach(resource -> slots.put(resource.name(), resource.limit()));
    for (PhysicalResource resource : settings.physicalResources()) {
      long amount = physical.getOrDefault(resource.kind().label(), 0L);
      if (amount != 0) {
        slots.replace(resource.logicalResource(), logical(amount, resource));
      }
    }
    physical.forEach(
        (name, cards) -> {
          Integer limit = name.startsWith(GPU_PREFIX) ? slots.get(name) : null;
          if (limit != null) {
            slots.put(name, (int) Math.min(Integer.MAX_VALUE, limit + Math.max(0, cards)));
          }
        });
    Map<String, Integer> override = override(settings, address, host, shard);
    if (override != null) {
      override.forEach(slots::replace);
    }
    for (NodeLimitRule rule : settings.rules().nodeLimits()) {
      FilterSteps steps = new FilterSteps(1);
      if (rule.level() == settings.levels().worker()
          && rule.matchesWorker(address, host, shard, steps)) {
        rule.limits().forEach(slots::replace);
      } else if (steps.isOver()) {
        // It is unknown whether the rule applies, so use the smaller number.
        rule.limits()
            .forEach((name, most) -> slots.computeIfPresent(name, (n, is) -> Math.min(is, most)));
      }
    }
    return slots;
  }

  /** Whole slots of one resource; 0 when the host cannot spare anything. */
  static int logical(long physical, PhysicalResource resource) {
    double slots = (physical - resource.reserveAmount()) / resource.multiplyLogicalBy();
    // A conversion to int cuts off the fraction and stops at the largest int.
    return Math.max(0, (int) slots);
  }

  private static @Nullable Map<String, Integer> override(
      Settings settings, String address, String host, String shard) {
    for (String key : List.of(address, host, shard)) {
      Map<String, Integer> found = settings.workerOverrides().get(key);
      if (found != null) {
        return found;
      }
    }
    return null;
  }
}
