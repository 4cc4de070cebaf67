package io.espalier.worker.cgroup;

import io.espalier.core.config.task.CgroupLimits;
import java.util.EnumSet;
import java.util.Set;

/** The kinds of limits, named as in the configuration. */
enum CgroupLimit {
  MEMORY("memory_mb", "memory", "memory"),
  SWAP("memory_swap_mb", "memory", "memory"),
  CPU_WEIGHT("cpu_weight", "cpu", "cpu"),
  CPU_QUOTA("cpu_quota_percent", "cpu", "cpu"),
  PIDS("pids_max", "pids", "pids"),
  IO_WEIGHT("io_weight", "blkio", "io");

  private final String label;
  private final String first;
  private final String second;

  CgroupLimit(String label, String first, String second) {
    this.label = label;
    this.first = first;
    this.second = second;
  }

  String label() {
    return label;
  }

  /** Returns the controller that enforces the limit. */
  String controller(int version) {
    return version == 1 ? first : second;
  }

  /** Returns the kinds of limits that are requested. */
  static Set<CgroupLimit> of(CgroupLimits limits) {
    Set<CgroupLimit> asked = EnumSet.noneOf(CgroupLimit.class);
    if (limits.memoryMb().isPresent()) {
      asked.add(MEMORY);
    }
    if (limits.memorySwapMb().isPresent()) {
      asked.add(SWAP);
    }
    if (limits.cpuWeight().isPresent() || limits.cpuShares().isPresent()) {
      asked.add(CPU_WEIGHT);
    }
    if (limits.cpuQuotaPercent().isPresent()) {
      asked.add(CPU_QUOTA);
    }
    if (limits.pidsMax().isPresent()) {
      asked.add(PIDS);
    }
    if (limits.ioWeight().isPresent()) {
      asked.add(IO_WEIGHT);
    }
    return asked;
  }
}
