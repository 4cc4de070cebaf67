package io.espalier.core.logs;

import java.util.Optional;

/**
 * Keeps the output of tasks by line.
 *
 * <p>Line ids are at least {@code epoch seconds << 32}, unique within a store and growing in the
 * order of appending, also over a restart within one second and when the clock goes back.
 * Thread-safe. Appending never waits for the disk; what was appended is found by queries that begin
 * after the append returned. Whoever can hold output back asks {@link #hasRoom} first.
 */
public interface LogStore extends AutoCloseable {
  /**
   * Stores a line and gives it an id. Never blocks and never fails: without room it still takes the
   * line, up to a multiple of its bound; only what goes beyond that is dropped, counted and told as
   * a problem.
   */
  void append(LogEntry entry);

  /** A line of an attempt that is not known. */
  default void append(
      LogLine.Stream stream, String job, String node, long timeMillis, String text) {
    append(new LogEntry(stream, job, node, "", timeMillis, text));
  }

  /**
   * Whether output should be taken from tasks now. False while what waits for the disk has reached
   * its bound: tasks must wait then, as with their quota. Cheap.
   */
  default boolean hasRoom() {
    return true;
  }

  /** Hides the secrets of a job's output, as the policy in force says. */
  default Redactor redactor(String job) {
    return Redactor.NONE;
  }

  /** What is kept and hidden from now on. */
  void apply(LogPolicy policy);

  /**
   * A page of lines, within bounded work; blocks on the disk.
   *
   * @throws LogQueryException for a regular expression that is none, or takes too many steps
   */
  LogPage query(LogQuery query);

  /** Deletes what the policy does not keep, in pieces that nobody has to wait for. */
  void prune(long nowMillis);

  /** What is wrong now, such as a full disk; it goes away by itself when that ends. */
  default Optional<String> problem() {
    return Optional.empty();
  }

  /** Numbers for metrics. */
  default LogStats stats() {
    return LogStats.NONE;
  }

  @Override
  void close();
}
