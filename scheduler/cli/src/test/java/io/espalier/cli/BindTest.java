package io.espalier.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.cli.flags.ProcessFlags;
import io.espalier.cli.flags.RemoteFlags;
import io.espalier.server.CommandException;
import io.espalier.server.app.options.ProcessOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** No listener can be reached from elsewhere before somebody said who may call it. */
class BindTest {
  @TempDir Path temp = Path.of("");
  private Path tokens = Path.of("");
  private Path secret = Path.of("");

  @Command
  private static final class Program {
    @Mixin private ProcessFlags flags = new ProcessFlags();
    @Mixin private RemoteFlags remote = new RemoteFlags();
  }

  @BeforeEach
  void files() throws IOException {
    tokens = Files.writeString(temp.resolve("tokens"), "ada admin token-of-ada-123456");
    Files.setPosixFilePermissions(tokens, PosixFilePermissions.fromString("rw-------"));
    secret = Files.writeString(temp.resolve("secret"), "a-secret-of-all-workers");
  }

  private static ProcessOptions options(String... arguments) {
    Program program = new Program();
    new CommandLine(program).parseArgs(arguments);
    return program.flags.options("site.json", false, false, false, 0, program.remote);
  }

  private static List<String> problems(String... arguments) {
    try {
      ProcessOptions unused = options(arguments);
      return List.of();
    } catch (CommandException e) {
      return Arrays.asList(String.valueOf(e.getMessage()).split("\nespalier: ", -1));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1:0", "localhost:8080", "[::1]:8080", "127.9.9.9:1"})
  void loopbackNeedsNothing(String address) {
    assertThat(problems("--http", address, "--thrift", address)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.0.0.0:8080", "[::]:8080", "10.1.2.3:8080", "[::ffff:10.1.2.3]:80"})
  void anythingElseIsRefusedForEachListenerWithWhatToDo(String address) {
    List<String> problems = problems("--http", address, "--thrift", address);
    assertThat(problems).hasSize(2);
    assertThat(problems)
        .anySatisfy(
            text ->
                assertThat(text)
                    .startsWith("--http ")
                    .contains("--tokens-file", "--insecure", "docs/security.md"))
        .anySatisfy(
            text -> assertThat(text).startsWith("--thrift ").contains("--token-file", "--tls-ca"));
    assertThat(problems("--http", address, "--thrift", address, "--insecure")).isEmpty();
    assertThat(
            problems(
                "--http=" + address,
                "--thrift=" + address,
                "--tokens-file=" + tokens,
                "--token-file=" + secret))
        .isEmpty();
  }

  @Test
  void theSecretOfWorkersDoesNotOpenHttpNorTheOtherWayRound() {
    assertThat(problems("--http", "0.0.0.0:1", "--token-file=" + secret))
        .singleElement()
        .asString()
        .startsWith("--http");
    assertThat(problems("--thrift", "0.0.0.0:1", "--tokens-file=" + tokens))
        .singleElement()
        .asString()
        .startsWith("--thrift");
  }

  @Test
  void aWorkerIsRefusedToo() {
    List<String> said = new ArrayList<>();
    CommandLine worker = new CommandLine(new WorkerCommand());
    worker.setExecutionExceptionHandler(
        (failure, command, parsed) -> {
          said.add(String.valueOf(failure.getMessage()));
          return 2;
        });
    assertThat(worker.execute("--scheduler=127.0.0.1:1", "--thrift=0.0.0.0:0")).isEqualTo(2);
    assertThat(said).singleElement().asString().contains("--thrift 0.0.0.0", "--insecure");
  }

  @Test
  void everythingThatIsWrongWithTheFilesIsToldAtOnce() throws Exception {
    Files.writeString(tokens, "ada admin\nbob boss token-of-bob-1234567");
    List<String> problems =
        problems(
            "--runner=simulated",
            "--tokens-file=" + tokens,
            "--tls-cert=" + temp.resolve("none"),
            "--tls-key=" + secret,
            "--allowed-hosts=ok.example,http://bad,*");
    assertThat(problems).hasSize(4);
    assertThat(problems.get(0)).contains("tokens:1:");
    assertThat(problems.get(1)).contains("tokens:2:").contains("viewer, operator or admin");
    assertThat(problems.get(2)).contains("none");
    assertThat(problems.get(3)).contains("\"http://bad\" is no host");
    assertThat(problems("--runner=simulated", "--tls-cert=" + secret))
        .singleElement()
        .asString()
        .contains("both or none");
    assertThat(problems("--tls-cert=" + secret, "--tls-key=" + secret))
        .singleElement()
        .asString()
        .contains("all or none");
  }

  @Test
  void allowedHostsComeTogetherWithThoseOfTheElection() {
    ProcessOptions options = options("--allowed-hosts", "a.example, b.example");
    assertThat(options.http().access().names(Set.of("c.example")))
        .containsExactlyInAnyOrder("a.example", "b.example", "c.example");
    assertThat(options.shown()).contains("--tokens-file=none").contains("--allowed-hosts=");
  }
}
