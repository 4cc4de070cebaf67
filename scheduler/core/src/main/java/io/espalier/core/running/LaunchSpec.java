package io.espalier.core.running;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.config.task.LogOptions;
import io.espalier.core.config.task.StatusSource;
import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.json.Json;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Everything a runner needs to start one task; contains no reference to the scheduler's state.
 *
 * @param command argv prefix of the job; empty: the runner's worker command
 * @param argument the task's JSON argument (docs/design/bistro.md#the-json-argument)
 * @param attempt number of the attempt, from 1
 * @param kill how the runner stops the task by itself, at shutdown
 * @param limits its time limits
 * @param worker worker on which it runs
 * @param workerSlots slots of the worker's resources charged for it, by resource name
 * @param logs retention and redaction of its output, for a runner with its own log store
 * @param call the call of a service that it is; null: it is a process
 */
public record LaunchSpec(
    String job,
    String node,
    Invocation invocation,
    int attempt,
    List<String> command,
    Json.Obj argument,
    StatusSource statusFrom,
    SubprocessOptions subprocess,
    KillRequest kill,
    InvocationLimits limits,
    WorkerRef worker,
    Map<String, Integer> workerSlots,
    LogOptions logs,
    @Nullable Call call) {
  public LaunchSpec {
    command = List.copyOf(command);
    workerSlots = Map.copyOf(workerSlots);
  }

  /**
   * Returns a builder for the first attempt, on the scheduler's own host, without limits and with
   * the default options of jobs.
   */
  public static Builder of(String job, String node, Invocation invocation) {
    return new Builder(job, node, invocation);
  }

  /** Returns a builder initialised from this launch. */
  public Builder toBuilder() {
    Builder builder = new Builder(job, node, invocation);
    builder.attempt = attempt;
    builder.command = command;
    builder.argument = argument;
    builder.statusFrom = statusFrom;
    builder.subprocess = subprocess;
    builder.kill = kill;
    builder.limits = limits;
    builder.worker = worker;
    builder.workerSlots = workerSlots;
    builder.logs = logs;
    builder.call = call;
    return builder;
  }

  /** Builds a launch; not thread-safe. */
  public static final class Builder {
    private final String job;
    private final String node;
    private Invocation invocation;
    private int attempt = 1;
    private List<String> command = List.of();
    private Json.Obj argument = Json.Obj.EMPTY;
    private StatusSource statusFrom = StatusSource.STATUS_LINE;
    private SubprocessOptions subprocess = SubprocessOptions.DEFAULT;
    private KillRequest kill = KillRequest.DEFAULT;
    private InvocationLimits limits = InvocationLimits.NONE;
    private WorkerRef worker = WorkerRef.LOCAL;
    private Map<String, Integer> workerSlots = Map.of();
    private LogOptions logs = LogOptions.DEFAULT;
    private @Nullable Call call;

    private Builder(String job, String node, Invocation invocation) {
      this.job = job;
      this.node = node;
      this.invocation = invocation;
    }

    /** Sets the invocation. */
    public Builder invocation(Invocation another) {
      invocation = another;
      return this;
    }

    /** Sets the number of the attempt. */
    public Builder attempt(int another) {
      attempt = another;
      return this;
    }

    /** Sets the argv prefix of the job; empty: the runner's worker command. */
    public Builder command(List<String> another) {
      command = another;
      return this;
    }

    /** Sets the task's JSON argument. */
    public Builder argument(Json.Obj another) {
      argument = another;
      return this;
    }

    /** Sets where the task's status is read from. */
    public Builder statusFrom(StatusSource another) {
      statusFrom = another;
      return this;
    }

    /** Sets how its process is started and watched. */
    public Builder subprocess(SubprocessOptions another) {
      subprocess = another;
      return this;
    }

    /** Sets how the runner stops it by itself. */
    public Builder kill(KillRequest another) {
      kill = another;
      return this;
    }

    /** Sets its time limits. */
    public Builder limits(InvocationLimits another) {
      limits = another;
      return this;
    }

    /** Sets the worker on which it runs. */
    public Builder worker(WorkerRef another) {
      worker = another;
      return this;
    }

    /** Sets the slots of the worker's resources charged for it. */
    public Builder workerSlots(Map<String, Integer> another) {
      workerSlots = another;
      return this;
    }

    /** Sets the retention and redaction of its output. */
    public Builder logs(LogOptions another) {
      logs = another;
      return this;
    }

    /** Sets the call of a service that it is; null: it is a process. */
    public Builder call(@Nullable Call another) {
      call = another;
      return this;
    }

    /** Builds the launch. */
    public LaunchSpec build() {
      return new LaunchSpec(
          job,
          node,
          invocation,
          attempt,
          command,
          argument,
          statusFrom,
          subprocess,
          kill,
          limits,
          worker,
          workerSlots,
          logs,
          call);
    }
  }
}
