package io.espalier.cli;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParameterException;

/** Says what flags are called here that people know or expect from elsewhere. */
final class FlagHints {
  private static final String NODE = "--node";

  /** Those of Bistro's programs (docs/migration.md#flags). */
  private static final Map<String, String> BISTRO =
      Map.ofEntries(
          Map.entry("config_file", "--config FILE"),
          Map.entry("config_update_ms", "nothing: a file is read again when it changes"),
          Map.entry("nodes_update_ms", "--nodes-update-ms MS"),
          Map.entry("nodes_retry_ms", "--nodes-retry-ms MS"),
          Map.entry("clean_statuses", "--status-store memory"),
          Map.entry("status_table", "nothing: statuses are kept under --data-dir"),
          Map.entry("dry_run", "--runner dry-run"),
          Map.entry("benchmark_run", "--runner simulated"),
          Map.entry("worker_command", "--worker-command PATH"),
          Map.entry("data_dir", "--data-dir DIR"),
          Map.entry("instance_node_name", "--instance-node-name NAME"),
          Map.entry("server_port", "--thrift HOST:PORT"),
          Map.entry("http_server_port", "--http HOST:PORT"),
          Map.entry("http_server_address", "--http HOST:PORT"),
          Map.entry("test_task_duration", "--test-task-duration MS"),
          Map.entry("test_failure_rate", "--test-failure-rate SHARE"),
          Map.entry("heartbeat_grace_period", "--unhealthy-ms MS"),
          Map.entry("heartbeat_period_sec", "--heartbeat-ms MS, of the scheduler"),
          Map.entry("healthcheck_period", "--health-check-ms MS"),
          Map.entry("healthcheck_grace_period", "--health-check-timeout-ms MS"),
          Map.entry("lose_unhealthy_worker_after", "--lease-ms MS"),
          Map.entry("CAUTION_startup_wait_for_workers", "--takeover-ms MS"),
          Map.entry("CAUTION_worker_suicide_task_kill_wait_ms", "--kill-wait-ms MS"),
          Map.entry("scheduler_host", "--scheduler HOST:PORT"),
          Map.entry("scheduler_port", "--scheduler HOST:PORT"),
          Map.entry("shard_id", "--shard-id NAME"),
          Map.entry("nvidia_smi", "--nvidia-smi PATH"),
          Map.entry("log_retention", "--log-retention-days DAYS"));

  /** What other programs call a flag, and its names here, of which a command may lack some. */
  private static final Map<String, List<String>> GUESSED =
      Map.ofEntries(
          Map.entry("--url", List.of("--server")),
          Map.entry("--scheduler", List.of("--server")),
          Map.entry("--host", List.of("--server")),
          Map.entry("--address", List.of("--server")),
          Map.entry("--endpoint", List.of("--server")),
          Map.entry("--message", List.of("--reason")),
          Map.entry("--comment", List.of("--reason")),
          Map.entry("--output", List.of("--json")),
          Map.entry("--format", List.of("--output", "--json")));

  private FlagHints() {}

  /** Returns lines that say what was probably meant; empty: nothing comes near. */
  static String hint(ParameterException misuse, String[] args) {
    // Also where picocli first misses a flag of ours, such as --config.
    String bistro = ofBistro(List.of(args));
    if (!bistro.isEmpty()) {
      return bistro;
    }
    CommandSpec command = misuse.getCommandLine().getCommandSpec();
    Stream<String> configs =
        missesConfig(misuse)
            ? Arrays.stream(args)
                .filter(each -> !each.startsWith("-") && each.matches(".+\\.(json|yaml|yml)"))
                .map(file -> "--config " + file)
            : Stream.of();
    return Stream.of(
            Arrays.stream(args).flatMap(each -> guessed(command, each).stream()),
            surplus(misuse),
            positional(command, args),
            configs)
        .flatMap(each -> each)
        .findFirst()
        .map(meant -> "Did you mean: " + meant + "?")
        .orElse("");
  }

  /** Returns the flag of the command that an argument means that is none of its flags. */
  private static Optional<String> guessed(CommandSpec command, String argument) {
    String name = flag(argument);
    return command.findOption(name) != null
        ? Optional.empty()
        : GUESSED.getOrDefault(name, List.of()).stream()
            .map(command::findOption)
            .filter(Objects::nonNull)
            .findFirst()
            .map(
                ours ->
                    ours.longestName() + (ours.arity().max() > 0 ? " " + ours.paramLabel() : ""));
  }

  /** Some commands take nodes as they are, others, which choose tasks, with a flag. */
  private static Stream<String> surplus(ParameterException misuse) {
    return misuse instanceof CommandLine.UnmatchedArgumentException more
            && misuse.getCommandLine().getCommandSpec().findOption(NODE) != null
            && more.getUnmatched().stream().noneMatch(each -> each.startsWith("-"))
        ? Stream.of("--node " + String.join(" --node ", more.getUnmatched()))
        : Stream.of();
  }

  /** Returns the arguments of a command that takes nodes as they are, if they have the flag. */
  private static Stream<String> positional(CommandSpec command, String[] args) {
    List<String> labels =
        command.positionalParameters().stream().map(PositionalParamSpec::paramLabel).toList();
    return command.findOption(NODE) == null
            && labels.contains("NODE")
            && Arrays.stream(args).anyMatch(each -> flag(each).equals(NODE))
        ? Stream.of(command.qualifiedName() + " " + String.join(" ", labels))
        : Stream.of();
  }

  /** Other commands take the file as it is. */
  private static boolean missesConfig(ParameterException misuse) {
    return misuse instanceof CommandLine.MissingParameterException missing
        && missing.getMissing().stream()
            .anyMatch(
                each ->
                    each instanceof OptionSpec option && option.longestName().equals("--config"));
  }

  private static String flag(String argument) {
    int equals = argument.indexOf('=');
    return equals < 0 ? argument : argument.substring(0, equals);
  }

  /** Returns a line about each flag of Bistro among the arguments; empty if there is none. */
  static String ofBistro(List<String> arguments) {
    StringBuilder lines = new StringBuilder();
    for (String argument : arguments) {
      String flag = flag(argument);
      String name = flag.replaceFirst("^--?(no)?", "");
      String ours = flag.startsWith("-") ? BISTRO.get(name) : null;
      if (ours != null) {
        lines
            .append(lines.isEmpty() ? "" : System.lineSeparator())
            .append("In place of Bistro's ")
            .append(flag)
            .append(" there is here: ")
            .append(ours);
      }
    }
    return lines.toString();
  }
}
