package io.espalier.worker.process.spawn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.task.StatusSource;
import io.espalier.core.config.task.TaskVariables;
import io.espalier.core.json.Json;
import io.espalier.core.running.LaunchSpec;
import io.espalier.testkit.running.Launches;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of a command (docs/design/design.md#arguments-of-a-task). */
class CommandLineTest {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  private final Launches launches = new Launches();

  @Test
  void bistrosThreeArgumentsComeLast() throws IOException {
    assertThat(argv("n", "prog", "a")).containsExactly("prog", "a", "n", "/status", "{}");
  }

  @Test
  void withPlaceholdersNothingIsAppended() throws IOException {
    assertThat(argv("n", "prog", "--node={node}", "{job}:{status_file}", "{json_file}", "{other}"))
        .containsExactly("prog", "--node=n", "job:/status", "/json", "{other}");
    assertThat(argv("n", "{node}", "x")).containsExactly("{node}", "x", "n", "/status", "{}");
  }

  @Test
  void whatReplacesAPlaceholderIsNotReadAgain() throws IOException {
    assertThat(argv("{job} $1 \\0", "prog", "{node}")).containsExactly("prog", "{job} $1 \\0");
  }

  @Test
  void withTheExitCodeNothingIsAppended() throws IOException {
    LaunchSpec launch = Launches.with(launches.of("n", "prog", "x"), StatusSource.EXIT_CODE);
    assertThat(CommandLine.argv(launch, launch.command(), "/status", argument("{}"), null))
        .containsExactly("prog", "x");
  }

  @Test
  void aJsonArgumentOverTheBoundIsAFile() throws IOException {
    LaunchSpec launch = launches.of("n", "prog");
    String fits = "x".repeat(CommandLine.MAX_INLINE_JSON);
    assertThat(CommandLine.argv(launch, launch.command(), "/status", argument(fits), null))
        .contains(fits);
    assertThat(CommandLine.argv(launch, launch.command(), "/status", argument(fits + "x"), null))
        .endsWith("@/json");
    String wide = "\u20ac".repeat(CommandLine.MAX_INLINE_JSON / 2);
    assertThat(CommandLine.argv(launch, launch.command(), "/status", argument(wide), null))
        .endsWith("@/json");
  }

  @Test
  void inTextForAShellOnlyHarmlessNamesAreReplaced() throws IOException {
    assertThat(argv("host-1:/v.2", "/bin/bash", "-ec", "echo {node}"))
        .last()
        .asString()
        .isEqualTo("echo host-1:/v.2");
    for (String node : List.of("a;b", "a b", "$(x)", "`x`", "a\nb", "a'b", "a&b", "~")) {
      assertThatThrownBy(() -> argv(node, "sh", "-c", "echo {node}"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("{node}");
      assertThat(argv(node, "sh", "-c", "echo \"$1\"", "x", "{node}")).endsWith(node);
    }
  }

  @Test
  void programsAreFoundBesideTheConfigurationOrOnThePath() throws IOException {
    Path script = Files.writeString(directory.resolve("run.sh"), "");
    assertThat(script.toFile().setExecutable(true)).isTrue();
    assertThat(CommandLine.resolve("./run.sh", directory, "/bin")).isEqualTo(script);
    assertThat(CommandLine.resolve(script.toString(), Path.of("/"), "/bin")).isEqualTo(script);
    assertThat(CommandLine.resolve("run.sh", Path.of("/"), "/bin:" + directory)).isEqualTo(script);
    assertThat(CommandLine.resolve("sh", directory, "/no/such:/bin")).hasToString("/bin/sh");
    assertThatThrownBy(() -> CommandLine.resolve("run.sh", directory, "/bin:"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("./run.sh");
  }

  @Test
  void theWhitelistKeepsSecretsAndFlagsAtHome() {
    TaskEnvironment environment =
        new TaskEnvironment(
            Map.of("ESPALIER_HTTP", "x", "AWS_SECRET", "x", "LC_TIME", "C", "HOME", "/h"));
    List<String> variables =
        TaskEnvironment.of(
            launches.of("n"),
            environment.variables(TaskVariables.NONE, null),
            "cookie",
            "/status",
            0,
            null);
    assertThat(variables)
        .contains("HOME=/h", "LC_TIME=C", "ESPALIER_TASK_NODE=n", "ESPALIER_TASK_ATTEMPT=1")
        .anyMatch(variable -> variable.startsWith("PATH=/"))
        .noneMatch(variable -> variable.endsWith("=x"));
  }

  @Test
  void aTaskIsToldWhichPlaceOfItsNodeWasTaken() {
    LaunchSpec launch =
        Launches.with(
            launches.of("n"),
            Json.object()
                .put("path_to_node", Json.strings(List.of("here", "hostA", "n")))
                .put("role", "replica")
                .build());
    List<String> variables = TaskEnvironment.of(launch, Map.of(), "cookie", "/status", 0, null);
    assertThat(variables).contains("ESPALIER_TASK_PARENT=hostA", "ESPALIER_TASK_ROLE=replica");
    assertThat(TaskEnvironment.of(launches.of("n"), Map.of(), "cookie", "/status", 0, null))
        .contains("ESPALIER_TASK_PARENT=")
        .noneMatch(variable -> variable.startsWith("ESPALIER_TASK_ROLE"));
  }

  private List<String> argv(String node, String... command) throws IOException {
    LaunchSpec launch = launches.of(node, command);
    return CommandLine.argv(launch, launch.command(), "/status", argument("{}"), null);
  }

  private static CommandLine.Argument argument(String text) {
    return new CommandLine.Argument() {
      @Override
      public String text() {
        return text;
      }

      @Override
      public Path file() {
        return Path.of("/json");
      }
    };
  }
}
