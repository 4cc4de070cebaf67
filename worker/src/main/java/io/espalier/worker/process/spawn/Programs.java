package io.espalier.worker.process.spawn;

import io.espalier.core.config.task.TaskVariables;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Checks, before anything is started, whether this host has the programs of commands. It searches
 * where a runner on this host would search. Immutable.
 */
public final class Programs {
  private final Path configDirectory;
  private final TaskEnvironment environment;

  /**
   * Searches like a runner with these options.
   *
   * @param configDirectory base of relative paths
   * @param environment environment of the runner's process
   */
  public Programs(Path configDirectory, Map<String, String> environment) {
    this.configDirectory = configDirectory;
    this.environment = new TaskEnvironment(environment);
  }

  /**
   * Returns the problem with the program of a command; empty: it can be started.
   *
   * @param command not empty
   * @param variables the job's settings of the environment, which may include another {@code PATH}
   */
  public Optional<String> problem(List<String> command, TaskVariables variables) {
    try {
      String searchPath = environment.variables(variables, null).getOrDefault("PATH", "");
      Path unused = CommandLine.resolve(command.get(0), configDirectory, searchPath);
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }
}
