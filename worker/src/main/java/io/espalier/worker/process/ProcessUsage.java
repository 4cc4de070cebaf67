package io.espalier.worker.process;

import io.espalier.core.running.ResourceUsage;
import io.espalier.worker.cgroup.TaskGroup;

/** How amounts from several sources come together. */
final class ProcessUsage {
  private ProcessUsage() {}

  /** At least this much processor time, and at least this peak of memory. */
  static ResourceUsage atLeast(ResourceUsage usage, long cpuMillis, long peak) {
    return new ResourceUsage(
        Math.max(cpuMillis, usage.cpuMillis()),
        Math.max(peak, usage.peakMemoryBytes()),
        usage.readBytes(),
        usage.writtenBytes(),
        usage.memoryBytes(),
        usage.gpus());
  }

  /** What a group counts of a live task, and of what it does not count what its processes show. */
  static ResourceUsage live(TaskGroup group, ResourceUsage processes) {
    ResourceUsage merged = merged(group.usage(), processes);
    long memory = group.memoryBytes();
    return new ResourceUsage(
        merged.cpuMillis(),
        merged.peakMemoryBytes(),
        merged.readBytes(),
        merged.writtenBytes(),
        memory >= 0 ? memory : processes.memoryBytes(),
        processes.gpus());
  }

  /** The first where it knows something, else the second. */
  static ResourceUsage merged(ResourceUsage first, ResourceUsage second) {
    return new ResourceUsage(
        first.cpuMillis() >= 0 ? first.cpuMillis() : second.cpuMillis(),
        first.peakMemoryBytes() >= 0 ? first.peakMemoryBytes() : second.peakMemoryBytes(),
        first.readBytes() >= 0 ? first.readBytes() : second.readBytes(),
        first.writtenBytes() >= 0 ? first.writtenBytes() : second.writtenBytes());
  }
}
