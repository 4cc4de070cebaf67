package io.espalier.worker.logs;

/**
 * Sizes of a {@link SegmentLogStore}, in bytes.
 *
 * @param block size at which a job's lines in memory become a block
 * @param segment size at which a segment is full
 * @param writeAhead size at which a new write-ahead file begins
 * @param waiting maximum size of lines that wait for the write-ahead file; beyond it the store
 *     reports that it has no room
 * @param memory maximum size of all lines in memory; beyond it the store reports that it has no
 *     room
 * @param most size of lines in memory beyond which lines are dropped
 * @param scanned maximum size of lines that one query reads
 */
public record LogLimits(
    long block, long segment, long writeAhead, long waiting, long memory, long most, long scanned) {
  public static final LogLimits DEFAULT =
      new LogLimits(
          256 << 10, 16 << 20, 32 << 20, 16 << 20, 32 << 20, 128 << 20, LogSearch.BYTES_PER_CALL);
}
