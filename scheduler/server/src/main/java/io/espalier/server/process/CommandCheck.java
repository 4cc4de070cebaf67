package io.espalier.server.process;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.json.Json;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import io.espalier.worker.process.Programs;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds commands that the local runner could not start, before it starts any. Jobs that are
 * disabled or have other errors are left out: they do not run.
 */
public final class CommandCheck {
  private final Programs programs;
  private final List<String> workerCommand;
  private final @Nullable String hint;

  /**
   * A check for the local runner.
   *
   * @param configDirectory where relative paths start
   * @param environment of the process that starts the tasks
   * @param workerCommand of jobs without a command; empty: none is known
   * @param hint what else to do about a command that is not there
   */
  public CommandCheck(
      Path configDirectory,
      Map<String, String> environment,
      List<String> workerCommand,
      @Nullable String hint) {
    this.programs = new Programs(configDirectory, environment);
    this.workerCommand = List.copyOf(workerCommand);
    this.hint = hint;
  }

  /** One error for each job whose program is missing or not executable, at its command. */
  public List<Problem> problems(Config config) {
    List<Problem> problems = new ArrayList<>();
    for (Job job : config.jobs().values()) {
      List<String> command = job.command().isEmpty() ? workerCommand : job.command();
      if (job.canRun() && !command.isEmpty()) {
        programs
            .problem(command, job.subprocess().variables())
            .map(what -> problem(job, what))
            .ifPresent(problems::add);
      }
    }
    return problems;
  }

  /** One error for each job that has no command where no worker command is given. */
  public List<Problem> withoutCommand(Config config) {
    return config.jobs().values().stream()
        .filter(job -> job.canRun() && job.command().isEmpty() && workerCommand.isEmpty())
        .map(job -> problem(job, "the job has no command, and no --worker-command is given"))
        .toList();
  }

  private Problem problem(Job job, String what) {
    ProblemPath path = ProblemPath.ROOT.key("bistro_job->" + job.name());
    Optional<Json> program = program(job);
    if (program.isPresent()) {
      path = path.key("command").index(0);
    } else if (!workerCommand.isEmpty()) {
      what = "--worker-command: " + what;
    }
    Position at = program.map(Json::at).orElse(job.original().at());
    return Problems.at(Severity.ERROR, path, at, program.orElse(null), what, hint);
  }

  private static Optional<Json> program(Job job) {
    return job.original().get("command") instanceof Json.Arr command && !command.items().isEmpty()
        ? Optional.of(command.items().get(0))
        : Optional.empty();
  }
}
