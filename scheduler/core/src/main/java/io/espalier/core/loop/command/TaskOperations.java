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
  private static final int TRIED =
      Main.DONE.bit() | Main.INCOMPLETE.bit() | Main.FAILED.bit() | Main.ERROR.bit();

  private TaskOperations() {}

  /** Resets tasks to never tried. */
  public static final SelectionCommand.Act RERUN =
      new SelectionCommand.Act() {
        @Override
        public boolean applies(int bits) {
          return (bits & TRIED) != 0;
        }

        @Override
        public @Nullable TaskStatus after(@Nullable TaskStatus status, Job job, long nowMillis) {
          return null;
        }
      };

  /** Forgives tasks (docs/design/bistro.md#forgiving). */
  public static final SelectionCommand.Act FORGIVE =
      new SelectionCommand.Act() {
        @Override
        public boolean applies(int bits) {
          return (bits & (Main.FAILED.bit() | TaskStatus.USES_BACKOFF)) != 0;
        }

        @Override
        public @Nullable TaskStatus after(@Nullable TaskStatus status, Job job, long nowMillis) {
          Transition forgiven =
              TaskTransitions.apply(status, new TaskEvent.Forgiven(), job.retrying(), nowMillis);
          return forgiven.changed() ? forgiven.status() : status;
        }
      };
}
