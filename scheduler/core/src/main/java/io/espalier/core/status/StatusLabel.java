package io.espalier.core.status;

import static io.espalier.core.status.TaskStatus.AVOIDED;
import static io.espalier.core.status.TaskStatus.DISABLED;
import static io.espalier.core.status.TaskStatus.DOES_NOT_ADVANCE_BACKOFF;
import static io.espalier.core.status.TaskStatus.HAS_SAVED_BACKOFF;
import static io.espalier.core.status.TaskStatus.OVERWRITEABLE;
import static io.espalier.core.status.TaskStatus.USES_BACKOFF;

import java.util.Optional;

/**
 * The names of task statuses, as used by the API, the CLI and tasks
 * (docs/design/bistro.md#named-statuses).
 */
public enum StatusLabel {
  UNSTARTED("unstarted"),
  RUNNING("running"),
  DONE("done"),
  INCOMPLETE("incomplete"),
  INCOMPLETE_BACKOFF("incomplete_backoff"),
  ERROR("error"),
  ERROR_BACKOFF("error_backoff"),
  FAILED("failed"),
  CANCELLED("cancelled"),
  NEVER_STARTED("never_started"),
  WAS_NOT_RUNNING("was_not_running"),
  LOST("lost"),
  INTERRUPTED("interrupted"),
  AVOIDED_NODE("avoided"),
  DISABLED_NODE("disabled");

  private final String word;

  StatusLabel(String word) {
    this.word = word;
  }

  /** The name, in lower case with underscores. */
  public String word() {
    return word;
  }

  /** The label with that name. */
  public static Optional<StatusLabel> of(String word) {
    for (StatusLabel label : values()) {
      if (label.word.equals(word)) {
        return Optional.of(label);
      }
    }
    return Optional.empty();
  }

  /**
   * The label for a task's bits. Histograms clear {@code USES_BACKOFF} once a wait is over, so
   * there a task that waited has the label without it.
   */
  public static StatusLabel of(int bits) {
    if ((bits & TaskStatus.Main.RUNNING.bit()) != 0) {
      return RUNNING;
    }
    if ((bits & TaskStatus.Main.DONE.bit()) != 0) {
      return DONE;
    }
    if ((bits & TaskStatus.Main.FAILED.bit()) != 0) {
      return FAILED;
    }
    if ((bits & TaskStatus.Main.CANCELLED.bit()) != 0) {
      return CANCELLED;
    }
    if ((bits & DISABLED) != 0) {
      return DISABLED_NODE;
    }
    if ((bits & AVOIDED) != 0) {
      return AVOIDED_NODE;
    }
    if ((bits & TaskStatus.Main.INCOMPLETE.bit()) != 0) {
      return ofIncomplete(bits);
    }
    return (bits & TaskStatus.Main.ERROR.bit()) != 0 ? ofError(bits) : UNSTARTED;
  }

  private static StatusLabel ofIncomplete(int bits) {
    if ((bits & USES_BACKOFF) != 0) {
      return INCOMPLETE_BACKOFF;
    }
    return (bits & DOES_NOT_ADVANCE_BACKOFF) != 0 ? INTERRUPTED : INCOMPLETE;
  }

  private static StatusLabel ofError(int bits) {
    if ((bits & OVERWRITEABLE) != 0) {
      return (bits & HAS_SAVED_BACKOFF) != 0 ? LOST : WAS_NOT_RUNNING;
    }
    if ((bits & HAS_SAVED_BACKOFF) != 0) {
      return NEVER_STARTED;
    }
    return (bits & USES_BACKOFF) != 0 ? ERROR_BACKOFF : ERROR;
  }
}
