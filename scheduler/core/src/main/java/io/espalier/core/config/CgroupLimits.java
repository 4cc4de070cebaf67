package io.espalier.core.config;

import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * What the control group of a task may use; what is empty is not limited. Without {@code
 * cgroups.subsystems} a task with limits gets a group all the same.
 *
 * @param memoryMb resident memory and page cache, hard
 * @param memorySwapMb swap beyond it; 0: none
 * @param cpuWeight share of the cores when they are short, 1 to 10000; 100 is usual
 * @param cpuQuotaPercent of one core; 250 is two and a half cores
 * @param pidsMax processes and threads
 * @param ioWeight share of the disks when they are busy, 1 to 10000; 100 is usual
 * @param required refuse to start a task where one of the limits cannot be set
 * @param cpuShares 2 to 65535, from the worker's cores that the task holds slots of
 *     (docs/design/bistro.md#enforcement); never beside a {@code cpuWeight}. As it is in {@code
 *     cpu.shares} of version 1; as the same number, at most 10000, in {@code cpu.weight} of version
 *     2: only the relation between tasks counts
 */
public record CgroupLimits(
    OptionalLong memoryMb,
    OptionalLong memorySwapMb,
    OptionalInt cpuWeight,
    OptionalInt cpuQuotaPercent,
    OptionalInt pidsMax,
    OptionalInt ioWeight,
    boolean required,
    OptionalInt cpuShares) {
  public static final CgroupLimits NONE =
      new CgroupLimits(
          OptionalLong.empty(),
          OptionalLong.empty(),
          OptionalInt.empty(),
          OptionalInt.empty(),
          OptionalInt.empty(),
          OptionalInt.empty(),
          false);

  /** Limits that a configuration can state. */
  public CgroupLimits(
      OptionalLong memoryMb,
      OptionalLong memorySwapMb,
      OptionalInt cpuWeight,
      OptionalInt cpuQuotaPercent,
      OptionalInt pidsMax,
      OptionalInt ioWeight,
      boolean required) {
    this(
        memoryMb,
        memorySwapMb,
        cpuWeight,
        cpuQuotaPercent,
        pidsMax,
        ioWeight,
        required,
        OptionalInt.empty());
  }

  /** The word for {@code required}. */
  public static final String REQUIRED = "required";

  /** The word for the contrary: limits that cannot be set are warned of. */
  public static final String IF_AVAILABLE = "if_available";

  /** Whether nothing is limited. */
  public boolean isEmpty() {
    return memoryMb.isEmpty()
        && memorySwapMb.isEmpty()
        && cpuWeight.isEmpty()
        && cpuQuotaPercent.isEmpty()
        && pidsMax.isEmpty()
        && ioWeight.isEmpty()
        && cpuShares.isEmpty();
  }
}
