package io.espalier.core.loop.query;

import io.espalier.core.api.RefusedException;
import io.espalier.core.api.view.TaskView;
import io.espalier.core.config.Job;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;

/** Makes {@link TaskView}s from the core. */
public final class TaskViews {
  private TaskViews() {}

  /**
   * The view of one task.
   *
   * @throws RefusedException for an unknown job, or a node that is not on its level
   */
  public static TaskView one(
      SchedulingCore core, LiveTasks live, String shard, String job, String node) {
    int number = core.findJob(job);
    Job config = number < 0 ? null : core.job(number);
    if (config == null) {
      throw new RefusedException(RefusedException.Reason.UNKNOWN, "no such job: " + job);
    }
    int index = core.topology().find(config.level(), node);
    if (index < 0) {
      throw new RefusedException(
          RefusedException.Reason.UNKNOWN,
          "no node "
              + node
              + " on level "
              + core.topology().levels().name(config.level())
              + " of job "
              + job);
    }
    return of(core, live, shard, number, config, index);
  }

  static TaskView of(
      SchedulingCore core, LiveTasks live, String shard, int job, Job config, int node) {
    LiveTasks.Live running = live.get(new TaskKey(config.name(), core.topology().name(node)));
    TaskStatus status = running == null ? core.tasks().status(job, node) : running.status;
    return TaskView.of(
        config.name(),
        core.topology().name(node),
        core.topology().levels().name(config.level()),
        core.tasks().bits(job, node),
        status,
        running == null ? null : running.view(running.shard(shard)),
        running == null ? core.tasks().eligibleMillis(job, node) : 0);
  }
}
