package io.espalier.core.status;

import org.jspecify.annotations.Nullable;

/**
 * The result of applying an event to a task.
 *
 * @param status the new status; null: never tried
 * @param changed whether the status differs from the one before and must be stored
 * @param warning why the event did not apply and changed nothing, for the log
 */
public record Transition(@Nullable TaskStatus status, boolean changed, @Nullable String warning) {

  static Transition to(TaskStatus next) {
    return new Transition(next, true, null);
  }

  static Transition none(@Nullable TaskStatus still) {
    return new Transition(still, false, null);
  }

  static Transition refused(@Nullable TaskStatus still, String warning) {
    return new Transition(still, false, warning);
  }
}
