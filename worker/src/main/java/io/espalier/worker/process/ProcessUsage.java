package io.espalier.worker.process;

import io.espalier.core.running.Usage;

/** What {@code /proc} tells about the use of one live process, and how amounts come together. */
final class ProcessUsage {
  private ProcessUsage() {}

  /**
   * Of the process itself, its CPU time with that of children it has waited for.
   *
   * @param pid 0: none
   */
  static Usage of(long pid) {
    if (pid <= 0) {
      return Usage.UNKNOWN;
    }
    String name = Long.toString(pid);
    return new Usage(
        ProcFs.stat(pid).map(ProcFs.Stat::cpuMillis).orElse(Usage.UNKNOWN_AMOUNT),
        ProcFs.peakMemory(name),
        ProcFs.field(name, "io", "read_bytes"),
        ProcFs.field(name, "io", "write_bytes"));
  }

  static Usage withPeak(Usage usage, long peak) {
    return new Usage(
        usage.cpuMillis(),
        Math.max(peak, usage.peakMemoryBytes()),
        usage.readBytes(),
        usage.writtenBytes());
  }

  /** The first where it knows something, else the second. */
  static Usage merged(Usage first, Usage second) {
    return new Usage(
        first.cpuMillis() >= 0 ? first.cpuMillis() : second.cpuMillis(),
        first.peakMemoryBytes() >= 0 ? first.peakMemoryBytes() : second.peakMemoryBytes(),
        first.readBytes() >= 0 ? first.readBytes() : second.readBytes(),
        first.writtenBytes() >= 0 ? first.writtenBytes() : second.writtenBytes());
  }
}
