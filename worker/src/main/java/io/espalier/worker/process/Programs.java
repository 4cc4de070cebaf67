package io.espalier.worker.process;

import io.espalier.core.config.TaskVariables;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Says of commands, before anything is started, whether this host has their programs. Looks where a
 * runner on this host would look. Immutable.
 */
public final class Programs {
  private final Path configDirectory;
  private final TaskEnvironment environment;

  /**
   * Programs as a runner with these options finds them.
   *
   * @param configDirectory where relative paths start
   * @param environment of the runner's process
   */
  public Programs(Path configDirectory, Map<String, String> environment) {
    this.configDirectory = configDirectory;
    this.environment = new TaskEnvironment(environment);
  }

  /**
   * What is wrong with the program of a command; empty: it can be started.
   *
   * @param command not empty
   * @param variables what the job says of the environment: it may name another {@code PATH}
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
