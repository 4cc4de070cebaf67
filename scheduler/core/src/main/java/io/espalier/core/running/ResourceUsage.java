package io.espalier.core.running;

import java.util.List;

/**
 * The resources that an invocation has used, as far as its host can measure; {@link
 * #UNKNOWN_AMOUNT} otherwise.
 *
 * @param cpuMillis user and system time of all its processes
 * @param peakMemoryBytes peak memory
 * @param readBytes bytes read from storage
 * @param writtenBytes bytes written to storage
 * @param memoryBytes current memory; unknown once it has ended
 * @param gpus GPUs that it uses now, each as name and bus id; empty once it has ended
 */
public record ResourceUsage(
    long cpuMillis,
    long peakMemoryBytes,
    long readBytes,
    long writtenBytes,
    long memoryBytes,
    List<String> gpus) {
  public static final long UNKNOWN_AMOUNT = -1;

  /** The usage when nothing is known. */
  public static final ResourceUsage UNKNOWN = new ResourceUsage(-1, -1, -1, -1);

  public ResourceUsage {
    gpus = List.copyOf(gpus);
  }

  /** Creates the usage of an invocation that has ended. */
  public ResourceUsage(long cpuMillis, long peakMemoryBytes, long readBytes, long writtenBytes) {
    this(cpuMillis, peakMemoryBytes, readBytes, writtenBytes, UNKNOWN_AMOUNT, List.of());
  }
}
