package io.espalier.core.running;

import io.espalier.core.config.KillRequest;
import io.espalier.core.config.LogOptions;
import io.espalier.core.config.StatusSource;
import io.espalier.core.config.SubprocessOptions;
import io.espalier.core.json.Json;
import java.util.List;
import java.util.Map;

/**
 * Everything a runner needs to start one task; nothing in it refers to the scheduler's state.
 *
 * @param command argv prefix of the job; empty: the runner's worker command
 * @param argument the task's JSON argument (docs/design/bistro.md#the-json-argument)
 * @param attempt 1 for the first
 * @param kill how the runner stops the task by itself, at shutdown
 * @param limits its time limits
 * @param worker where it is to run
 * @param workerSlots slots of the worker's resources that it holds, by resource name
 * @param logs what is kept and hidden of its output, for a runner with a log store of its own
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
    LogOptions logs) {
  public LaunchSpec {
    command = List.copyOf(command);
    workerSlots = Map.copyOf(workerSlots);
  }

  /**
   * A builder of a launch of the first attempt, on the scheduler's own host, without limits and
   * with the options that a job has when it says nothing.
   */
  public static Builder of(String job, String node, Invocation invocation) {
    return new Builder(job, node, invocation);
  }

  /** A builder of a launch that is the same as this one but for what it is told. */
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
    return builder;
  }

  /** Makes a launch; not thread-safe. */
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

    private Builder(String job, String node, Invocation invocation) {
      this.job = job;
      this.node = node;
      this.invocation = invocation;
    }

    /** Which invocation it is. */
    public Builder invocation(Invocation another) {
      invocation = another;
      return this;
    }

    /** The number of the attempt. */
    public Builder attempt(int another) {
      attempt = another;
      return this;
    }

    /** The argv prefix of the job; empty: the runner's worker command. */
    public Builder command(List<String> another) {
      command = another;
      return this;
    }

    /** The task's JSON argument. */
    public Builder argument(Json.Obj another) {
      argument = another;
      return this;
    }

    /** Where the task's status is read from. */
    public Builder statusFrom(StatusSource another) {
      statusFrom = another;
      return this;
    }

    /** How its process is started and watched. */
    public Builder subprocess(SubprocessOptions another) {
      subprocess = another;
      return this;
    }

    /** How the runner stops it by itself. */
    public Builder kill(KillRequest another) {
      kill = another;
      return this;
    }

    /** Its time limits. */
    public Builder limits(InvocationLimits another) {
      limits = another;
      return this;
    }

    /** Where it is to run. */
    public Builder worker(WorkerRef another) {
      worker = another;
      return this;
    }

    /** Slots of the worker's resources that it holds. */
    public Builder workerSlots(Map<String, Integer> another) {
      workerSlots = another;
      return this;
    }

    /** What is kept and hidden of its output. */
    public Builder logs(LogOptions another) {
      logs = another;
      return this;
    }

    /** The launch. */
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
          logs);
    }
  }
}
