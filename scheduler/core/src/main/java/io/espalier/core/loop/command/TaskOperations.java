package io.espalier.core.loop.command;

import io.espalier.core.config.Job;
import io.espalier.core.status.TaskEvent;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.TaskTransitions;
import io.espalier.core.status.Transition;
import org.jspecify.annotations.Nullable;

/** The operations that operators can apply to selected tasks. */
public final class TaskOperations {
  private TaskOperations() {}

  /** Resets tasks to never tried. */
  public static final SelectionCommand.Operation RERUN =
      new SelectionCommand.Operation() {
        @Override
        public boolean applies(int bits) {
          return (bits & TaskStatus.TRIED) != 0;
        }

        @Override
        public @Nullable TaskStatus after(@Nullable TaskStatus status, Job job, long nowMillis) {
          return null;
        }
      };

  /** Forgives tasks (docs/design/bistro.md#forgiving). */
  public static final SelectionCommand.Operation FORGIVE =
      new SelectionCommand.Operation() {
        @Override
        public boolean applies(int bits) {
          int over = Main.FAILED.bit() | Main.CANCELLED.bit();
          return (bits & (over | TaskStatus.USES_BACKOFF)) != 0;
        }

        @Override
        public @Nullable TaskStatus after(@Nullable TaskStatus status, Job job, long nowMillis) {
          return applied(status, new TaskEvent.Forgiven(), job, nowMillis);
        }
      };

  /** Kills tasks that run. Their status changes when they end. */
  public static final SelectionCommand.Operation KILL =
      new SelectionCommand.Operation() {
        @Override
        public boolean applies(int bits) {
          return false;
        }

        @Override
        public boolean appliesToRunning(TaskStatus status) {
          return true;
        }

        @Override
        public @Nullable TaskStatus after(@Nullable TaskStatus status, Job job, long nowMillis) {
          return status;
        }
      };

  /**
   * Cancels tasks, running ones too, except those that are done or that filters exclude.
   *
   * @param exception who cancels them and why, for people
   */
  public static SelectionCommand.Operation cancel(String exception) {
    return new SelectionCommand.Operation() {
      @Override
      public boolean applies(int bits) {
        return (bits & (Main.DONE.bit() | Main.CANCELLED.bit() | TaskStatus.AVOIDED)) == 0;
      }

      @Override
      public boolean appliesToRunning(TaskStatus status) {
        return status.main() != Main.DONE && !status.isCancelled();
      }

      @Override
      public @Nullable TaskStatus after(@Nullable TaskStatus status, Job job, long nowMillis) {
        return applied(status, new TaskEvent.Cancelled(exception), job, nowMillis);
      }
    };
  }

  private static @Nullable TaskStatus applied(
      @Nullable TaskStatus status, TaskEvent event, Job job, long nowMillis) {
    Transition next = TaskTransitions.apply(status, event, job.retrying(), nowMillis);
    return next.changed() ? next.status() : status;
  }
}
