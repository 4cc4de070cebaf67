package io.espalier.core.status;

import org.jspecify.annotations.Nullable;

/**
 * What an event did to a task.
 *
 * @param status the status it has now; null: never tried
 * @param changed whether that is another one than before, to be stored
 * @param warning why the event was out of place and changed nothing, for the log
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
