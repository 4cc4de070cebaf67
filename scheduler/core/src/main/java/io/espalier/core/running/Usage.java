package io.espalier.core.running;

/**
 * What an invocation has used, as far as its host can tell; {@link #UNKNOWN_AMOUNT} for what it
 * cannot.
 *
 * @param cpuMillis user and system time of all its processes
 * @param peakMemoryBytes the most memory it held at once
 * @param readBytes read from storage
 * @param writtenBytes written to storage
 */
public record Usage(long cpuMillis, long peakMemoryBytes, long readBytes, long writtenBytes) {
  public static final long UNKNOWN_AMOUNT = -1;

  /** Nothing is known. */
  public static final Usage UNKNOWN = new Usage(-1, -1, -1, -1);
}
