package io.espalier.server.app;

import io.espalier.core.call.CallClient;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.json.Json;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import io.espalier.core.problem.Suggestions;
import io.espalier.worker.process.spawn.Programs;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds commands that the local runner could not start, before it starts any. It skips jobs that
 * are disabled or have other errors, because they do not run.
 */
public final class CommandCheck {
  private final Programs programs;
  private final List<String> workerCommand;
  private final @Nullable String hint;

  /**
   * Creates a check for the local runner.
   *
   * @param configDirectory the directory against which relative paths are resolved
   * @param environment of the process that starts the tasks
   * @param workerCommand the default command of jobs without one; empty when there is no default
   * @param hint what else the user can do about a missing command
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

  /**
   * Returns one error, located at the command, for each job whose program is missing or not
   * executable.
   */
  public List<Problem> problems(Config config) {
    List<Problem> problems = new ArrayList<>();
    for (Job job : config.jobs().values()) {
      List<String> command = job.command().isEmpty() ? workerCommand : job.command();
      job.call().filter(call -> job.canRun()).ifPresent(call -> check(job, call, problems));
      if (job.canRun() && job.call().isEmpty() && !command.isEmpty()) {
        programs
            .problem(command, job.subprocess().variables())
            .map(what -> problem(job, what))
            .ifPresent(problems::add);
      }
    }
    return problems;
  }

  /** Returns one error for each job without a command when there is no worker command either. */
  public List<Problem> withoutCommand(Config config) {
    return config.jobs().values().stream()
        .filter(job -> job.canRun() && job.call().isEmpty())
        .filter(job -> job.command().isEmpty() && workerCommand.isEmpty())
        .map(job -> problem(job, "the job has no command, and no --worker-command is given"))
        .toList();
  }

  /** Lets the plug-in that makes the calls of a job check its options. */
  private static void check(Job job, CallSpec call, List<Problem> problems) {
    Map<String, CallClient> executors = new TreeMap<>();
    ServiceLoader.load(CallClient.class).forEach(each -> executors.put(each.executor(), each));
    CallClient client = executors.get(call.executor());
    if (client == null) {
      problems.add(unknown(job, call.executor(), executors.keySet()));
      return;
    }
    try {
      client
          .objections(call.options())
          .forEach((option, what) -> problems.add(objection(job, call, option, what)));
    } catch (RuntimeException e) {
      problems.add(objection(job, call, "", "the executor cannot check them: " + e));
    }
  }

  private static Problem objection(Job job, CallSpec call, String option, String what) {
    ProblemPath path = ProblemPath.ROOT.key("bistro_job->" + job.name()).key("call").key("options");
    Json value = call.options().get(option);
    return Problems.at(
        Severity.ERROR,
        option.isEmpty() ? path : path.key(option),
        value == null ? job.original().at() : value.at(),
        value,
        what,
        null);
  }

  private static Problem unknown(Job job, String executor, Set<String> executors) {
    return Problems.at(
        Severity.ERROR,
        ProblemPath.ROOT.key("bistro_job->" + job.name()).key("call").key("executor"),
        job.original().at(),
        Json.of(executor),
        "there is no executor of this name here",
        Suggestions.hint(executor, executors));
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
