package io.espalier.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandRun;
import io.espalier.cli.client.EmbeddedSchedulerClient;
import io.espalier.cli.client.HttpSchedulerClient;
import io.espalier.cli.term.JsonFields;
import io.espalier.core.json.Json;
import io.espalier.webui.v1.ServerIdentity;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How the commands of the client reach a scheduler, and what they say when they do not. */
class ClientConnectionsTest extends ServedCommands {
  @Test
  void aServerThatIsNotThereIsThree() throws IOException {
    int free;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      free = socket.getLocalPort();
    }
    String url = "http://127.0.0.1:" + free;
    for (String command : new String[] {"jobs", "events --follow", "kill backup d12"}) {
      CommandRun run = CommandRun.of(0, (command + " --server " + url).split(" ", -1));
      assertThat(run.code()).as(command).isEqualTo(3);
      String readable =
          !command.equals("jobs")
              ? ""
              : "; a run that has ended has no server: read what it left with"
                  + " --data-dir .espalier/NAME";
      assertThat(run.err().strip())
          .isEqualTo(
              "cannot reach the scheduler at "
                  + url
                  + ": connection refused (see --server)"
                  + readable);
      assertThat(run.out()).isEmpty();
    }
    CommandRun unknown = CommandRun.of(0, "jobs", "--server", "http://no-such-host.invalid:1");
    assertThat(unknown.code()).isEqualTo(3);
    assertThat(unknown.err()).contains("no such host");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ftp://x",
        "http://",
        "http://a b",
        "http://u:p@x",
        "http://x?y",
        "http://x:65536"
      })
  void anAddressThatIsNoneIsTwo(String url) {
    CommandRun run = CommandRun.of(0, "jobs", "--server", url);
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err()).contains("is not the URL of a server");
  }

  @Test
  void theSchemeAndASlashAreOptional() {
    assertThat(CommandRun.of(0, "jobs", "--server", "127.0.0.1:" + server.port()).code()).isZero();
    assertThat(CommandRun.of(0, "jobs", "--server", server.uri() + "/").code()).isZero();
  }

  @Test
  void somethingElseThatAnswersIsNotAScheduler() throws IOException {
    HttpServer other =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
    other.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          exchange.getResponseBody().write("<html>".getBytes(StandardCharsets.UTF_8));
          exchange.close();
        });
    other.start();
    try {
      CommandRun run =
          CommandRun.of(0, "jobs", "--server", "127.0.0.1:" + other.getAddress().getPort());
      assertThat(run.code()).isEqualTo(3);
      assertThat(run.err()).contains("is not an Espalier scheduler");
    } finally {
      other.stop(0);
    }
  }

  @Test
  void followingGoesOnAfterTheServerWasAway() throws InterruptedException {
    List<Long> seen = new CopyOnWriteArrayList<>();
    AtomicBoolean ended = new AtomicBoolean();
    Thread reader =
        new Thread(
            () -> {
              try (Client client = new HttpSchedulerClient(server.uri().toString())) {
                client.follow(
                    Map.of(),
                    event -> {
                      seen.add(JsonFields.number(event, "sequence"));
                      return seen.size() < 4;
                    });
                ended.set(true);
              }
            });
    reader.start();
    await().until(() -> scheduler.events().subscribers() == 1);
    scheduler.events().add(1, "a", Json.Obj.EMPTY);
    await().until(() -> seen.size() == 1);

    int port = server.port();
    server.close();
    scheduler.events().add(2, "b", Json.Obj.EMPTY);
    scheduler.events().add(3, "c", Json.Obj.EMPTY);
    server = serve(port);

    await().until(() -> seen.size() == 3);
    scheduler.events().add(4, "d", Json.Obj.EMPTY);
    await().untilTrue(ended);
    assertThat(seen).containsExactly(3L, 4L, 5L, 6L);
    reader.join();
  }

  @Test
  void aDataDirectoryIsReadWithoutAServer() {
    List<Path> opened = new ArrayList<>();
    AtomicBoolean closed = new AtomicBoolean();
    Client.Opener opener =
        new Client.Opener() {
          @Override
          public Client server(String url) {
            throw new IllegalStateException("no server was meant");
          }

          @Override
          public Client dataDirectory(Path dataDir) {
            opened.add(dataDir);
            return new EmbeddedSchedulerClient(
                scheduler, ServerIdentity.UNNAMED, () -> closed.set(true));
          }
        };
    CommandRun jobs = CommandRun.of(opener, 0, "jobs", "--data-dir", "some/dir");
    assertThat(jobs.out()).isEqualTo(run("jobs").out());
    assertThat(opened).containsExactly(Path.of("some/dir"));
    assertThat(closed).isTrue();
    for (String command :
        new String[] {"tasks backup", "explain backup d22", "logs backup", "forgive scrub"}) {
      String[] offline = (command + " --json --data-dir d").split(" ", -1);
      assertThat(CommandRun.of(opener, 0, offline).out())
          .isEqualTo(run((command + " --json").split(" ", -1)).out());
    }
    CommandRun unknown = CommandRun.of(opener, 0, "tasks", "nobody", "--data-dir", "d");
    assertThat(unknown.code()).isEqualTo(1);
    assertThat(unknown.err().strip())
        .isEqualTo("there is no job \"nobody\" (there are backup, broken, scrub)");
    CommandRun both = CommandRun.of(opener, 0, "jobs", "--data-dir", "d", "--server", "x");
    assertThat(both.code()).isEqualTo(2);
    assertThat(CommandRun.of(opener, 0, "kill", "a", "b", "--data-dir", "d").code())
        .as("nothing runs there")
        .isEqualTo(2);
  }
}
