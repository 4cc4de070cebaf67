package io.espalier.core.status;

import org.jspecify.annotations.Nullable;

/**
 * The status of a task that runs for the first time. It says nothing of the task but when it was
 * started, so all that start in the same millisecond share one: with a million running tasks that
 * is what their statuses cost. Not thread-safe.
 */
public final class FirstRunStatusCache {
  private @Nullable TaskStatus newest;

  /** As {@link TaskTransitions} has it for a task that was never tried. */
  public TaskStatus at(long nowMillis) {
    TaskStatus status = newest;
    if (status == null || status.sinceMillis() != nowMillis) {
      status = TaskTransitions.firstStart(nowMillis);
      newest = status;
    }
    return status;
  }
}
