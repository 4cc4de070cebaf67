package io.espalier.core.loop;

import io.espalier.core.api.view.JobProgress;
import io.espalier.core.config.Job;
import io.espalier.core.loop.command.BrakeCommands;
import io.espalier.core.loop.command.LimitOverrideCommands;
import io.espalier.core.loop.command.PauseRegistry;
import io.espalier.core.scheduling.SchedulingCore;

/** Whether tasks that wait may start later, without any other input. */
final class TimedStarts {
  private final SchedulingCore core;
  private final ViewPublisher views;
  private final PauseRegistry pauses;
  private final LimitOverrideCommands limits;
  private final BrakeCommands brakes;
  private final RoundSteps steps;

  TimedStarts(
      SchedulingCore core,
      ViewPublisher views,
      PauseRegistry pauses,
      LimitOverrideCommands limits,
      BrakeCommands brakes,
      RoundSteps steps) {
    this.core = core;
    this.views = views;
    this.pauses = pauses;
    this.limits = limits;
    this.brakes = brakes;
    this.steps = steps;
  }

  boolean areAhead() {
    return timersMatter() || endsMatter();
  }

  /**
   * Returns true when a job that may start tasks has a task that waits for its back-off or for its
   * start rate.
   */
  private boolean timersMatter() {
    boolean rates = core.capacity().jobsHeldByRate() + core.capacity().nodesHeldByRate() > 0;
    return core.nextTimerMillis() != Long.MAX_VALUE
        && views.progress().values().stream()
            .anyMatch(
                job ->
                    (job.waiting() > 0 || (rates && job.ready() > 0))
                        && !core.gates().isEnded(job.job()));
  }

  /**
   * Returns true when the end of a pause, brake, limit override or soak, a window, a trial below a
   * quarantined node, or a value of a probe may start remaining tasks.
   */
  private boolean endsMatter() {
    boolean isAny =
        pauses.nextMillis() != Long.MAX_VALUE
            || limits.nextMillis() != Long.MAX_VALUE
            || brakes.nextMillis() != Long.MAX_VALUE
            || steps.mayOpen();
    return isAny && views.progress().values().stream().anyMatch(this::mayStart);
  }

  private boolean mayStart(JobProgress job) {
    Job config = core.job(core.findJob(job.job()));
    return job.ready() + job.blocked() > 0
        && config != null
        && config.canRun()
        && !core.gates().isEnded(job.job());
  }
}
