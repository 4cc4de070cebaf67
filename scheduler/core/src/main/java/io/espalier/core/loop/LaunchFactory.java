package io.espalier.core.loop;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.WorkerAllocation;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.config.task.TimeLimits;
import io.espalier.core.loop.command.WorkerPool;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.loop.state.LoopPorts.Warnings;
import io.espalier.core.loop.state.TaskArgument;
import io.espalier.core.running.Call;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.FirstRunStatusCache;
import io.espalier.core.status.TaskEvent;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskTransitions;
import io.espalier.core.status.Transition;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Turns each placed task of a round into a live invocation with its launch specification. */
final class LaunchFactory {
  private final SchedulingCore core;
  private final LiveTasks live;
  private final WorkerPool pool;
  private final LoopOptions options;
  private final Warnings warnings;
  private final Map<String, WorkerAllocation> shares = new HashMap<>();
  private final FirstRunStatusCache firstStarts = new FirstRunStatusCache();
  private @Nullable Config sharesOf;
  private long sequence;

  LaunchFactory(
      SchedulingCore core,
      LiveTasks live,
      WorkerPool pool,
      LoopOptions options,
      Warnings warnings) {
    this.core = core;
    this.warnings = warnings;
    this.live = live;
    this.pool = pool;
    this.options = options;
  }

  long count() {
    return sequence;
  }

  /**
   * Creates the live invocation of a placed run.
   *
   * @throws IllegalStateException when the core placed a task that must not start: its state can no
   *     longer be trusted
   */
  Live placed(long run, long nowMillis) {
    int job = core.runJob(run);
    Job config = core.job(job);
    if (config == null) {
      throw new IllegalStateException("placed a task of the removed job " + core.runJobName(run));
    }
    TaskStatus before = core.runStatus(run);
    TaskStatus status =
        before == null ? firstStarts.at(nowMillis) : startedAgain(before, config, nowMillis);
    core.setRunStatus(run, status);
    WorkerRef worker = pool.of(run);
    TaskKey key = new TaskKey(config.name(), core.runNodeName(run));
    WorkerAllocation share = share(config);
    Invocation invocation = new Invocation(options.epoch(), ++sequence, nowMillis);
    LaunchSpec launch =
        new LaunchSpec(
            key.job(),
            key.node(),
            invocation,
            status.attempts(),
            config.command(),
            TaskArgument.of(
                config,
                core.runPath(run),
                core.runRole(run),
                core.resourcesByNode(run),
                before == null ? null : before.toJson(),
                status.checkpoint(),
                pool.name(worker),
                pool.hostOf(run, options.workerHost())),
            config.statusFrom(),
            config.subprocess().withLimits(share.limits()),
            config.kill(),
            limits(config.timeLimits()),
            worker,
            share.slots(),
            config.logs(),
            call(config, run, invocation, status.attempts()));
    Live task = new Live(key, run, launch, status, config.retrying());
    live.add(task);
    return task;
  }

  private @Nullable Call call(Job job, long run, Invocation invocation, int attempt) {
    CallSpec spec = job.call().orElse(null);
    if (spec == null) {
      return null;
    }
    List<String> levels = core.config().settings().levels().names();
    Call call =
        Call.of(
            spec,
            job.name(),
            job.createTime(),
            invocation,
            attempt,
            levels,
            core.runPath(run),
            limits(job.timeLimits()));
    return options.callbacks().signed(call);
  }

  private static TaskStatus startedAgain(TaskStatus before, Job config, long nowMillis) {
    Transition start =
        TaskTransitions.apply(before, new TaskEvent.Started(), config.retrying(), nowMillis);
    TaskStatus status = start.status();
    if (status == null || status.main() != TaskStatus.Main.RUNNING || !start.changed()) {
      throw new IllegalStateException("placed a task that must not start: " + start.warning());
    }
    return status;
  }

  private static InvocationLimits limits(TimeLimits limits) {
    return new InvocationLimits(
        limits.timeout().map(Duration::toMillis).orElse(0L),
        limits.noOutput().map(Duration::toMillis).orElse(0L),
        limits.completeBy().map(Instant::toEpochMilli).orElse(0L));
  }

  /** The allocation of a job, identical for all its tasks until the configuration changes. */
  @SuppressWarnings("ReferenceEquality") // Each configuration is a new object.
  private WorkerAllocation share(Job job) {
    if (sharesOf != core.config()) {
      sharesOf = core.config();
      shares.clear();
    }
    WorkerAllocation known = shares.get(job.name());
    if (known == null) {
      known = WorkerAllocation.of(core.config().settings(), job);
      shares.put(job.name(), known);
      known.warnings().forEach(warning -> warnings.warn(warning, job.name(), ""));
    }
    return known;
  }
}
