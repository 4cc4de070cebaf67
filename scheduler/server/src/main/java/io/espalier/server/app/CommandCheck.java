package io.espalier.server.app;

import io.espalier.core.call.CallClient;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.config.task.Step;
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
      if (!job.canRun()) {
        continue;
      }
      ProblemPath path = ProblemPath.ROOT.key(Config.JOB_KEY + job.name());
      job.call().ifPresent(call -> check(job, path.key("call"), call, problems));
      List<String> command = job.command().isEmpty() ? workerCommand : job.command();
      if (hasOneCommand(job) && !command.isEmpty()) {
        programs
            .problem(command, job.subprocess().variables())
            .map(what -> problem(job, what))
            .ifPresent(problems::add);
      }
      steps(job, path.key("steps"), job.program().steps(), problems);
      steps(job, path.key("compensate"), job.program().compensations(), problems);
      job.program()
          .verification()
          .ifPresent(verify -> step(job, path.key("verify"), verify.step(), problems));
    }
    return problems;
  }

  private void steps(Job job, ProblemPath list, List<Step> steps, List<Problem> problems) {
    for (int i = 0; i < steps.size(); i++) {
      step(job, list.index(i), steps.get(i), problems);
    }
  }

  private void step(Job job, ProblemPath path, Step step, List<Problem> problems) {
    step.call().ifPresent(call -> check(job, path.key("call"), call, problems));
    if (!step.command().isEmpty()) {
      programs
          .problem(step.command(), job.subprocess().variables())
          .map(
              what ->
                  Problems.at(
                      Severity.ERROR,
                      path.key("command").index(0),
                      job.original().at(),
                      Json.of(step.command().get(0)),
                      what,
                      hint))
          .ifPresent(problems::add);
    }
  }

  private static boolean hasOneCommand(Job job) {
    return job.call().isEmpty() && job.program().steps().isEmpty();
  }

  /** Returns one error for each job without a command when there is no worker command either. */
  public List<Problem> withoutCommand(Config config) {
    return config.jobs().values().stream()
        .filter(job -> job.canRun() && hasOneCommand(job))
        .filter(job -> job.command().isEmpty() && workerCommand.isEmpty())
        .map(job -> problem(job, "the job has no command, and no --worker-command is given"))
        .toList();
  }

  /** Lets the plug-in that makes the calls of a job check its options. */
  private static void check(Job job, ProblemPath path, CallSpec call, List<Problem> problems) {
    Map<String, CallClient> executors = new TreeMap<>();
    ServiceLoader.load(CallClient.class).forEach(each -> executors.put(each.executor(), each));
    CallClient client = executors.get(call.executor());
    if (client == null) {
      problems.add(unknown(job, path, call.executor(), executors.keySet()));
      return;
    }
    try {
      client
          .objections(call.options())
          .forEach((option, what) -> problems.add(objection(job, path, call, option, what)));
    } catch (RuntimeException e) {
      problems.add(objection(job, path, call, "", "the executor cannot check them: " + e));
    }
  }

  private static Problem objection(
      Job job, ProblemPath ofCall, CallSpec call, String option, String what) {
    ProblemPath path = ofCall.key("options");
    Json value = call.options().get(option);
    return Problems.at(
        Severity.ERROR,
        option.isEmpty() ? path : path.key(option),
        value == null ? job.original().at() : value.at(),
        value,
        what,
        null);
  }

  private static Problem unknown(
      Job job, ProblemPath ofCall, String executor, Set<String> executors) {
    return Problems.at(
        Severity.ERROR,
        ofCall.key("executor"),
        job.original().at(),
        Json.of(executor),
        "there is no executor of this name here",
        Suggestions.hint(executor, executors));
  }

  private Problem problem(Job job, String what) {
    ProblemPath path = ProblemPath.ROOT.key(Config.JOB_KEY + job.name());
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
