package io.espalier.worker.resources;

import io.espalier.core.running.ResourceUsage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Measures live tasks: with control groups by the counters of the group, which miss nothing;
 * without them by the first process and its children in {@code /proc}, which misses processes that
 * have detached themselves. Thread-safe.
 */
public final class TaskUsageReader {
  /** A task with more processes is measured only in part. */
  private static final int MAX_PROCESSES = 64;

  /** Linux reports hundredths of a second to programs, on all architectures we know. */
  private static final long MILLIS_PER_TICK = 10;

  private static final long PAGE_BYTES = 4096;

  private final Path proc;

  public TaskUsageReader() {
    this(Path.of("/"));
  }

  /**
   * @param root parent of {@code proc}
   */
  TaskUsageReader(Path root) {
    this.proc = root.resolve("proc");
  }

  /**
   * Returns what a group has used, even after its last process has ended, as long as the group
   * exists.
   *
   * @param groups groups of one task
   */
  public static ResourceUsage ofCgroups(List<Path> groups) {
    long cpu = -1;
    long memory = -1;
    long peak = -1;
    long[] io = {-1, -1};
    for (Path group : groups) {
      cpu = Math.max(cpu, divided(number(group.resolve("cpuacct.usage")), 1_000_000));
      cpu = Math.max(cpu, divided(keyed(group.resolve("cpu.stat"), "usage_usec"), 1_000));
      memory = Math.max(memory, number(group.resolve("memory.usage_in_bytes")));
      memory = Math.max(memory, number(group.resolve("memory.current")));
      peak = Math.max(peak, number(group.resolve("memory.max_usage_in_bytes")));
      peak = Math.max(peak, number(group.resolve("memory.peak")));
      blockIo(group.resolve("blkio.throttle.io_service_bytes"), io);
      ioStat(group.resolve("io.stat"), io);
    }
    return new ResourceUsage(cpu, peak, io[0], io[1], memory, List.of());
  }

  private static long divided(long value, long by) {
    return value < 0 ? value : value / by;
  }

  private static long number(Path file) {
    if (!Files.exists(file)) {
      return -1;
    }
    try {
      return KernelFiles.wholeNumber(file);
    } catch (IOException e) {
      return -1;
    }
  }

  private static List<String> lines(Path file) {
    if (!Files.exists(file)) {
      return List.of();
    }
    try {
      return KernelFiles.text(file).lines().toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  private static long keyed(Path file, String key) {
    for (String line : lines(file)) {
      if (line.startsWith(key + " ")) {
        return parsed(line.substring(key.length() + 1));
      }
    }
    return -1;
  }

  private static long parsed(String number) {
    try {
      return Long.parseLong(number.strip());
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  /** Version 1: {@code 8:0 Read 4096}, one line per disk and direction. */
  private static void blockIo(Path file, long[] io) {
    for (String line : lines(file)) {
      String[] words = line.split(" ", 4);
      int direction = words.length != 3 ? -1 : List.of("Read", "Write").indexOf(words[1]);
      if (direction >= 0) {
        add(io, direction, parsed(words[2]));
      }
    }
  }

  /** Version 2: {@code 8:0 rbytes=4096 wbytes=0 rios=...}, one line per disk. */
  private static void ioStat(Path file, long[] io) {
    for (String line : lines(file)) {
      for (String word : line.split(" ", -1)) {
        if (word.startsWith("rbytes=") || word.startsWith("wbytes=")) {
          add(io, word.charAt(0) == 'r' ? 0 : 1, parsed(word.substring("rbytes=".length())));
        }
      }
    }
  }

  private static void add(long[] io, int direction, long bytes) {
    if (bytes >= 0) {
      io[direction] = Math.max(0, io[direction]) + bytes;
    }
  }

  /** Returns all processes of the groups of one task, each once. */
  public static Set<Long> pidsOf(List<Path> groups) {
    Set<Long> pids = new LinkedHashSet<>();
    for (Path group : groups) {
      for (String line : lines(group.resolve("cgroup.procs"))) {
        long pid = parsed(line);
        if (pid > 0) {
          pids.add(pid);
        }
      }
      if (!pids.isEmpty()) {
        return pids;
      }
    }
    return pids;
  }

  /** Returns a process and its descendants, as far as they can be found cheaply. */
  public Set<Long> family(long pid) {
    Set<Long> pids = new LinkedHashSet<>();
    Deque<Long> toVisit = new ArrayDeque<>(List.of(pid));
    while (!toVisit.isEmpty() && pids.size() < MAX_PROCESSES) {
      long next = toVisit.remove();
      if (pids.add(next)) {
        toVisit.addAll(children(next));
      }
    }
    return pids;
  }

  private List<Long> children(long pid) {
    Path file =
        proc.resolve(Long.toString(pid)).resolve("task").resolve(pid + "").resolve("children");
    List<Long> children = new ArrayList<>();
    try {
      for (String word : KernelFiles.text(file).split(" ", -1)) {
        long child = parsed(word);
        if (child > 0) {
          children.add(child);
        }
      }
    } catch (IOException e) {
      // The process is gone, or the kernel does not list children.
      return children;
    }
    return children;
  }

  /** Returns what a process and its children have used until now, without those that have ended. */
  public ResourceUsage ofProcesses(long pid) {
    Set<Long> pids = family(pid);
    long ticks = -1;
    long memory = -1;
    long[] io = {-1, -1};
    for (long each : pids) {
      String[] fields = stat(each);
      if (fields == null) {
        continue;
      }
      // utime, stime, and those of reaped children; resident pages (fields 14 to 17 and 24).
      long own = parsed(fields[11]) + parsed(fields[12]) + parsed(fields[13]) + parsed(fields[14]);
      ticks = Math.max(0, ticks) + own;
      memory = Math.max(0, memory) + parsed(fields[21]) * PAGE_BYTES;
      Path counters = proc.resolve(Long.toString(each)).resolve("io");
      for (String line : lines(counters)) {
        if (line.startsWith("read_bytes: ")) {
          add(io, 0, parsed(line.substring("read_bytes: ".length())));
        } else if (line.startsWith("write_bytes: ")) {
          add(io, 1, parsed(line.substring("write_bytes: ".length())));
        }
      }
    }
    return new ResourceUsage(
        ticks < 0 ? -1 : ticks * MILLIS_PER_TICK, memory, io[0], io[1], memory, List.of());
  }

  /** Returns the fields after the name, or null when the process is gone. */
  private String @Nullable [] stat(long pid) {
    try {
      String text = KernelFiles.text(proc.resolve(Long.toString(pid)).resolve("stat"));
      // The name is in parentheses and may itself contain blanks and parentheses.
      String[] fields = text.substring(text.lastIndexOf(')') + 1).strip().split(" ", 24);
      return fields.length < 23 ? null : fields;
    } catch (IOException e) {
      return null;
    }
  }
}
