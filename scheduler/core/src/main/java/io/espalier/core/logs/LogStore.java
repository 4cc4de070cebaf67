package io.espalier.core.logs;

/**
 * Keeps the output of tasks by line.
 *
 * <p>Line ids are {@code (epoch seconds << 32) | counter}, unique within a store and growing, also
 * over a restart within one second. Thread-safe. Appending never blocks on the disk for long; what
 * was appended is found by queries that begin after the append returned.
 */
public interface LogStore extends AutoCloseable {
  /** Stores a line and gives it an id. */
  void append(LogLine.Stream stream, String job, String node, long timeMillis, String text);

  LogPage query(LogQuery query);

  /** Deletes lines older than the instant, in chunks. */
  void prune(long beforeMillis);

  @Override
  void close();
}
