package io.espalier.core.scheduling.query;

import io.espalier.core.api.view.JobProgress;
import io.espalier.core.scheduling.job.StatusCodes;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.status.TaskStatus.Main;

/** Sums the counts per code into the progress figures of a job. */
public final class ProgressCounts {
  private ProgressCounts() {}

  /**
   * Counts a running task as running wherever it is; other tasks are classified by their node
   * first.
   */
  public static JobProgress of(SchedulingState state, int job) {
    long done = 0;
    long failed = 0;
    long cancelled = 0;
    long running = 0;
    long waiting = 0;
    long ready = 0;
    long avoided = 0;
    long disabled = 0;
    for (int code = 0; code < StatusCodes.COUNT; code++) {
      long count = state.tasks.count(job, code);
      if (count == 0) {
        continue;
      }
      if (StatusCodes.main(code) == Main.RUNNING) {
        running += count;
      } else if (StatusCodes.effect(code) == StatusCodes.AVOIDED) {
        avoided += count;
      } else if (StatusCodes.effect(code) == StatusCodes.DISABLED) {
        disabled += count;
      } else {
        switch (StatusCodes.main(code)) {
          case DONE -> {
            if (StatusCodes.isInVerification(code)) {
              waiting += StatusCodes.isWaiting(code) ? count : 0;
              ready += StatusCodes.isWaiting(code) ? 0 : count;
            } else {
              done += count;
            }
          }
          case FAILED -> failed += count;
          case CANCELLED -> cancelled += count;
          case RUNNING -> throw new IllegalStateException("counted above");
          case UNSTARTED, INCOMPLETE, ERROR -> {
            waiting += StatusCodes.isWaiting(code) ? count : 0;
            ready += StatusCodes.isWaiting(code) ? 0 : count;
          }
        }
      }
    }
    long startable = 0;
    if (state.mayStart(job)) {
      startable =
          state.jobs.dependencies[job].length > 0
              ? state.tasks.startable(job)
              : ready - state.statuses.staged().waiting(job);
    }
    return JobProgress.of(
        state.jobs.name(job),
        done,
        failed,
        cancelled,
        running,
        waiting,
        startable,
        ready - startable,
        avoided,
        disabled);
  }
}
