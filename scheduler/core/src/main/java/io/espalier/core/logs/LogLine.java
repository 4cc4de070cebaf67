package io.espalier.core.logs;

/**
 * A line of a task's output.
 *
 * @param id grows with time; see {@link LogStore} for its form
 * @param timeMillis epoch milliseconds
 * @param text with its line end when the task wrote one
 */
public record LogLine(
    long id, Stream stream, String job, String node, long timeMillis, String text) {

  /** Where the line came from. */
  public enum Stream {
    STDOUT("stdout"),
    STDERR("stderr"),
    /** Events of the task's life, one JSON object each (behaviour 7.4). */
    STATUSES("statuses");

    private final String label;

    Stream(String label) {
      this.label = label;
    }

    /** The word of {@code log_type}. */
    public String label() {
      return label;
    }
  }
}
