package io.espalier.worker.resources;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;

/**
 * Reads the limits that the control groups of a place set, in both versions; empty where there is
 * none. Lists of groups go from the own group upwards.
 */
final class CgroupLimitsSeen {
  /** Version 1 expresses "no limit" by a number close to the largest; no host has an exbibyte. */
  private static final long NO_LIMIT = 1L << 60;

  private CgroupLimitsSeen() {}

  /** Returns the CPUs of the nearest group that names some; empty: all of the host. */
  static Set<Integer> cpus(CgroupPlace place) throws IOException {
    Set<Integer> own = nearest(place.of("cpuset"), "cpuset.cpus");
    return own.isEmpty() ? nearest(place.v2(), "cpuset.cpus.effective") : own;
  }

  /** Returns the NUMA nodes of the nearest group that names some; empty: all of the host. */
  static Set<Integer> memoryNodes(CgroupPlace place) throws IOException {
    Set<Integer> own = nearest(place.of("cpuset"), "cpuset.mems");
    return own.isEmpty() ? nearest(place.v2(), "cpuset.mems.effective") : own;
  }

  private static Set<Integer> nearest(List<Path> groups, String file) throws IOException {
    for (Path group : groups) {
      Path list = group.resolve(file);
      if (Files.exists(list)) {
        Set<Integer> numbers = KernelFiles.intSet(KernelFiles.text(list));
        if (!numbers.isEmpty()) {
          return numbers;
        }
      }
    }
    return new TreeSet<>();
  }

  /**
   * Returns the smallest limit in bytes that applies to processes of the own group. In version 1 a
   * limit applies to the groups below it only from the top-most group with {@code
   * memory.use_hierarchy} on.
   */
  static OptionalLong memoryBytes(CgroupPlace place) throws IOException {
    long least = NO_LIMIT;
    List<Path> groups = place.of("memory");
    int top = -1;
    for (int i = 0; i < groups.size(); i++) {
      Path hierarchy = groups.get(i).resolve("memory.use_hierarchy");
      if (Files.exists(hierarchy) && KernelFiles.wholeNumber(hierarchy) == 1) {
        top = i;
      }
    }
    for (int i = 0; i <= top; i++) {
      Path limit = groups.get(i).resolve("memory.limit_in_bytes");
      if (Files.exists(limit)) {
        least = Math.min(least, KernelFiles.wholeNumber(limit));
      }
    }
    for (Path group : place.v2()) {
      Path limit = group.resolve("memory.max");
      if (Files.exists(limit) && !KernelFiles.text(limit).equals("max")) {
        least = Math.min(least, KernelFiles.wholeNumber(limit));
      }
    }
    return least == NO_LIMIT || least < 0 ? OptionalLong.empty() : OptionalLong.of(least);
  }

  /** Returns the smallest quota, in cores. */
  static OptionalDouble cores(CgroupPlace place) throws IOException {
    double least = Double.MAX_VALUE;
    for (Path group : place.of("cpu")) {
      Path quota = group.resolve("cpu.cfs_quota_us");
      Path period = group.resolve("cpu.cfs_period_us");
      if (Files.exists(quota) && Files.exists(period)) {
        least = least(least, KernelFiles.number(quota), KernelFiles.number(period));
      }
    }
    for (Path group : place.v2()) {
      Path max = group.resolve("cpu.max");
      if (Files.exists(max)) {
        String[] words = KernelFiles.split(KernelFiles.text(max), " ", 2);
        if (!words[0].equals("max")) {
          least = least(least, decimal(max, words[0]), decimal(max, words[1]));
        }
      }
    }
    return least == Double.MAX_VALUE ? OptionalDouble.empty() : OptionalDouble.of(least);
  }

  private static double least(double before, double quota, double period) {
    return quota > 0 && period > 0 ? Math.min(before, quota / period) : before;
  }

  private static double decimal(Path file, String text) throws IOException {
    try {
      return Double.parseDouble(text);
    } catch (NumberFormatException e) {
      throw new IOException(file + " does not hold two numbers", e);
    }
  }
}
