package io.espalier.core.logs;

/**
 * Statistics of a log store.
 *
 * @param lines lines appended since it was opened
 * @param textBytes size of their text, in UTF-8
 * @param droppedLines appended lines that were lost
 * @param bufferedBytes bytes in memory, not yet in files that queries read
 * @param storedBytes bytes on disk
 * @param files files on disk
 * @param writeNanos time spent writing
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
