package io.espalier.core.running;

import java.util.List;

/**
 * What an invocation has used, as far as its host can tell; {@link #UNKNOWN_AMOUNT} for what it
 * cannot.
 *
 * @param cpuMillis user and system time of all its processes
 * @param peakMemoryBytes the most memory it held at once
 * @param readBytes read from storage
 * @param writtenBytes written to storage
 * @param memoryBytes what it holds now; unknown once it has ended
 * @param gpus the cards that it uses now, each as name and bus id; empty once it has ended
 */
public record ResourceUsage(
    long cpuMillis,
    long peakMemoryBytes,
    long readBytes,
    long writtenBytes,
    long memoryBytes,
    List<String> gpus) {
  public static final long UNKNOWN_AMOUNT = -1;

  /** Nothing is known. */
  public static final ResourceUsage UNKNOWN = new ResourceUsage(-1, -1, -1, -1);

  public ResourceUsage {
    gpus = List.copyOf(gpus);
  }

  /** Of an invocation that has ended. */
  public ResourceUsage(long cpuMillis, long peakMemoryBytes, long readBytes, long writtenBytes) {
    this(cpuMillis, peakMemoryBytes, readBytes, writtenBytes, UNKNOWN_AMOUNT, List.of());
  }
}
