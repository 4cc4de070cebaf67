package io.espalier.core.running;

import io.espalier.core.config.KillRequest;
import io.espalier.core.config.LogOptions;
import io.espalier.core.config.StatusFrom;
import io.espalier.core.config.SubprocessOptions;
import io.espalier.core.json.Json;
import java.util.List;
import java.util.Map;

/**
 * Everything a runner needs to start one task; nothing in it refers to the scheduler's state.
 *
 * @param command argv prefix of the job; empty: the runner's worker command
 * @param argument the task's JSON argument (behaviour 7.2)
 * @param attempt 1 for the first
 * @param kill how the runner stops the task by itself, at shutdown
 * @param limits its time limits
 * @param worker where it is to run
 * @param workerSlots slots of the worker's resources that it holds, by resource name
 * @param logs what is kept and hidden of its output, for a runner with a log store of its own
 */
public record Launch(
    String job,
    String node,
    Invocation invocation,
    int attempt,
    List<String> command,
    Json.Obj argument,
    StatusFrom statusFrom,
    SubprocessOptions subprocess,
    KillRequest kill,
    Limits limits,
    WorkerRef worker,
    Map<String, Integer> workerSlots,
    LogOptions logs) {
  public Launch {
    command = List.copyOf(command);
    workerSlots = Map.copyOf(workerSlots);
  }

  /** A launch whose output is kept as everybody's. */
  public Launch(
      String job,
      String node,
      Invocation invocation,
      int attempt,
      List<String> command,
      Json.Obj argument,
      StatusFrom statusFrom,
      SubprocessOptions subprocess,
      KillRequest kill,
      Limits limits,
      WorkerRef worker,
      Map<String, Integer> workerSlots) {
    this(
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
        LogOptions.DEFAULT);
  }

  /** A launch on the scheduler's own host, without time limits. */
  public Launch(
      String job,
      String node,
      Invocation invocation,
      int attempt,
      List<String> command,
      Json.Obj argument,
      StatusFrom statusFrom,
      SubprocessOptions subprocess,
      KillRequest kill) {
    this(
        job,
        node,
        invocation,
        attempt,
        command,
        argument,
        statusFrom,
        subprocess,
        kill,
        Limits.NONE,
        WorkerRef.LOCAL,
        Map.of());
  }
}
