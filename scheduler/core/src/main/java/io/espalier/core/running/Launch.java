package io.espalier.core.running;

import io.espalier.core.config.KillRequest;
import io.espalier.core.config.StatusFrom;
import io.espalier.core.config.SubprocessOptions;
import io.espalier.core.json.Json;
import java.util.List;

/**
 * Everything a runner needs to start one task; nothing in it refers to the scheduler's state.
 *
 * @param command argv prefix of the job; empty: the runner's worker command
 * @param argument the task's JSON argument (behaviour 7.2)
 * @param attempt 1 for the first
 * @param kill how the runner stops the task by itself, at shutdown
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
    KillRequest kill) {
  public Launch {
    command = List.copyOf(command);
  }
}
