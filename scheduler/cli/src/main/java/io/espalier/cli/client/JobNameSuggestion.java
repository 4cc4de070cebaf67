package io.espalier.cli.client;

import io.espalier.cli.term.JsonFields;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Suggestions;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** Adds the most likely intended job name to an error. */
final class JobNameSuggestion {
  private static final int TYPOS = 3;

  private JobNameSuggestion() {}

  /** Returns the failure, with a hint if the command names a job that does not exist. */
  static CommandException of(CommandException failure, Client client, CommandSpec spec) {
    String message = String.valueOf(failure.getMessage());
    if (failure.exitCode() != ExitCode.FAILED || message.contains("did you mean")) {
      return failure;
    }
    List<String> given = jobs(spec);
    if (given.isEmpty()) {
      return failure;
    }
    List<String> known = known(client);
    for (String job : given) {
      if (!known.isEmpty() && !known.contains(job)) {
        String near = closest(job, known);
        String hint = near == null ? listed(known) : "did you mean \"" + near + "\"?";
        return new CommandException(failure.exitCode(), message + " (" + hint + ")", failure);
      }
    }
    return failure;
  }

  private static @Nullable String closest(String job, List<String> known) {
    List<String> longer =
        known.stream().filter(name -> job.length() > 2 && name.startsWith(job)).toList();
    return longer.size() == 1
        ? longer.get(0)
        : Suggestions.closest(job, known, Math.min(TYPOS, Math.max(1, job.length() / 2)));
  }

  private static String listed(List<String> known) {
    return known.size() <= 10
        ? "there are " + String.join(", ", known)
        : "`espalier jobs` lists them";
  }

  private static List<String> jobs(CommandSpec spec) {
    OptionSpec set = spec.findOption("--set");
    if (set != null && set.getValue() instanceof String name && !name.isEmpty()) {
      return List.of();
    }
    List<String> jobs = new ArrayList<>();
    for (PositionalParamSpec parameter : spec.positionalParameters()) {
      boolean all = parameter.paramLabel().equals("JOB");
      if (all || parameter.paramLabel().startsWith("JOB ")) {
        parameter.stringValues().stream().limit(all ? Long.MAX_VALUE : 1).forEach(jobs::add);
      }
    }
    return jobs;
  }

  private static List<String> known(Client client) {
    try {
      Json.Obj body = ClientCommand.get(client, ApiV1.JOBS, Map.of(), Map.of());
      return JsonFields.objects(body, "jobs").stream()
          .map(job -> JsonFields.text(job, "name"))
          .toList();
    } catch (CommandException e) {
      return List.of(); // the error itself matters more
    }
  }
}
