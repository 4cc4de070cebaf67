package io.espalier.core.loop;

import io.espalier.core.config.Job;
import io.espalier.core.config.Settings;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.running.Assignment;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.store.StatusRow;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Recovers the invocations that an earlier scheduler process recorded as started and that have no
 * recorded end (docs/design/design.md#at-most-once). They count as alive until their runner reports
 * otherwise: they occupy their slots, their tasks are not started again, and they can be killed.
 * Their effect on their job is known only once there is a configuration, so ends that arrive
 * earlier wait for it.
 */
final class InvocationRecovery {
  private final SchedulingCore core;
  private final LiveTasks live;
  private final List<Live> resumed = new ArrayList<>();
  private final Map<Invocation, TaskResult> early = new LinkedHashMap<>();
  private int endless;

  InvocationRecovery(SchedulingCore core, LiveTasks live) {
    this.core = core;
    this.live = live;
  }

  /**
   * Registers the invocations as alive and hands them to the runner.
   *
   * @param running rows with the status running, at most one per task: all of them, or only calls
   *     if processes end with the scheduler
   */
  void resume(List<StatusRow> running, TaskRunner runner, long nowMillis) {
    List<Assignment> assignments = new ArrayList<>(running.size());
    for (StatusRow row : running) {
      LaunchSpec launch =
          LaunchSpec.of(row.job(), row.node(), row.invocation())
              .attempt(row.status().attempts())
              .worker(row.worker())
              .call(row.call())
              .limits(row.call() == null ? InvocationLimits.NONE : row.call().limits())
              .build();
      long run = core.adopt(row.job(), row.node(), row.worker(), row.batch());
      Settings settings = core.config().settings();
      Live task = new Live(row.key(), run, launch, row.status(), settings.defaults().retrying());
      task.dispatched = true;
      task.resume();
      task.batch = row.batch();
      task.sharesCharge = !row.batch().isEmpty();
      task.waitedMillis = row.waitedMillis();
      task.counters = row.counters();
      task.countersWritten = row.counters();
      task.dispatchedMillis = nowMillis;
      live.add(task);
      resumed.add(task);
      if (runner.outlivesScheduler()) {
        assignments.add(new Assignment(row.job(), row.node(), row.invocation(), row.worker()));
      } else if (!runner.adopt(launch)) {
        endless++;
      }
    }
    if (runner.outlivesScheduler()) {
      runner.resume(assignments);
    }
  }

  /** Returns the number of calls that are alive and that this scheduler does not ask about. */
  int endless() {
    return endless;
  }

  /** Returns true when the end must wait for the first configuration; it is then stored here. */
  boolean keeps(TaskResult end, boolean hasConfig) {
    if (hasConfig || resumed.isEmpty()) {
      return false;
    }
    // The watchdog repeats the end of what the runner has lost.
    early.putIfAbsent(end.invocation(), end);
    return true;
  }

  /**
   * Completes the recovery when the first configuration comes into force: assigns the settings of
   * their jobs to the invocations and processes the ends that waited.
   *
   * @param cancelled receives the tasks that are to be killed: a kill does not survive a restart,
   *     but that a task is cancelled does
   */
  void configured(Consumer<TaskResult> ended, Consumer<Live> cancelled) {
    for (Live task : resumed) {
      Job job = core.config().job(task.key.job());
      if (job != null) {
        task.retrying = job.retrying();
        task.statusFrom = job.statusFrom();
        task.program = job.program();
      } else {
        task.retrying = core.config().settings().defaults().retrying();
      }
      int node = core.running().node(task.run);
      if (node >= 0 && core.running().job(task.run) >= 0) {
        core.setStatus(core.running().job(task.run), node, task.status);
      }
      if (task.status.isCancelled()) {
        cancelled.accept(task);
      }
    }
    resumed.clear();
    early.values().forEach(ended);
    early.clear();
  }
}
