package io.espalier.worker.resources;

/**
 * One graphics card.
 *
 * @param busId such as {@code 00000000:03:00.0}; names it on its host
 * @param memoryMb in all; 0: not known
 * @param usedMemoryMb by all processes; 0: not known
 * @param utilization 0 to 1; 0: not known
 */
public record Gpu(
    String busId, String name, double memoryMb, double usedMemoryMb, double utilization) {
  /** What a worker offers of it: all of its computing power. */
  public static final double COMPUTE = 1.0;
}
