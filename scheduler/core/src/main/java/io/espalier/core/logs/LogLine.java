package io.espalier.core.logs;

import java.util.Optional;

/**
 * A line of a task's output.
 *
 * @param id id that grows with time; see {@link LogStore} for its form
 * @param invocation token of the attempt that wrote it; empty: unknown
 * @param timeMillis epoch milliseconds
 * @param text text, with its line end if the task wrote one
 */
public record LogLine(
    long id,
    Stream stream,
    String job,
    String node,
    String invocation,
    long timeMillis,
    String text) {

  /** Creates a line of an unknown attempt. */
  public LogLine(long id, Stream stream, String job, String node, long timeMillis, String text) {
    this(id, stream, job, node, "", timeMillis, text);
  }

  /** Creates the line for an entry that was stored with this id. */
  public static LogLine of(long id, LogEntry entry) {
    return new LogLine(
        id,
        entry.stream(),
        entry.job(),
        entry.node(),
        entry.invocation(),
        entry.timeMillis(),
        entry.text());
  }

  /** The source of a line. */
  public enum Stream {
    STDOUT("stdout"),
    STDERR("stderr"),
    /** Events of the task's life, one JSON object each (docs/design/bistro.md#events-of-a-task). */
    STATUSES("statuses");

    private final String label;

    Stream(String label) {
      this.label = label;
    }

    /** The value of {@code log_type}. */
    public String label() {
      return label;
    }

    /** The stream with that label. */
    public static Optional<Stream> of(String label) {
      for (Stream stream : values()) {
        if (stream.label.equals(label)) {
          return Optional.of(stream);
        }
      }
      return Optional.empty();
    }
  }
}
