package io.espalier.core.status;

import org.jspecify.annotations.Nullable;

/**
 * Creates the statuses of tasks that run for the first time. Such a status contains only the start
 * time, so all tasks started in the same millisecond share one object, which saves memory with a
 * million running tasks. Not thread-safe.
 */
public final class FirstRunStatusCache {
  private @Nullable TaskStatus newest;

  /** The status that {@link TaskTransitions} gives to a started task that was never tried. */
  public TaskStatus at(long nowMillis) {
    TaskStatus status = newest;
    if (status == null || status.sinceMillis() != nowMillis) {
      status = TaskTransitions.firstStart(nowMillis);
      newest = status;
    }
    return status;
  }
}
