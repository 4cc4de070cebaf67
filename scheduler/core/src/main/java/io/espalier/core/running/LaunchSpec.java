package io.espalier.core.running;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.config.task.LogOptions;
import io.espalier.core.config.task.StatusSource;
import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.json.Json;
import io.soabase.recordbuilder.core.RecordBuilder;
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
 * @param batch number of the batch with which it was placed, which is the same for all its tasks
 *     and unique within a scheduler process; the batch may have no other task. 0: its job has no
 *     batches
 */
@RecordBuilder
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
    @Nullable Call call,
    long batch)
    implements LaunchSpecBuilder.With {
  public LaunchSpec {
    command = List.copyOf(command);
    workerSlots = Map.copyOf(workerSlots);
  }

  /** Returns whether another launch was placed in the same batch. */
  public boolean isWith(LaunchSpec other) {
    return batch != 0 && batch == other.batch && job.equals(other.job);
  }

  /**
   * Returns a builder for the first attempt, on the scheduler's own host, without limits and with
   * the default options of jobs.
   */
  public static LaunchSpecBuilder of(String job, String node, Invocation invocation) {
    return new LaunchSpec(
            job,
            node,
            invocation,
            1,
            List.of(),
            Json.Obj.EMPTY,
            StatusSource.STATUS_LINE,
            SubprocessOptions.DEFAULT,
            KillRequest.DEFAULT,
            InvocationLimits.NONE,
            WorkerRef.LOCAL,
            Map.of(),
            LogOptions.DEFAULT,
            null,
            0)
        .with();
  }
}
