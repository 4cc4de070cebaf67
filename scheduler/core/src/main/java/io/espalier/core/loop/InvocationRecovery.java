package io.espalier.core.loop;

import io.espalier.core.config.Job;
import io.espalier.core.config.Settings;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.running.Assignment;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.StatusRow;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Invocations that an earlier scheduler process recorded as started, with no end
 * (docs/design/design.md#at-most-once). They are alive until their runner says otherwise: they hold
 * their slots, nobody starts their tasks again, and they can be killed. What they mean for their
 * job is known once there is a configuration; ends that come earlier wait for it.
 */
final class InvocationRecovery {
  private final SchedulingCore core;
  private final LiveTasks live;
  private final List<Live> resumed = new ArrayList<>();
  private final List<TaskResult> early = new ArrayList<>();

  InvocationRecovery(SchedulingCore core, LiveTasks live) {
    this.core = core;
    this.live = live;
  }

  /**
   * Takes them for alive and hands them to the runner.
   *
   * @param running rows with the status running, each task once
   */
  void resume(List<StatusRow> running, TaskRunner runner, long nowMillis) {
    List<Assignment> assignments = new ArrayList<>(running.size());
    for (StatusRow row : running) {
      LaunchSpec launch =
          LaunchSpec.of(row.job(), row.node(), row.invocation())
              .attempt(row.status().attempts())
              .worker(row.worker())
              .build();
      long run = core.adopt(row.job(), row.node(), row.worker());
      Settings settings = core.config().settings();
      Live task = new Live(row.key(), run, launch, row.status(), settings.defaults().retrying());
      task.dispatched = true;
      task.dispatchedMillis = nowMillis;
      live.add(task);
      resumed.add(task);
      assignments.add(new Assignment(row.job(), row.node(), row.invocation(), row.worker()));
    }
    runner.resume(assignments);
  }

  /** Whether the end must wait for the first configuration; then it is kept. */
  boolean keeps(TaskResult end, boolean hasConfig) {
    if (hasConfig || resumed.isEmpty()) {
      return false;
    }
    return early.add(end);
  }

  /** The first configuration is in force: their jobs are known, and what waited for it goes on. */
  void configured(Consumer<TaskResult> ended) {
    for (Live task : resumed) {
      Job job = core.config().job(task.key.job());
      if (job != null) {
        task.retrying = job.retrying();
        task.statusFrom = job.statusFrom();
      } else {
        task.retrying = core.config().settings().defaults().retrying();
      }
      int node = core.runNode(task.run);
      if (node >= 0 && core.runJob(task.run) >= 0) {
        core.setStatus(core.runJob(task.run), node, task.status);
      }
    }
    resumed.clear();
    early.forEach(ended);
    early.clear();
  }
}
