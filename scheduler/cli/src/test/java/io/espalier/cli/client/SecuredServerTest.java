package io.espalier.cli.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.espalier.core.json.Json;
import io.espalier.server.CommandException;
import io.espalier.server.security.ClientAccess;
import io.espalier.server.security.HttpSecurityOptions;
import io.espalier.server.security.TlsFiles;
import io.espalier.testkit.api.ApiFixture;
import io.espalier.testkit.api.FakeScheduler;
import io.espalier.testkit.tls.Authority;
import io.espalier.testkit.tls.Authority.Member;
import io.espalier.webui.StandbyState;
import io.espalier.webui.WebOptions;
import io.espalier.webui.WebServer;
import io.espalier.webui.http.WebSecurity;
import io.espalier.webui.security.MemoryAuditLog;
import io.espalier.webui.v1.ApiV1;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server with certificates and tokens, and the clients of the command line. */
class SecuredServerTest {
  private record World(
      Authority ours, Member server, Member alice, Member worker, Member stranger) {}

  private static final CompletableFuture<World> WORLD = new CompletableFuture<>();

  @TempDir static Path directory = Path.of("");

  private final FakeScheduler scheduler = ApiFixture.standard();
  private TlsFiles files = new TlsFiles(Path.of(""), Path.of(""), Optional.empty());
  private Optional<WebServer> server = Optional.empty();

  @BeforeAll
  static void certificates() throws Exception {
    Authority ours = new Authority(directory.resolve("ours"));
    Authority theirs = new Authority(directory.resolve("theirs"));
    WORLD.complete(
        new World(
            ours,
            ours.member("scheduler"),
            ours.member("alice"),
            ours.member("worker"),
            theirs.member("alice")));
  }

  @BeforeEach
  void start() throws Exception {
    Path own = Files.createTempDirectory(directory, "server");
    Member from = WORLD.get().server();
    files =
        new TlsFiles(
            Files.copy(from.certificate(), own.resolve("cert.pem")),
            Files.copy(from.key(), own.resolve("key.pem")),
            Optional.of(WORLD.get().ours().certificate()));
    server =
        Optional.of(
            WebServer.start(
                WebOptions.at("127.0.0.1", 0).withSecurity(security()),
                scheduler,
                new PrometheusMeterRegistry(PrometheusConfig.DEFAULT)));
  }

  private WebSecurity security() throws IOException {
    Path tokens = secret("tokens", "ada admin token-of-ada-123456\nalice operator cert:CN=alice\n");
    return new HttpSecurityOptions(Optional.of(tokens), Optional.of(files), Set.of())
        .open(new MemoryAuditLog(100));
  }

  @AfterEach
  void stop() {
    server.ifPresent(WebServer::close);
  }

  private static Path secret(String name, String text) throws IOException {
    Path file = Files.writeString(directory.resolve(name), text);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
  }

  private static ClientAccess certificate(Member shown) throws Exception {
    return ClientAccess.of(
        Optional.empty(),
        Optional.of(WORLD.get().ours().certificate()),
        Optional.of(shown.certificate()),
        Optional.of(shown.key()));
  }

  private static ClientAccess token(String text) throws Exception {
    return ClientAccess.of(
        Optional.of(secret("token", text)),
        Optional.of(WORLD.get().ours().certificate()),
        Optional.empty(),
        Optional.empty());
  }

  private String url() {
    return server.orElseThrow().uri().toString();
  }

  private static Json.Obj me(String url, ClientAccess access) {
    try (HttpSchedulerClient api = new HttpSchedulerClient(url, access)) {
      return api.call("GET", ApiV1.ME, Map.of(), Map.of(), Json.Obj.EMPTY);
    }
  }

  private static CommandException refused(String url, ClientAccess access) {
    return Objects.requireNonNull(
        catchThrowableOfType(CommandException.class, () -> me(url, access)));
  }

  @Test
  void aTokenAndACertificateOpenTheDoor() throws Exception {
    assertThat(url()).startsWith("https://127.0.0.1:");
    assertThat(me(url(), token("token-of-ada-123456")).get("name")).isEqualTo(Json.of("ada"));
    assertThat(me(url(), certificate(WORLD.get().alice())).get("role"))
        .isEqualTo(Json.of("operator"));
  }

  @Test
  void whoIsNotKnownIsToldWhatToDo() throws Exception {
    ClientAccess nobody =
        ClientAccess.of(
            Optional.empty(),
            Optional.of(WORLD.get().ours().certificate()),
            Optional.empty(),
            Optional.empty());
    CommandException none = refused(url(), nobody);
    assertThat(none.exitCode()).isEqualTo(2);
    assertThat(none).hasMessageContaining("--token-file");
    CommandException wrong = refused(url(), token("wrong-token-12345678"));
    assertThat(wrong.exitCode()).isEqualTo(2);
    assertThat(wrong).hasMessageContaining("does not take the token");
    CommandException worker = refused(url(), certificate(WORLD.get().worker()));
    assertThat(worker.exitCode()).isEqualTo(2);
    assertThat(worker).hasMessageContaining("cert:CN=worker");
  }

  @Test
  void aMemberMayNotDoMoreThanItsRole() throws Exception {
    try (HttpSchedulerClient api =
        new HttpSchedulerClient(url(), certificate(WORLD.get().alice()))) {
      assertThatThrownBy(
              () ->
                  api.call("DELETE", ApiV1.JOB, Map.of("job", "backup"), Map.of(), Json.Obj.EMPTY))
          .hasMessageContaining("needs the role admin");
    }
    assertThat(scheduler.calls()).isEmpty();
  }

  @Test
  void certificatesOfOthersEndTheConnectionOnEitherSide() throws Exception {
    CommandException stranger = refused(url(), certificate(WORLD.get().stranger()));
    assertThat(stranger.exitCode()).isEqualTo(3);
    CommandException unknown = refused(url(), ClientAccess.none());
    assertThat(unknown.exitCode()).isEqualTo(3);
    assertThat(unknown).hasMessageContaining("--tls-ca");
    assertThat(refused(url().replace("https", "http"), ClientAccess.none()))
        .hasMessageContaining("does it want https?");
  }

  @Test
  void whoBeginsAHandshakeAndDoesNotEndItKeepsNobodyOut() throws Exception {
    try (Socket silent = new Socket(InetAddress.getLoopbackAddress(), server.orElseThrow().port());
        Socket half = new Socket(InetAddress.getLoopbackAddress(), server.orElseThrow().port())) {
      half.getOutputStream().write(new byte[] {0x16, 3, 1, 0, (byte) 0xf4, 1, 0, 0, (byte) 0xf0});
      assertThat(me(url(), token("token-of-ada-123456"))).isNotNull();
      for (Socket socket : new Socket[] {silent, half}) {
        socket.setSoTimeout(20_000);
        byte[] alert = socket.getInputStream().readNBytes(1_000);
        assertThat(alert.length).as("closed, perhaps after an alert").isLessThan(1_000);
      }
    }
  }

  @Test
  void aRenewedCertificateIsShownWithoutARestartAndABrokenOneIsNot() throws Exception {
    Member renewed = WORLD.get().ours().member("renewed");
    Files.writeString(files.certificate(), "in the middle of being written");
    Awaitility.await()
        .during(Duration.ofSeconds(2))
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(() -> assertThat(shown()).contains("CN=scheduler"));
    Files.copy(renewed.key(), files.key(), StandardCopyOption.REPLACE_EXISTING);
    Files.copy(renewed.certificate(), files.certificate(), StandardCopyOption.REPLACE_EXISTING);
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(() -> assertThat(shown()).contains("CN=renewed"));
    assertThat(me(url(), token("token-of-ada-123456"))).isNotNull();
  }

  private String shown() throws Exception {
    Member alice = WORLD.get().alice();
    SSLContext context =
        new TlsFiles(
                alice.certificate(), alice.key(), Optional.of(WORLD.get().ours().certificate()))
            .context();
    try (SSLSocket socket =
        (SSLSocket)
            context.getSocketFactory().createSocket("127.0.0.1", server.orElseThrow().port())) {
      socket.startHandshake();
      return socket.getSession().getPeerPrincipal().getName();
    }
  }

  @Test
  void aStandbyAsksOnWithTheTokenAndSendsOnWhoShowsACertificate() throws Exception {
    StandbyState state =
        new StandbyState(
            "/espalier/prod", Optional.of(server.orElseThrow().uri()), "the leader", "");
    try (WebServer standby =
        WebServer.standby(WebOptions.at("127.0.0.1", 0).withSecurity(security()), () -> state)) {
      String there = standby.uri().toString();
      assertThat(me(there, token("token-of-ada-123456")).get("name")).isEqualTo(Json.of("ada"));
      assertThat(me(there, certificate(WORLD.get().alice())).get("name"))
          .isEqualTo(Json.of("alice"));
      assertThat(refused(there, token("wrong-token-12345678")).exitCode()).isEqualTo(2);
      try (HttpSchedulerClient api = new HttpSchedulerClient(there, token("token-of-ada-123456"))) {
        Json.Obj paused =
            api.call("POST", ApiV1.PAUSE, Map.of("job", "backup"), Map.of(), Json.Obj.EMPTY);
        assertThat(paused.get("paused")).isEqualTo(Json.of(true));
      }
    }
  }

  @Test
  void filesThatCannotBeUsedAreNamed() throws Exception {
    Path pem = WORLD.get().ours().certificate();
    Path open = Files.writeString(directory.resolve("open"), "token-of-ada-123456");
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-r--r--"));
    assertThatThrownBy(
            () ->
                ClientAccess.of(
                    Optional.of(open), Optional.empty(), Optional.empty(), Optional.empty()))
        .hasMessageContaining("chmod 600");
    assertThatThrownBy(
            () ->
                ClientAccess.of(
                    Optional.empty(), Optional.of(open), Optional.empty(), Optional.empty()))
        .hasMessageContaining("open");
    assertThatThrownBy(
            () ->
                ClientAccess.of(
                    Optional.empty(), Optional.empty(), Optional.of(pem), Optional.empty()))
        .hasMessageContaining("both or none");
    assertThatThrownBy(() -> new TlsFiles(pem, pem, Optional.empty()).read())
        .hasMessageContaining("pkcs8");
    assertThat(token("token-of-ada-123456").toString()).doesNotContain("ada");
  }
}
