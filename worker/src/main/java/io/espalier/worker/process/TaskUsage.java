package io.espalier.worker.process;

import io.espalier.core.running.ResourceUsage;
import io.espalier.worker.cgroup.TaskGroup;
import io.espalier.worker.process.os.ProcFs;
import io.espalier.worker.process.spawn.ProcessBackend;
import io.espalier.worker.resources.TaskUsageReader;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Measures what a task uses, through its process, and through its control groups while they exist.
 * Confined to the supervisor's thread, except for {@link #sample}.
 */
final class TaskUsage {
  private final AtomicLong cpuSeen = new AtomicLong(ResourceUsage.UNKNOWN_AMOUNT);
  private final AtomicLong peakSeen = new AtomicLong(ResourceUsage.UNKNOWN_AMOUNT);
  private @Nullable ResourceUsage used;
  private boolean outOfMemory;

  /** Reads the total usage at the end; the groups must still exist. */
  void collect(@Nullable TaskGroup group, ProcessBackend.@Nullable Exit exit) {
    if (group != null) {
      outOfMemory |= group.wasOutOfMemory();
    }
    ResourceUsage process = exit == null ? ResourceUsage.UNKNOWN : exit.usage();
    // The samples included children that nobody waited for; the kernel's final numbers do not.
    ResourceUsage usage = ProcessUsage.atLeast(process, cpuSeen.get(), peakSeen.get());
    used = group == null ? usage : ProcessUsage.merged(group.usage(), usage);
  }

  /** Returns the usage of the last reading; reads it now if there was none. */
  ResourceUsage used(@Nullable TaskGroup group, ProcessBackend.@Nullable Exit exit) {
    ResourceUsage known = used;
    if (known == null) {
      collect(group, exit);
      known = used;
    }
    return known == null ? ResourceUsage.UNKNOWN : known;
  }

  /**
   * Returns whether any reading has shown that the kernel killed one of its processes for lack of
   * memory.
   */
  boolean wasOutOfMemory() {
    return outOfMemory;
  }

  /**
   * Returns what it has used so far and uses now, and remembers the maximum of both; safe from any
   * thread.
   */
  ResourceUsage sample(TaskUsageReader reader, long pid, @Nullable TaskGroup group) {
    ResourceUsage seen = reader.ofProcesses(pid);
    long high = Math.max(seen.peakMemoryBytes(), ProcFs.peakMemory(Long.toString(pid)));
    seen =
        ProcessUsage.atLeast(
            seen,
            cpuSeen.accumulateAndGet(seen.cpuMillis(), Math::max),
            peakSeen.accumulateAndGet(high, Math::max));
    return group == null ? seen : ProcessUsage.live(group, seen);
  }
}
