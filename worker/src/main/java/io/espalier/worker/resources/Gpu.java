package io.espalier.worker.resources;

/**
 * One graphics card.
 *
 * @param busId such as {@code 00000000:03:00.0}; unique on its host
 * @param memoryMb total; 0: unknown
 * @param usedMemoryMb by all processes; 0: unknown
 * @param utilization 0 to 1; 0: unknown
 */
public record Gpu(
    String busId, String name, double memoryMb, double usedMemoryMb, double utilization) {
  /** The capacity that a worker offers for each card: all of its computing power. */
  public static final double COMPUTE = 1.0;
}
