package io.espalier.core.config.task;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * One step of the program of a job's tasks: a process or a call.
 *
 * @param name its name; of a compensation, the name of the step that it undoes
 * @param command argv prefix; empty exactly when there is a call
 * @param call how it calls a service; empty: it is a process
 * @param undoesOnFailure whether its failure fails the task for good at once
 * @param timeout limit of one run; empty: that of the job
 * @param noOutput longest silence of one run; empty: that of the job
 */
public record Step(
    String name,
    List<String> command,
    Optional<CallSpec> call,
    boolean undoesOnFailure,
    Optional<Duration> timeout,
    Optional<Duration> noOutput) {
  public Step {
    command = List.copyOf(command);
  }

  /** The same work under a name. */
  public Step named(String newName, boolean undoes) {
    return new Step(newName, command, call, undoes, timeout, noOutput);
  }

  /** Returns the time limits of one run. */
  public TimeLimits limits(TimeLimits ofJob) {
    return new TimeLimits(
        timeout.or(ofJob::timeout), ofJob.completeBy(), noOutput.or(ofJob::noOutput));
  }
}
