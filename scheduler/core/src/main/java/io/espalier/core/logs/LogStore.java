package io.espalier.core.logs;

import java.util.Optional;

/**
 * Stores the output of tasks by line.
 *
 * <p>Line ids are at least {@code epoch seconds << 32}, unique within a store and ascending in the
 * order of appending, even over a restart within one second and when the clock goes back.
 * Thread-safe. Appending never waits for the disk; a query that begins after an append has returned
 * finds that line. A caller that can delay output checks {@link #hasRoom} first.
 */
public interface LogStore extends AutoCloseable {
  /**
   * Stores a line and assigns an id to it. Never blocks and never fails: when the buffer is full it
   * still accepts lines up to a multiple of its bound; only lines beyond that are dropped, counted
   * and reported as a problem.
   */
  void append(LogEntry entry);

  /** Appends a line of an unknown attempt. */
  default void append(
      LogLine.Stream stream, String job, String node, long timeMillis, String text) {
    append(new LogEntry(stream, job, node, "", timeMillis, text));
  }

  /**
   * Returns true when output may be read from tasks now; false while the data that waits for the
   * disk has reached its bound: tasks must then wait, as with their quota. Fast.
   */
  default boolean hasRoom() {
    return true;
  }

  /** The redactor for a job's output, according to the policy in force. */
  default Redactor redactor(String job) {
    return Redactor.NONE;
  }

  /** Applies a new policy for retention and redaction. */
  void apply(LogPolicy policy);

  /**
   * Returns a page of lines, within bounded work; blocks on the disk.
   *
   * @throws LogQueryException for a regular expression that is invalid, or takes too many steps
   */
  LogPage query(LogQuery query);

  /** Deletes what the policy does not retain, in small pieces that delay no other call. */
  void prune(long nowMillis);

  /** A current problem, such as a full disk; it disappears when the cause does. */
  default Optional<String> problem() {
    return Optional.empty();
  }

  /** Statistics for metrics. */
  default LogStats stats() {
    return LogStats.NONE;
  }

  @Override
  void close();
}
