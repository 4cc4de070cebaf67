package io.espalier.worker.call;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.espalier.core.call.CallAnswer;
import io.espalier.core.call.CallClient;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.json.Json;
import io.espalier.core.running.Call;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.InvocationLimits;
import io.espalier.testkit.running.CallClientContract.Behaviour;
import io.espalier.testkit.tls.Authority;
import io.espalier.thrift.rpc.Pem;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What goes wrong with TLS is said in words, and proves that nothing was sent. */
class CallTlsTest {
  private static final CompletableFuture<World> WORLD = new CompletableFuture<>();

  @TempDir static Path directory = Path.of("");

  private final ThriftCalls thrift = new ThriftCalls();
  private final HttpCalls http = new HttpCalls();

  private record World(Authority ours, Authority.Member service, Authority theirs) {}

  @BeforeAll
  static void certificates() throws Exception {
    Authority ours = new Authority(directory.resolve("ours"));
    Authority theirs = new Authority(directory.resolve("theirs"));
    WORLD.complete(new World(ours, ours.member("service"), theirs));
  }

  @AfterEach
  void close() {
    thrift.close();
    http.close();
  }

  private static Json.Obj trusting(Path authority) {
    return Json.object().put("ca_file", authority.toString()).build();
  }

  private static Json.Builder agent(String host, int port) {
    return Json.object().put("host", host).put("port", port).put("timeout_sec", 5);
  }

  private static CallAnswer start(CallClient client, Json.Builder options) throws Exception {
    Call call =
        Call.of(
            new CallSpec(client.executor(), options.build(), false, Duration.ofMinutes(1)),
            "job",
            0,
            new Invocation(7, 1, 1_000),
            1,
            List.of("instance"),
            List.of("i"),
            InvocationLimits.NONE);
    return client
        .start(call, Json.Obj.EMPTY, () -> true)
        .toCompletableFuture()
        .get(30, TimeUnit.SECONDS);
  }

  private static void assertNotStarted(CallAnswer answer, String... words) {
    assertThat(answer).isInstanceOf(CallAnswer.NotStarted.class);
    assertThat(((CallAnswer.NotStarted) answer).message()).contains(words);
    assertThat(((CallAnswer.NotStarted) answer).retryAfterMillis()).isZero();
  }

  /** An agent with TLS that ends every call. */
  private static FakeAgent secured(String address, boolean wantsCertificates) throws IOException {
    World world = WORLD.join();
    FakeAgent agent =
        new FakeAgent(
            FakeAgent.tls(
                address, world.service(), wantsCertificates ? world.ours().certificate() : null));
    agent.behaves(Behaviour.ENDS);
    return agent;
  }

  /** A service over HTTPS that ends every call. */
  private static HttpsServer https(String address) throws IOException {
    Authority.Member service = WORLD.join().service();
    HttpsServer server = HttpsServer.create(new InetSocketAddress(address, 0), 5);
    server.setHttpsConfigurator(
        new HttpsConfigurator(Pem.context(Pem.keys(service.certificate(), service.key()), null)));
    server.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    server.start();
    return server;
  }

  private static Json.Builder url(HttpsServer server, String host) {
    return Json.object().put("url", "https://" + host + ":" + server.getAddress().getPort() + "/");
  }

  @Test
  void theAuthorityOfTheFileIsTrustedAndNoOther() throws Exception {
    World world = WORLD.join();
    HttpsServer server = https("127.0.0.1");
    try (FakeAgent agent = secured("127.0.0.1", false)) {
      Json.Obj right = trusting(world.ours().certificate());
      Json.Obj wrong = trusting(world.theirs().certificate());
      Json.Builder to = agent("127.0.0.1", agent.port());
      assertThat(start(thrift, to.put("tls", right))).isInstanceOf(CallAnswer.Ended.class);
      assertThat(start(http, url(server, "127.0.0.1").put("tls", right)))
          .isInstanceOf(CallAnswer.Ended.class);
      String words = "is of no authority that is trusted (set \"ca_file\" in \"tls\")";
      for (Json.Obj tls : List.of(wrong, Json.Obj.EMPTY)) {
        assertNotStarted(start(thrift, agent("127.0.0.1", agent.port()).put("tls", tls)), words);
        assertNotStarted(start(http, url(server, "127.0.0.1").put("tls", tls)), words);
      }
      assertThat(agent.requests()).hasSize(1);
    } finally {
      server.stop(0);
    }
  }

  @Test
  void aCertificateOfAnotherHostIsRefused() throws Exception {
    Json.Obj tls = trusting(WORLD.join().ours().certificate());
    HttpsServer server = https("127.0.0.2");
    try (FakeAgent agent = secured("127.0.0.2", false)) {
      String words = "the certificate of the service is for another host";
      assertNotStarted(start(thrift, agent("127.0.0.2", agent.port()).put("tls", tls)), words);
      assertNotStarted(start(http, url(server, "127.0.0.2").put("tls", tls)), words);
      assertThat(agent.requests()).isEmpty();
    } finally {
      server.stop(0);
    }
  }

  @Test
  void anAgentThatWantsACertificateGetsNoneOfAnotherAuthority() throws Exception {
    World world = WORLD.join();
    Authority.Member stranger = world.theirs().member("stranger");
    try (FakeAgent agent = secured("127.0.0.1", true)) {
      Json.Obj none = trusting(world.ours().certificate());
      Json.Obj wrong =
          Json.object()
              .put("ca_file", world.ours().certificate().toString())
              .put("cert_file", stranger.certificate().toString())
              .put("key_file", stranger.key().toString())
              .build();
      for (Json.Obj tls : List.of(none, wrong)) {
        assertNotStarted(
            start(thrift, agent("127.0.0.1", agent.port()).put("tls", tls)),
            "wants a certificate that it trusts");
      }
      assertThat(agent.requests()).isEmpty();
    }
  }

  @Test
  void aServiceInTheClearIsNotCalledWithTls() throws Exception {
    Json.Obj tls = trusting(WORLD.join().ours().certificate());
    try (Clear web = new Clear();
        Clear agent = new Clear()) {
      String url = "https://127.0.0.1:" + web.port() + "/";
      String words = "the service does not speak TLS";
      assertNotStarted(start(http, Json.object().put("url", url).put("tls", tls)), words);
      assertNotStarted(start(thrift, agent("127.0.0.1", agent.port()).put("tls", tls)), words);
    }
  }

  @Test
  void anAgentWithTlsIsNotCalledInTheClear() throws Exception {
    try (FakeAgent agent = secured("127.0.0.1", false)) {
      assertNotStarted(
          start(thrift, agent("127.0.0.1", agent.port())), "the agent speaks TLS: set \"tls\"");
      assertThat(agent.requests()).isEmpty();
    }
  }

  @Test
  void aHandshakeThatIsNeverAnsweredEndsAfterTheTimeout() throws Exception {
    Json.Obj tls = trusting(WORLD.join().ours().certificate());
    try (ServerSocket silent = FakeAgent.plain()) {
      assertNotStarted(
          start(
              thrift,
              Json.object()
                  .put("host", "127.0.0.1")
                  .put("port", silent.getLocalPort())
                  .put("timeout_sec", Json.of(0.3))
                  .put("tls", tls)),
          "does not answer the TLS handshake");
    }
  }

  @Test
  void filesThatHaveChangedAreReadAgain() throws Exception {
    World world = WORLD.join();
    Path file = directory.resolve("renewed.pem");
    Path secret = directory.resolve("secret");
    try (FakeAgent agent = secured("127.0.0.1", false)) {
      Json.Obj options =
          agent("127.0.0.1", agent.port())
              .put("tls", trusting(file))
              .put("secret_file", secret.toString())
              .build();
      assertNotStarted(start(thrift, copy(options)), "secret", "NoSuchFile");
      Files.writeString(secret, "\n");
      assertNotStarted(start(thrift, copy(options)), "secret", "must hold a secret");
      Files.writeString(secret, "first");
      assertNotStarted(start(thrift, copy(options)), "renewed.pem cannot be read");
      Files.writeString(file, "nothing of use");
      assertNotStarted(start(thrift, copy(options)), "renewed.pem has no certificate");
      Files.copy(world.theirs().certificate(), file, StandardCopyOption.REPLACE_EXISTING);
      assertNotStarted(start(thrift, copy(options)), "no authority that is trusted");
      Files.delete(file);
      Files.copy(world.ours().certificate(), file);
      assertThat(start(thrift, copy(options))).isInstanceOf(CallAnswer.Ended.class);
      Files.writeString(secret, "second\n");
      assertThat(start(thrift, copy(options))).isInstanceOf(CallAnswer.Ended.class);
      assertThat(agent.requests())
          .extracting(FakeAgent.Request::secret)
          .containsExactly("first", "second");
    }
  }

  private static Json.Builder copy(Json.Obj options) {
    Json.Builder copy = Json.object();
    options.members().forEach(copy::put);
    return copy;
  }

  /** A service that greets whoever connects, in the clear. */
  private static final class Clear implements AutoCloseable {
    private final ServerSocket server = FakeAgent.plain();
    private final Thread thread =
        new Thread(
            () -> {
              try (var connection = server.accept()) {
                connection.getOutputStream().write("220 mail.example.com\r\n".getBytes(US_ASCII));
                while (connection.getInputStream().read() >= 0) {}
              } catch (IOException e) {
                // The test is over.
              }
            },
            "clear");

    Clear() {
      thread.start();
    }

    int port() {
      return server.getLocalPort();
    }

    @Override
    public void close() throws IOException {
      server.close();
    }
  }
}
