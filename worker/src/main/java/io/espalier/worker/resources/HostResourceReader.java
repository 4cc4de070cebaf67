package io.espalier.worker.resources;

import io.espalier.core.config.task.SubprocessOptions.Cgroups;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Determines what a worker may use of its host (docs/design/bistro.md#measuring): the capacity of
 * the host, limited by the control groups of the worker and so of its tasks. It reads a few small
 * files and runs the cards' tool; cheap enough for once a minute. Thread-safe.
 */
public final class HostResourceReader {
  private static final Pattern MEM_TOTAL =
      Pattern.compile("(?m)^(?:Node \\d+ )?MemTotal:\\s*(\\d+) kB$");
  private static final long KB_PER_MB = 1024;

  private final Path root;
  private final NvidiaSmi cards;

  /**
   * @param root {@code /}, or its substitute in a test
   */
  public HostResourceReader(Path root, NvidiaSmi cards) {
    this.root = root;
    this.cards = cards;
  }

  /** Returns a reader of this host. */
  public static HostResourceReader ofThisHost(NvidiaSmi cards) {
    return new HostResourceReader(Path.of("/"), cards);
  }

  /** Reads the resources available to the groups of this process. */
  public HostResources read() {
    return read(CgroupPlace.ofSelf(root));
  }

  /** Reads the resources available to the groups below which tasks get theirs. */
  public HostResources read(Cgroups configured) {
    return read(CgroupPlace.of(configured));
  }

  HostResources read(CgroupPlace place) {
    List<String> notes = new ArrayList<>();
    int cores = cores(place, notes);
    long memory = memoryMb(place, notes);
    List<Gpu> gpus = List.of();
    try {
      gpus = cards.read().gpus();
    } catch (IOException e) {
      notes.add("graphics cards are not known: " + e.getMessage());
    }
    return new HostResources(cores, memory, gpus, notes);
  }

  private int cores(CgroupPlace place, List<String> notes) {
    int cores = 0;
    try {
      Set<Integer> own = CgroupLimitsSeen.cpus(place);
      cores = own.size();
    } catch (IOException e) {
      notes.add("cpuset is not known: " + e.getMessage());
    }
    try {
      cores = cores == 0 ? onlineCpus() : cores;
    } catch (IOException e) {
      notes.add("the number of CPUs is not known: " + e.getMessage());
    }
    try {
      OptionalDouble quota = CgroupLimitsSeen.cores(place);
      if (quota.isPresent() && (cores == 0 || quota.getAsDouble() < cores)) {
        // Less than one core is still useful; 0 would mean unknown.
        cores = Math.max(1, (int) Math.min(quota.getAsDouble(), Integer.MAX_VALUE));
      }
    } catch (IOException e) {
      notes.add("the CPU quota is not known: " + e.getMessage());
    }
    return cores;
  }

  private int onlineCpus() throws IOException {
    Path online = root.resolve("sys/devices/system/cpu/online");
    if (Files.exists(online)) {
      return KernelFiles.intSet(KernelFiles.text(online)).size();
    }
    long found =
        KernelFiles.text(root.resolve("proc/cpuinfo"))
            .lines()
            .filter(line -> line.startsWith("processor"))
            .count();
    return (int) found;
  }

  private long memoryMb(CgroupPlace place, List<String> notes) {
    long memoryKb = 0;
    try {
      for (int node : CgroupLimitsSeen.memoryNodes(place)) {
        memoryKb += memoryKb(root.resolve("sys/devices/system/node/node" + node + "/meminfo"));
      }
    } catch (IOException e) {
      memoryKb = 0;
      notes.add("memory of NUMA nodes is not known: " + e.getMessage());
    }
    try {
      memoryKb = memoryKb == 0 ? memoryKb(root.resolve("proc/meminfo")) : memoryKb;
    } catch (IOException e) {
      notes.add("the memory of the host is not known: " + e.getMessage());
    }
    long memory = memoryKb / KB_PER_MB;
    try {
      OptionalLong limit = CgroupLimitsSeen.memoryBytes(place);
      if (limit.isPresent()) {
        long limitMb = limit.getAsLong() / (KB_PER_MB * KB_PER_MB);
        memory = memory == 0 ? limitMb : Math.min(memory, limitMb);
      }
    } catch (IOException e) {
      notes.add("the memory limit is not known: " + e.getMessage());
    }
    return memory;
  }

  private static long memoryKb(Path meminfo) throws IOException {
    Matcher total = MEM_TOTAL.matcher(KernelFiles.text(meminfo));
    if (!total.find()) {
      throw new IOException(meminfo + " has no MemTotal");
    }
    return Long.parseLong(total.group(1));
  }
}
