package io.espalier.core.config.task;

/** The source of a task's status (docs/design/design.md#status-from-the-exit-code). */
public enum StatusSource {
  /** The line that the task writes to its status pipe, as in Bistro. */
  STATUS_LINE("status_line"),
  /** The exit code: 0 is done, anything else is error_backoff. */
  EXIT_CODE("exit_code");

  private final String label;

  StatusSource(String label) {
    this.label = label;
  }

  public String label() {
    return label;
  }
}
