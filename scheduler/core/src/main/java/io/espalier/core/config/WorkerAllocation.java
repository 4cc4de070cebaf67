package io.espalier.core.config;

import io.espalier.core.config.PhysicalResource.Enforcement;
import io.espalier.core.config.task.CgroupLimits;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * The share of its worker that a task of one job gets, and the limits that enforce it
 * (docs/design/bistro.md#enforcement, W19 in docs/workers-conformance.md).
 *
 * @param slots slots of worker resources that the job needs, by name; resources it does not need
 *     are omitted
 * @param limits limits of the task's control group: the job's own and those that follow from the
 *     slots; if there are two, the smaller memory limit and the job's own weight apply
 * @param warnings amounts that had to be adjusted to values that a control group accepts
 */
public record WorkerAllocation(
    Map<String, Integer> slots, CgroupLimits limits, List<String> warnings) {
  /** The largest number of CPU shares, as in Bistro. */
  static final int MAX_SHARES = 65_535;

  /** The smallest number that Linux accepts. */
  static final int MIN_SHARES = 2;

  /** Two to the power of 43: in bytes it still fits a long. */
  private static final long MAX_MEMORY_MB = 1L << 43;

  public WorkerAllocation {
    slots = Map.copyOf(slots);
    warnings = List.copyOf(warnings);
  }

  /**
   * Computes the allocation of a job's tasks. Pure: the same for all its tasks under one
   * configuration.
   */
  public static WorkerAllocation of(Settings settings, Job job) {
    Map<String, Integer> slots = new LinkedHashMap<>();
    for (Resource resource : settings.resources().ofLevel(settings.levels().worker())) {
      int need = job.needs().get(resource.index());
      if (need > 0) {
        slots.put(resource.name(), need);
      }
    }
    List<String> warnings = new ArrayList<>();
    OptionalLong memoryMb = OptionalLong.empty();
    OptionalInt shares = OptionalInt.empty();
    for (PhysicalResource resource : settings.physicalResources()) {
      Integer need = slots.get(resource.logicalResource());
      if (need == null || resource.enforcement() == Enforcement.NONE) {
        continue;
      }
      double physical = need * resource.multiplyLogicalBy();
      switch (resource.kind()) {
        case RAM_MB ->
            memoryMb =
                OptionalLong.of(
                    clamped(
                        "memory in MB", physical, Math.rint(physical), 1, MAX_MEMORY_MB, warnings));
        case CPU_CORE ->
            shares =
                OptionalInt.of(
                    (int)
                        clamped(
                            "CPU shares",
                            physical,
                            2 * Math.rint(physical),
                            MIN_SHARES,
                            MAX_SHARES,
                            warnings));
        case GPU_CARD -> {}
      }
    }
    return new WorkerAllocation(
        slots, merged(job.subprocess().limits(), memoryMb, shares), warnings);
  }

  private static long clamped(
      String what, double physical, double value, long least, long most, List<String> warnings) {
    if (value >= least && value <= most) {
      return (long) value;
    }
    long bent = value < least ? least : most;
    warnings.add(
        what + " for an amount of " + physical + " cannot be set: " + bent + " is used instead");
    return bent;
  }

  private static CgroupLimits merged(CgroupLimits own, OptionalLong memoryMb, OptionalInt shares) {
    if (memoryMb.isEmpty() && shares.isEmpty()) {
      return own;
    }
    return new CgroupLimits(
        own.memoryMb().isEmpty() || memoryMb.isEmpty()
            ? (own.memoryMb().isEmpty() ? memoryMb : own.memoryMb())
            : OptionalLong.of(Math.min(own.memoryMb().getAsLong(), memoryMb.getAsLong())),
        own.memorySwapMb(),
        own.cpuWeight(),
        own.cpuQuotaPercent(),
        own.pidsMax(),
        own.ioWeight(),
        own.required(),
        own.cpuWeight().isEmpty() ? shares : OptionalInt.empty());
  }
}
