package io.espalier.server.ha;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.source.WritableConfigSource;
import io.espalier.core.json.Json;
import io.espalier.server.app.ownership.LeadershipLease;
import io.espalier.server.config.ConfigSources;
import io.espalier.server.config.JobEditor;
import io.espalier.server.security.ClientAccess;
import io.espalier.server.zk.ZooKeeperException;
import io.espalier.server.zk.ZooKeeperLink;
import io.espalier.server.zk.ZooKeeperTarget;
import io.espalier.testkit.config.ConfigFixtures;
import io.espalier.testkit.tls.Authority;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A real server of ZooKeeper in its own process, which speaks TLS only and wants certificates. */
@Timeout(120)
@Tag("slow")
@SuppressWarnings("NullAway.Init")
class SecuredZooKeeperTest {
  private static final Candidate A = new Candidate("a:8080", "a:6789", "a", 1, 1);
  private static final Candidate B = new Candidate("b:8080", "b:6789", "b", 2, 2);
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Duration REFUSED_WITHIN = Duration.ofSeconds(3);

  @TempDir private static Path directory;
  private static Authority authority;
  private static Process server;
  private static int port;

  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  @BeforeAll
  static void start() throws Exception {
    authority = new Authority(directory.resolve("ca"));
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    Path settings =
        Files.writeString(
            directory.resolve("zoo.cfg"),
            """
            tickTime=500
            dataDir=%s
            admin.enableServer=false
            secureClientPort=%d
            secureClientPortAddress=127.0.0.1
            serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory
            authProvider.x509=org.apache.zookeeper.server.auth.X509AuthenticationProvider
            ssl.keyStore.location=%s
            ssl.trustStore.location=%s
            """
                .formatted(
                    directory.resolve("data"),
                    port,
                    authority.member("zookeeper").both(),
                    authority.certificate()));
    String classPath =
        List.of(System.getProperty("java.class.path").split(File.pathSeparator, -1)).stream()
            .filter(entry -> !Files.exists(Path.of(entry, "logback-test.xml")))
            .collect(Collectors.joining(File.pathSeparator));
    server =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx128m",
                "-cp",
                classPath,
                "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                settings.toString())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("log").toFile())
            .start();
  }

  @AfterAll
  static void stop() throws InterruptedException {
    server.destroyForcibly();
    assertThat(server.waitFor(10, TimeUnit.SECONDS)).isTrue();
  }

  @AfterEach
  void close() throws Exception {
    while (!open.isEmpty()) {
      open.pop().close();
    }
  }

  private static ZooKeeperTarget target(String path, Path access) {
    return ZooKeeperTarget.parse("127.0.0.1:" + port + path).withAuthFile(Optional.of(access));
  }

  /** The lines of an access file for a member with a certificate of its own. */
  private static Path access(String member, String... lines) throws Exception {
    List<String> all = new ArrayList<>(List.of(lines));
    all.add("tls-ca ca/ca.pem");
    all.add("tls-cert " + authority.member(member).both());
    return Files.write(directory.resolve(member + ".access"), all);
  }

  private static Path group(String member) throws Exception {
    return access(
        member,
        "digest espalier:s3cret",
        "read digest " + DigestAuthenticationProvider.generateDigest("workers:w0rk"));
  }

  private ZooKeeperLink connected(ZooKeeperTarget target) throws Exception {
    ZooKeeperLink link = ZooKeeperLink.open(target);
    open.push(link);
    link.awaitConnected(PATIENCE);
    return link;
  }

  private ZooKeeperElection join(ZooKeeperLink link, Candidate self) throws IOException {
    ZooKeeperElection election =
        ZooKeeperElection.join(link, self, LeadershipLease.ofSystemClocks());
    open.push(election);
    return election;
  }

  private static List<String> below(CuratorFramework client, String path) throws Exception {
    List<String> found = new ArrayList<>(List.of(path));
    for (String child : client.getChildren().forPath(path)) {
      found.addAll(below(client, path + "/" + child));
    }
    return found;
  }

  @Test
  void theGroupAloneWritesAndReadersFindTheLeader() throws Exception {
    ZooKeeperLink first = connected(target("/plant/group", group("s1")));
    SharedStore.require(first, "mysql db/espalier");
    ZooKeeperElection election = join(first, A);
    assertThat(election.awaitLeadership(20_000)).isTrue();
    // Another host has another certificate; the account makes it a member.
    join(connected(target("/plant/group", group("s2"))), B);

    for (String path : below(first.client(), "/plant")) {
      assertThat(first.client().getACL().forPath(path))
          .as(path)
          .noneMatch(rule -> rule.getId().getScheme().equals("world"))
          .anyMatch(rule -> rule.getId().getId().startsWith("espalier:"))
          .filteredOn(rule -> rule.getId().getId().startsWith("workers:"))
          .singleElement()
          .matches(rule -> rule.getPerms() == 1);
    }

    ZooKeeperLink reader = connected(target("/plant/group", access("w1", "digest workers:w0rk")));
    assertThat(LeaderWatch.read(reader)).containsExactly(A, B);
    CuratorFramework client = reader.client();
    assertThatThrownBy(() -> client.delete().forPath("/plant/group/proof"))
        .isInstanceOf(KeeperException.NoAuthException.class);
    assertThatThrownBy(() -> client.setData().forPath("/plant/group/proof", new byte[1]))
        .isInstanceOf(KeeperException.NoAuthException.class);
    assertThatThrownBy(() -> client.create().forPath("/plant/group/leader/first", new byte[1]))
        .isInstanceOf(KeeperException.NoAuthException.class);

    ZooKeeperLink stranger = connected(target("/plant/group", access("nobody")));
    assertThatThrownBy(() -> LeaderWatch.read(stranger))
        .isInstanceOf(ZooKeeperException.class)
        .hasMessageContaining("no rights there (ACL)");
  }

  @Test
  void theCheckSpeaksTlsToo() throws Exception {
    ZooKeeperTarget target = target("/checked/group", group("s3"));
    ZooKeeperElection election = join(connected(target), A);
    assertThat(election.awaitLeadership(20_000)).isTrue();
    List<String> found = new ArrayList<>();
    new HaCheck(
            ClientAccess.none(), finding -> found.add(finding.about() + ": " + finding.message()))
        .look(target);
    assertThat(found).anyMatch(line -> line.startsWith("ensemble: 1 of 1 servers answer"));
  }

  @Test
  void strangersGetNoConnection() throws Exception {
    Authority theirs = new Authority(directory.resolve("theirs"));
    Path forged =
        Files.write(
            directory.resolve("forged"),
            List.of("tls-ca ca/ca.pem", "tls-cert " + theirs.member("s1").both()));
    Path misled =
        Files.write(
            directory.resolve("misled"),
            List.of("tls-ca theirs/ca.pem", "tls-cert " + authority.member("s4").both()));
    Path plain = Files.writeString(directory.resolve("plain"), "digest espalier:s3cret");
    for (Path access : List.of(forged, misled, plain)) {
      ZooKeeperLink link = ZooKeeperLink.open(target("/x", access));
      open.push(link);
      assertThatThrownBy(() -> link.awaitConnected(REFUSED_WITHIN))
          .as(access.toString())
          .isInstanceOf(ZooKeeperException.class);
    }
    // The same server takes who may, so that the above is no dead server.
    assertThat(connected(target("/x", group("s5"))).sessionMillis()).isPositive();
  }

  @Test
  void savedJobsBelongToTheAccountToo() throws Exception {
    Path access = group("s6");
    ZooKeeperLink link = connected(target("/configured", access));
    String created =
        link.client()
            .create()
            .creatingParentsIfNeeded()
            .forPath(
                "/configured/site",
                """
                {"bistro_settings": {"nodes": {"levels": [], "node_sources": []}, "resources": {}}}
                """
                    .getBytes(StandardCharsets.UTF_8));
    assertThat(created).isEqualTo("/configured/site");
    String uri = "zk://127.0.0.1:" + port + "/configured/site?auth_file=" + access;
    WritableConfigSource source = (WritableConfigSource) ConfigSources.open(uri);
    open.push(source::close);
    JobEditor editor = new JobEditor(source, ConfigFixtures.parser(), InstantSource.system());
    editor.save("work", Json.object().put("owner", "me").build(), 0, "", "");
    assertThat(below(link.client(), "/configured"))
        .anyMatch(path -> path.contains("/history"))
        .allSatisfy(
            path ->
                assertThat(link.client().getACL().forPath(path))
                    .as(path)
                    .noneMatch(rule -> rule.getId().getScheme().equals("world")));
  }
}
