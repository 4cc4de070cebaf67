package io.espalier.cli.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.json.Json;
import io.espalier.server.CommandException;
import io.espalier.server.security.ClientAccess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Contexts: which scheduler a command asks, and with which token. */
class ContextsTest {
  private static final String TOKEN = "token-of-ada-123456";

  @TempDir Path home = Path.of("");
  private Path file = Path.of("");
  private Path token = Path.of("");
  private final Recorder recorder = new Recorder();

  /** Remembers which scheduler was opened with which token. */
  private static final class Recorder implements Client.Opener {
    private final List<String> opened = new ArrayList<>();

    @Override
    public Client server(String server) {
      return new Nothing();
    }

    @Override
    public Client server(String server, ClientAccess access) {
      opened.add(server + " " + access.authorization().orElse("no token"));
      return new Nothing();
    }

    @Override
    public Client leader(String group, @Nullable Path authFile, ClientAccess access) {
      opened.add("leader of " + group + " " + access.authorization().orElse("no token"));
      return new Nothing();
    }

    @Override
    public Client dataDirectory(Path dataDir) {
      opened.add("data of " + dataDir);
      return new Nothing();
    }

    String only() {
      assertThat(opened).hasSize(1);
      return opened.remove(0);
    }
  }

  /** Has no jobs. */
  private static final class Nothing implements Client {
    @Override
    public Json.Obj call(
        String method,
        String template,
        Map<String, String> path,
        Map<String, List<String>> query,
        Json.Obj body) {
      return Json.object().put("jobs", Json.Arr.EMPTY).build();
    }

    @Override
    public void follow(Map<String, List<String>> query, Predicate<Json.Obj> onEvent) {}

    @Override
    public void followLogs(Map<String, List<String>> query, Predicate<Json.Obj> onLine) {}

    @Override
    public void close() {}
  }

  @BeforeEach
  void files() throws IOException {
    file = Contexts.file(Map.of("HOME", home.toString()));
    token = Files.writeString(home.resolve("prod.token"), TOKEN + "\n");
    Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
  }

  private CommandRun run(String... arguments) {
    return run(Map.of(), arguments);
  }

  private CommandRun run(Map<String, String> environment, String... arguments) {
    return CommandRun.of(new CommandContext(recorder, 0, file), environment, arguments);
  }

  private void prodAndEu() {
    assertThat(
            run("context", "add", "prod", "--server", "https://a:1", "--token-file", "" + token)
                .out())
        .isEqualToNormalizingNewlines("prod is https://a:1, and used\n");
    assertThat(run("context", "add", "eu", "--zookeeper", "zk1:2181/espalier").out())
        .isEqualToNormalizingNewlines("eu is zk1:2181/espalier; use it: espalier context use eu\n");
  }

  @Test
  void theFileIsWhereConfigurationsOfUsersAre() {
    assertThat(Contexts.file(Map.of("HOME", "/h")))
        .isEqualTo(Path.of("/h/.config/espalier/contexts.json"));
    assertThat(Contexts.file(Map.of("HOME", "/h", "XDG_CONFIG_HOME", "/x")))
        .isEqualTo(Path.of("/x/espalier/contexts.json"));
    assertThat(Contexts.file(Map.of("HOME", "/h", "XDG_CONFIG_HOME", "x")))
        .isEqualTo(Path.of("/h/.config/espalier/contexts.json"));
  }

  @Test
  void commandsAskTheSchedulerOfTheContext() {
    run("jobs");
    assertThat(recorder.only()).isEqualTo("http://127.0.0.1:8080 no token");
    prodAndEu();
    run("jobs");
    assertThat(recorder.only()).isEqualTo("https://a:1 Bearer " + TOKEN);
    run("jobs", "--context", "eu");
    assertThat(recorder.only()).isEqualTo("leader of zk1:2181/espalier no token");
    run("context", "use", "eu");
    run("jobs");
    assertThat(recorder.only()).isEqualTo("leader of zk1:2181/espalier no token");
    run(Map.of("ESPALIER_CONTEXT", "prod"), "jobs");
    assertThat(recorder.only()).isEqualTo("https://a:1 Bearer " + TOKEN);
    assertThat(run("context", "remove", "eu").out()).contains("no context is current");
    run("jobs");
    assertThat(recorder.only()).isEqualTo("http://127.0.0.1:8080 no token");
  }

  @Test
  void anAddressGetsNoTokenOfAContext() {
    prodAndEu();
    run("jobs", "--server", "https://other:1");
    assertThat(recorder.only()).isEqualTo("https://other:1 no token");
    run(Map.of("ESPALIER_SERVER", "https://other:1"), "jobs");
    assertThat(recorder.only()).isEqualTo("https://other:1 no token");
    run(Map.of("ESPALIER_SERVER", "https://other:1"), "jobs", "--context", "prod");
    assertThat(recorder.only()).isEqualTo("https://a:1 Bearer " + TOKEN);
    run(Map.of("ESPALIER_SERVER", "https://other:1"), "jobs", "--zookeeper", "zk2:2181/x");
    assertThat(recorder.only()).isEqualTo("leader of zk2:2181/x no token");
    run(Map.of("ESPALIER_ZOOKEEPER", "zk2:2181/x"), "jobs", "--server", "https://other:1");
    assertThat(recorder.only()).isEqualTo("https://other:1 no token");
  }

  @Test
  void flagsReplaceSingleFilesOfAContext() throws IOException {
    prodAndEu();
    Path mine = Files.writeString(home.resolve("mine"), "token-of-eve-123456");
    Files.setPosixFilePermissions(mine, PosixFilePermissions.fromString("rw-------"));
    run("jobs", "--token-file", mine.toString());
    assertThat(recorder.only()).isEqualTo("https://a:1 Bearer token-of-eve-123456");
  }

  @Test
  void dataOfAnEndedRunAreReadInPlaceOfTheCurrentContext() {
    prodAndEu();
    run("jobs", "--data-dir", "/data");
    assertThat(recorder.only()).isEqualTo("data of /data");
    run(Map.of("ESPALIER_DATA_DIR", "/data"), "jobs", "--context", "prod");
    assertThat(recorder.only()).isEqualTo("https://a:1 Bearer " + TOKEN);
    assertThat(run("jobs", "--data-dir", "/data", "--context", "prod").code()).isEqualTo(2);
  }

  @Test
  void twoSchedulersAtOnceAreRefused() {
    prodAndEu();
    assertThat(run("jobs", "--server", "a:1", "--context", "prod").err()).contains("exclude each");
    assertThat(run("jobs", "--server", "a:1", "--zookeeper", "z:1/x").err())
        .contains("exclude each");
    assertThat(run("jobs", "--context", "nowhere").err()).contains("there are: prod, eu");
    assertThat(recorder.opened).isEmpty();
  }

  @Test
  void theFileNamesTokensAndDoesNotHoldThem() throws IOException {
    prodAndEu();
    assertThat(Files.readString(file)).contains(token.toString()).doesNotContain(TOKEN);
    assertThat(run("context", "list").out().lines().map(String::strip).toList())
        .containsExactly(
            "NAME  SCHEDULER          TOKEN"
                + " ".repeat(token.toString().length() - 5)
                + "  CERTIFICATE",
            "*  prod  https://a:1        " + token,
            "eu    zk1:2181/espalier");
    assertThat(run("context", "list", "--json").json())
        .isEqualTo(
            Json.object()
                .put("current", "prod")
                .put(
                    "contexts",
                    Json.object()
                        .put(
                            "prod",
                            Json.object()
                                .put("server", "https://a:1")
                                .put("token_file", token.toString())
                                .build())
                        .put("eu", Json.object().put("zookeeper", "zk1:2181/espalier").build())
                        .build())
                .build());
  }

  @Test
  void aContextThatCannotBeUsedIsNotAdded() throws IOException {
    prodAndEu();
    String before = Files.readString(file);
    assertThat(run("context", "add", "x").err()).contains("--server or --zookeeper");
    assertThat(run("context", "add", "x", "--server", "ftp://a").err()).contains("not the URL");
    assertThat(run("context", "add", "x", "--server", "https://ada:secret-1@a").code())
        .isEqualTo(2);
    assertThat(run("context", "add", "x", "--zookeeper", "zk1:2181").err()).contains("path");
    assertThat(run("context", "add", "x", "--server", "a", "--token-file", "/no/such").err())
        .contains("/no/such");
    assertThat(run("context", "add", "x y", "--server", "a").err()).contains("no name");
    CommandRun other = run("context", "add", "prod", "--server", "https://b:1");
    assertThat(other.code()).isEqualTo(2);
    assertThat(other.err()).contains("exists and is for https://a:1");
    assertThat(run("context", "use", "nowhere").code()).isEqualTo(2);
    assertThat(run("context", "remove", "nowhere").code()).isEqualTo(2);
    assertThat(Files.readString(file)).isEqualTo(before);
    assertThat(
            run("context", "add", "prod", "--server", "https://a:1", "--token-file", "" + token)
                .code())
        .as("the same once more")
        .isZero();
  }

  @Test
  void everythingThatIsWrongWithTheFileIsSaidAtOnceWithoutSecrets() throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(
        file,
        """
        {
          "current": "prdo",
          "contexts": {
            "prod": {"server": "https://a", "token": "secret-of-ada"},
            "eu": {"server": 3},
            "x y": {"zookeeper": "z:1/x", "server": "a"}
          }
        }
        """);
    assertThatThrownBy(() -> Contexts.read(file))
        .isInstanceOfSatisfying(
            CommandException.class,
            problem ->
                assertThat(String.valueOf(problem.getMessage()).lines())
                    .hasSize(5)
                    .satisfiesExactly(
                        line -> assertThat(line).contains("2:", "did you mean \"prod\"?"),
                        line -> assertThat(line).contains("4:", "contexts.prod.token", "unknown"),
                        line -> assertThat(line).contains("5:", "contexts.eu.server", "a text"),
                        line -> assertThat(line).contains("6:", "no name of a context"),
                        line -> assertThat(line).contains("6:", "either")))
        .hasMessageNotContaining("secret-of-ada");
    assertThat(run("jobs").code()).isEqualTo(2);
    assertThat(run("jobs", "--server", "https://a:1").code()).isZero();
  }

  @Test
  void relativePathsAreThoseOfTheFile() throws IOException {
    Files.createDirectories(file.getParent());
    Files.move(token, file.resolveSibling("t"));
    Files.writeString(
        file,
        "{\"current\": \"p\", \"contexts\": {\"p\": {\"server\": \"https://a:1\", \"token_file\":"
            + " \"t\"}}}");
    run("jobs");
    assertThat(recorder.only()).isEqualTo("https://a:1 Bearer " + TOKEN);
  }
}
