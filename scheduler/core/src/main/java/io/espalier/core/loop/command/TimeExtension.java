package io.espalier.core.loop.command;

import io.espalier.core.api.view.TaskDeadlines;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.running.TaskRunner;
import org.jspecify.annotations.Nullable;

/** Extends the time limits of live tasks. */
public final class TimeExtension {
  /** The largest value of any limit. */
  private static final long LONGEST_MILLIS = 1_000_000_000_000L;

  private TimeExtension() {}

  /** Why the extension is refused; null when it may be tried. */
  public static @Nullable String refusal(Live task, long millis) {
    if (millis <= 0 || millis > LONGEST_MILLIS) {
      return "can be given a millisecond to " + LONGEST_MILLIS / 1000 + " seconds more";
    }
    // When the time of a task of a batch begins, and so ends, only its runner knows.
    boolean isTimed =
        task.limits.endMillis() != Long.MAX_VALUE || task.launch.limits().timeoutMillis() > 0;
    return isTimed ? null : "has no time limit";
  }

  /** Extends the limits of a task. Returns true when the runner supports it. */
  public static boolean extend(Live task, long millis, TaskRunner runner) {
    if (!task.dispatched) {
      task.extendAtStart += millis;
    } else if (!runner.extend(task.key.job(), task.key.node(), task.invocation(), millis)) {
      return false;
    }
    task.limits = task.limits.extended(millis);
    return true;
  }

  /** Starts the timeout of a task that is about to be handed to the runner. */
  public static void begin(Live task, long nowMillis) {
    task.dispatchedMillis = nowMillis;
    if (task.launch.limits().timeoutMillis() > 0 && task.launch.batch() == 0) {
      TaskDeadlines limits = task.limits;
      task.limits =
          new TaskDeadlines(
              nowMillis + task.launch.limits().timeoutMillis() + task.extendAtStart,
              limits.noOutputMillis(),
              limits.deadlineMillis());
    }
  }

  /** Passes on an extension that was granted before the task was handed to the runner. */
  public static void extendAtStart(Live task, TaskRunner runner) {
    if (task.extendAtStart > 0) {
      runner.extend(task.key.job(), task.key.node(), task.invocation(), task.extendAtStart);
    }
  }
}
