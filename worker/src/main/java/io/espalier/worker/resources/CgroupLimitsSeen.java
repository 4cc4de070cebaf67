package io.espalier.worker.resources;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the limits that the control groups of a place set, in both versions; empty where there is
 * none. Lists of groups go from the own group upwards.
 */
final class CgroupLimitsSeen {
  /** Version 1 expresses "no limit" by a number close to the largest; no host has an exbibyte. */
  private static final long NO_LIMIT = 1L << 60;

  private static final Pattern FIRST_IDLE_CACHE =
      Pattern.compile("(?m)^total_inactive_file (\\d{1,18})$");
  private static final Pattern IDLE_CACHE = Pattern.compile("(?m)^inactive_file (\\d{1,18})$");

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

  /** Returns the smallest memory limit in bytes that applies to processes of the own group. */
  static OptionalLong memoryBytes(CgroupPlace place) throws IOException {
    return memoryLimits(place).values().stream().mapToLong(limit -> limit).min();
  }

  /**
   * Returns how many bytes processes of the own group can still get; empty: there is no limit. The
   * cache of files that was not used lately is counted as free, because the kernel drops it.
   */
  static OptionalLong memoryLeftBytes(CgroupPlace place) throws IOException {
    long least = Long.MAX_VALUE;
    for (Map.Entry<Path, Long> limited : memoryLimits(place).entrySet()) {
      least = Math.min(least, Math.max(0, limited.getValue() - memoryUsed(limited.getKey())));
    }
    return least == Long.MAX_VALUE ? OptionalLong.empty() : OptionalLong.of(least);
  }

  /**
   * Returns the limits in bytes by group. In version 1 a limit applies to the groups below it only
   * from the top-most group with {@code memory.use_hierarchy} on.
   */
  private static Map<Path, Long> memoryLimits(CgroupPlace place) throws IOException {
    Map<Path, Long> limits = new LinkedHashMap<>();
    List<Path> groups = place.of("memory");
    int top = -1;
    for (int i = 0; i < groups.size(); i++) {
      Path hierarchy = groups.get(i).resolve("memory.use_hierarchy");
      if (Files.exists(hierarchy) && KernelFiles.wholeNumber(hierarchy) == 1) {
        top = i;
      }
    }
    for (int i = 0; i <= top; i++) {
      put(limits, groups.get(i), "memory.limit_in_bytes");
    }
    for (Path group : place.v2()) {
      put(limits, group, "memory.max");
    }
    return limits;
  }

  private static void put(Map<Path, Long> limits, Path group, String file) throws IOException {
    Path limit = group.resolve(file);
    if (Files.exists(limit) && !KernelFiles.text(limit).equals("max")) {
      long bytes = KernelFiles.wholeNumber(limit);
      if (bytes >= 0 && bytes < NO_LIMIT) {
        limits.put(group, bytes);
      }
    }
  }

  private static long memoryUsed(Path group) throws IOException {
    Path first = group.resolve("memory.usage_in_bytes");
    boolean isFirst = Files.exists(first);
    long used = KernelFiles.wholeNumber(isFirst ? first : group.resolve("memory.current"));
    Matcher idle =
        (isFirst ? FIRST_IDLE_CACHE : IDLE_CACHE)
            .matcher(KernelFiles.text(group.resolve("memory.stat")));
    return idle.find() ? used - Long.parseLong(idle.group(1)) : used;
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
