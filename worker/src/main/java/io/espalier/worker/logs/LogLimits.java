package io.espalier.worker.logs;

/**
 * Sizes of a {@link SegmentLogStore}, in bytes.
 *
 * @param block a job's lines in memory become a block at this size
 * @param segment a segment is full at this size
 * @param writeAhead a new file is begun at this size
 * @param waiting lines that wait to be written to the write-ahead file; beyond it there is no room
 * @param memory lines of all jobs in memory; beyond it there is no room
 * @param most lines in memory beyond which lines are dropped
 * @param scanned lines that one query reads
 */
public record LogLimits(
    long block,
    long segment,
    long writeAhead,
    long waiting,
    long memory,
    long most,
    long scanned) {
  public static final LogLimits DEFAULT =
      new LogLimits(
          256 << 10,
          16 << 20,
          32 << 20,
          16 << 20,
          32 << 20,
          128 << 20,
          LogSearch.BYTES_PER_CALL);
}
