package io.espalier.core.logs;

/**
 * How a log store does.
 *
 * @param lines appended since it was opened
 * @param textBytes of them, in UTF-8
 * @param droppedLines that were appended and could not be kept
 * @param bufferedBytes in memory, not yet in files that are read by queries
 * @param storedBytes on the disk
 * @param files on the disk
 * @param writeNanos spent writing
 */
public record LogStats(
    long lines,
    long textBytes,
    long droppedLines,
    long bufferedBytes,
    long storedBytes,
    long files,
    long writeNanos) {
  public static final LogStats NONE = new LogStats(0, 0, 0, 0, 0, 0, 0);
}
