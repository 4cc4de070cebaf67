package io.espalier.core.config.task;

import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Limits of a task's control group; empty values are unlimited. A task with limits gets a group
 * even without {@code cgroups.subsystems}.
 *
 * @param memoryMb hard limit of resident memory and page cache
 * @param memorySwapMb swap in addition; 0: none
 * @param cpuWeight share of the cores under contention, 1 to 10000; 100 is usual
 * @param cpuQuotaPercent percentage of one core; 250 is two and a half cores
 * @param pidsMax maximum number of processes and threads
 * @param ioWeight share of the disks under contention, 1 to 10000; 100 is usual
 * @param required whether to refuse to start a task where one of the limits cannot be set
 * @param cpuShares CPU shares, 2 to 65535, derived from the worker's cores charged for the task
 *     (docs/design/bistro.md#enforcement); never together with a {@code cpuWeight}. Written
 *     unchanged to {@code cpu.shares} of version 1, and, at most 10000, to {@code cpu.weight} of
 *     version 2: only the ratio between tasks matters
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

  /** Creates the limits that a configuration can contain. */
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

  /** The configuration value for {@code required}. */
  public static final String REQUIRED = "required";

  /** The configuration value for not required: limits that cannot be set cause a warning. */
  public static final String IF_AVAILABLE = "if_available";

  /** Returns true when nothing is limited. */
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
