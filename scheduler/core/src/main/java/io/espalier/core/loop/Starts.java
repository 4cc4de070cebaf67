package io.espalier.core.loop;

import io.espalier.core.config.Job;
import io.espalier.core.loop.LiveTasks.Live;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.Launch;
import io.espalier.core.running.Limits;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.TaskEvent;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskTransitions;
import io.espalier.core.status.Transition;

/** Turns what a round placed into live invocations with a launch each. */
final class Starts {
  private final SchedulingCore core;
  private final LiveTasks live;
  private final Pool pool;
  private final LoopOptions options;
  private long sequence;

  Starts(SchedulingCore core, LiveTasks live, Pool pool, LoopOptions options) {
    this.core = core;
    this.live = live;
    this.pool = pool;
    this.options = options;
  }

  long count() {
    return sequence;
  }

  /**
   * @throws IllegalStateException when the core placed what must not start: the state cannot be
   *     trusted any more
   */
  Live placed(long run, long nowMillis) {
    int job = core.runJob(run);
    int node = core.runNode(run);
    Job config = core.job(job);
    if (config == null) {
      throw new IllegalStateException("placed a task of the removed job " + core.runJobName(run));
    }
    TaskStatus before = core.status(job, node);
    Transition start =
        TaskTransitions.apply(before, new TaskEvent.Started(), config.backoff(), nowMillis);
    TaskStatus status = start.status();
    if (status == null || status.main() != TaskStatus.Main.RUNNING || !start.changed()) {
      throw new IllegalStateException("placed a task that must not start: " + start.warning());
    }
    core.setStatus(job, node, status);
    WorkerRef worker = pool.of(run);
    TaskKey key = new TaskKey(config.name(), core.runNodeName(run));
    Launch launch =
        new Launch(
            key.job(),
            key.node(),
            new Invocation(options.epoch(), ++sequence, nowMillis),
            status.attempts(),
            config.command(),
            TaskArgument.of(
                config,
                core.runPath(run),
                core.resourcesByNode(run),
                before == null ? null : before.toJson(),
                pool.name(worker),
                pool.hostOf(run, options.workerHost())),
            config.statusFrom(),
            config.subprocess(),
            config.kill(),
            Limits.NONE,
            worker,
            core.workerSlots(run));
    Live task = new Live(key, run, launch, status, config.backoff());
    live.add(task);
    return task;
  }
}
