package io.espalier.worker.process;

import io.espalier.core.running.ResourceUsage;
import io.espalier.worker.cgroup.TaskGroup;
import io.espalier.worker.resources.TaskUsageReader;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What a task uses: by its process, and by its control groups while they are there. Of the
 * supervisor's thread, but for {@link #sample}.
 */
final class TaskUsage {
  private final AtomicLong cpuSeen = new AtomicLong(ResourceUsage.UNKNOWN_AMOUNT);
  private final AtomicLong peakSeen = new AtomicLong(ResourceUsage.UNKNOWN_AMOUNT);
  private @Nullable ResourceUsage used;
  private boolean outOfMemory;

  /** Looks at what it has used until its end; the groups must still be there. */
  void collect(@Nullable TaskGroup group, ProcessBackend.@Nullable Exit exit) {
    if (group != null) {
      outOfMemory |= group.wasOutOfMemory();
    }
    ResourceUsage process = exit == null ? ResourceUsage.UNKNOWN : exit.usage();
    // The samples knew children that nobody waited for; what the kernel says at the end does not.
    ResourceUsage usage = ProcessUsage.atLeast(process, cpuSeen.get(), peakSeen.get());
    used = group == null ? usage : ProcessUsage.merged(group.usage(), usage);
  }

  /** What it had used at the last look; looks now if there was none. */
  ResourceUsage used(@Nullable TaskGroup group, ProcessBackend.@Nullable Exit exit) {
    ResourceUsage known = used;
    if (known == null) {
      collect(group, exit);
      known = used;
    }
    return known == null ? ResourceUsage.UNKNOWN : known;
  }

  /** Whether any look has seen that the kernel ended something of it for its memory. */
  boolean wasOutOfMemory() {
    return outOfMemory;
  }

  /** What it has used so far, and holds; any thread. Remembers the most of both. */
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
