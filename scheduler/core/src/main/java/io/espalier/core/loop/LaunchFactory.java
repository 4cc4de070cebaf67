package io.espalier.core.loop;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.WorkerAllocation;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.config.task.Program;
import io.espalier.core.config.task.Step;
import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.config.task.TimeLimits;
import io.espalier.core.config.task.Verification;
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
import io.espalier.core.status.ProgramTransitions;
import io.espalier.core.status.StepPosition;
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
  private static final String STEP_VARIABLE = "ESPALIER_TASK_STEP";
  private static final String PHASE_VARIABLE = "ESPALIER_TASK_PHASE";

  private final SchedulingCore core;
  private final LiveTasks live;
  private final WorkerPool pool;
  private final LoopOptions options;
  private final Warnings warnings;
  private final Map<String, WorkerAllocation> shares = new HashMap<>();

  /** The options of steps, identical for all tasks, by job and step. */
  private final Map<String, Map<String, SubprocessOptions>> optionsOfSteps = new HashMap<>();

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
   * @param batch the number of its batch; 0: none
   * @throws IllegalStateException when the core placed a task that must not start: its state can no
   *     longer be trusted
   */
  Live placed(long run, long batch, long nowMillis) {
    long eligible = core.running().eligibleMillis(run);
    Live task = started(run, core.running().status(run), batch, nowMillis);
    task.waitedMillis = Math.max(0, nowMillis - eligible);
    Live first = batch == 0 ? null : live.ofRun(batch);
    if (first != null) {
      task.batch = first == task ? task.invocation().token() : first.batch;
      task.sharesCharge = !core.running().batch(run).isEmpty();
    }
    return task;
  }

  /**
   * Creates the live invocation of the next step of a run, which keeps what it is charged for.
   *
   * @param earlier status after the step before
   * @throws IllegalStateException as {@link #placed}
   */
  Live started(long run, @Nullable TaskStatus earlier, long nowMillis) {
    return started(run, earlier, 0, nowMillis);
  }

  private Live started(long run, @Nullable TaskStatus earlier, long batch, long nowMillis) {
    int job = core.running().job(run);
    Job config = core.job(job);
    if (config == null) {
      throw new IllegalStateException(
          "placed a task of the removed job " + core.running().jobName(run));
    }
    Program program = config.program();
    StepPosition at = earlier == null ? null : earlier.step();
    if (at != null || !program.steps().isEmpty()) {
      at = ProgramTransitions.begin(at, program);
    }
    // A checkpoint belongs to one step.
    TaskStatus before =
        earlier == null || at == null || at.isSameStep(earlier.step())
            ? earlier
            : earlier.withCheckpoint(null);
    TaskStatus status =
        before == null
            ? firstStarts.at(nowMillis)
            : startedAgain(before.withStep(at), config, nowMillis);
    status = at == null ? status : status.withStep(at);
    Step step = at == null ? null : step(program, at);
    core.setRunStatus(run, status);
    WorkerRef worker = pool.of(run);
    TaskKey key = new TaskKey(config.name(), core.running().nodeName(run));
    WorkerAllocation share = share(config);
    Invocation invocation = new Invocation(options.epoch(), ++sequence, nowMillis);
    LaunchSpec launch =
        new LaunchSpec(
            key.job(),
            key.node(),
            invocation,
            status.attempts(),
            step == null ? config.command() : step.command(),
            TaskArgument.of(
                config,
                core.running().path(run),
                core.running().role(run),
                core.running().resourcesByNode(run),
                at,
                before == null ? null : before.toJson(),
                status.checkpoint(),
                pool.name(worker),
                pool.hostOf(run, options.workerHost())),
            config.statusFrom(),
            at == null
                ? config.subprocess().withLimits(share.limits())
                : options(config, at, share),
            config.kill(),
            limits(step == null ? config.timeLimits() : step.limits(config.timeLimits())),
            worker,
            share.slots(),
            config.logs(),
            call(config, step, at, run, invocation, status.attempts()),
            batch);
    Live task = new Live(key, run, launch, status, config.retrying());
    task.program = program;
    task.isEmpty = at != null && step == null;
    live.add(task);
    return task;
  }

  private static @Nullable Step step(Program program, StepPosition at) {
    return switch (at.phase()) {
      case STEP -> program.steps().get(program.find(at.step()));
      case COMPENSATION -> program.compensation(at.step());
      case VERIFICATION -> program.verification().map(Verification::step).orElse(null);
      case ENDED -> null;
    };
  }

  /** The options of a step, whose process sees its name. */
  private SubprocessOptions options(Job job, StepPosition at, WorkerAllocation share) {
    return optionsOfSteps
        .computeIfAbsent(job.name(), name -> new HashMap<>())
        .computeIfAbsent(
            at.phase().word() + " " + at.step(),
            step -> {
              Map<String, String> own =
                  Map.of(STEP_VARIABLE, at.step(), PHASE_VARIABLE, at.phase().word());
              SubprocessOptions all = job.subprocess();
              return all.withVariables(all.variables().with(own)).withLimits(share.limits());
            });
  }

  private @Nullable Call call(
      Job job,
      @Nullable Step step,
      @Nullable StepPosition at,
      long run,
      Invocation invocation,
      int attempt) {
    CallSpec spec = (step == null ? job.call() : step.call()).orElse(null);
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
            core.running().path(run),
            limits(step == null ? job.timeLimits() : step.limits(job.timeLimits())));
    return options.callbacks().signed(at == null ? call : call.ofStep(at.label()));
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
      optionsOfSteps.clear();
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
