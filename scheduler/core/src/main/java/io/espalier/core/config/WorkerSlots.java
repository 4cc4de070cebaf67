package io.espalier.core.config;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How many slots of each worker resource a worker has: the limit of the level, replaced by what its
 * host physically offers, replaced by what the configuration says of this worker
 * (docs/design/bistro.md#resources-of-workers): first in {@code worker_resources_override}, then in
 * {@code node_resources_override}.
 */
public final class WorkerSlots {
  /** Before the name of a card: both the physical amount and the logical resource are called so. */
  public static final String GPU_PREFIX = "GPU: ";

  private WorkerSlots() {}

  /**
   * @param address host:port, the first key that is looked for among the overrides
   * @param host the second
   * @param shard the third; only the first that is found counts
   * @param physical what the host offers: {@code ram_mb}, {@code cpu_core}, {@code gpu_card}, and
   *     {@code "GPU: NAME"} for how many cards of that name; 0 or absent: unknown
   * @return slots by name, all resources of the worker level in the order of the catalog; never
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
        // Whether it is meant nobody knows: never more than either says.
        rule.limits()
            .forEach((name, most) -> slots.computeIfPresent(name, (n, is) -> Math.min(is, most)));
      }
    }
    return slots;
  }

  /** Whole slots of one resource; what the host cannot spare at all gives none. */
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
