package io.espalier.worker.process;

import io.espalier.core.running.ResourceUsage;
import io.espalier.worker.cgroup.TaskGroup;

/** Combines amounts from several sources. */
final class ProcessUsage {
  private ProcessUsage() {}

  /** Returns the usage with CPU time and memory peak raised to at least these values. */
  static ResourceUsage atLeast(ResourceUsage usage, long cpuMillis, long peak) {
    return new ResourceUsage(
        Math.max(cpuMillis, usage.cpuMillis()),
        Math.max(peak, usage.peakMemoryBytes()),
        usage.readBytes(),
        usage.writtenBytes(),
        usage.memoryBytes(),
        usage.gpus());
  }

  /**
   * Returns the usage of a live task: from its group, and from its processes where the group does
   * not count.
   */
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

  /** Returns the known amounts of the first, supplemented by those of the second. */
  static ResourceUsage merged(ResourceUsage first, ResourceUsage second) {
    return new ResourceUsage(
        first.cpuMillis() >= 0 ? first.cpuMillis() : second.cpuMillis(),
        first.peakMemoryBytes() >= 0 ? first.peakMemoryBytes() : second.peakMemoryBytes(),
        first.readBytes() >= 0 ? first.readBytes() : second.readBytes(),
        first.writtenBytes() >= 0 ? first.writtenBytes() : second.writtenBytes());
  }
}
