package io.espalier.server.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.Shard;
import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.server.exit.CommandFailure;
import io.espalier.server.process.ProcessOptions.HostPort;
import io.espalier.thrift.rpc.PeerOptions;
import io.espalier.thrift.rpc.RpcSecurity;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A scheduler that cannot begin leaves nothing behind that keeps its next try from it. */
final class TakeOverTest {
  private static final String CONFIG =
      """
      {"bistro_settings": {"nodes": {"levels": ["host"],
         "node_sources": [{"source": "manual", "prefs": {"h1": [], "h2": []}}]}, "resources": {}},
       "bistro_job->j": {"owner": "o", "command": ["true"]}}
      """;

  private final Path directory;
  private final HostPort thrift;

  TakeOverTest(@TempDir Path directory) throws IOException {
    this.directory = directory;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      thrift = new HostPort("127.0.0.1", free.getLocalPort());
    }
    Files.writeString(directory.resolve("site.json"), CONFIG);
  }

  private ProcessOptions options() {
    return options(ProtocolTimers.QUICK);
  }

  private ProcessOptions options(ProtocolTimers timers) {
    ProcessOptions plain =
        ProcessOptions.frozen(
            new DataOwner("file://" + directory.resolve("site.json"), Shard.WHOLE),
            directory.toString(),
            directory.resolve("data"),
            "here");
    return new ProcessOptions(
        plain.configUri(),
        plain.shard(),
        plain.statusesFrom(),
        plain.configDirectory(),
        plain.dataDir(),
        ProcessOptions.Runner.REMOTE,
        plain.store(),
        plain.fresh(),
        false,
        false,
        plain.workerCommand(),
        plain.instanceNodeName(),
        plain.http(),
        plain.maxAttempts(),
        Duration.ofSeconds(15),
        Duration.ofSeconds(1),
        plain.simulation(),
        plain.logs(),
        plain.measuring(),
        plain.seed(),
        Optional.of(
            new ProcessOptions.Remote(
                thrift,
                PeerOptions.of("test", RpcSecurity.secret("a test secret")),
                timers,
                false)),
        plain.mysql(),
        plain.events(),
        plain.access(),
        plain.owning(),
        plain.record());
  }

  private void store(String sql) throws SQLException {
    Path file = directory.resolve("data").resolve("statuses.sqlite");
    try (Connection raw = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = raw.createStatement()) {
      statement.execute(sql);
    }
  }

  private String meta(String name) throws SQLException {
    Path file = directory.resolve("data").resolve("statuses.sqlite");
    try (Connection raw = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = raw.createStatement();
        ResultSet found =
            statement.executeQuery("SELECT value FROM meta WHERE name = '" + name + "'")) {
      return found.next() ? found.getString(1) : "";
    }
  }

  private void startAndStop(ProtocolTimers timers) throws Exception {
    try (EspalierProcess process = EspalierProcess.start(options(timers))) {
      process.awaitSettled();
    }
  }

  @Test
  void theLeasesOfALeadershipAreStoredForTheNextOne() throws Exception {
    startAndStop(ProtocolTimers.PATIENT);
    assertThat(meta("lease")).isEqualTo("660000");
    startAndStop(ProtocolTimers.QUICK);
    assertThat(meta("lease")).isEqualTo("20000");
  }

  @Test
  void aStoreThatWasSetBackOrIsNewBeginsAboveTheHighestEpochOfTheDirectory() throws Exception {
    for (int start = 1; start <= 3; start++) {
      startAndStop(ProtocolTimers.QUICK);
      assertThat(meta("epoch")).isEqualTo(Integer.toString(start));
    }
    store("UPDATE meta SET value = 1 WHERE name = 'epoch'");
    startAndStop(ProtocolTimers.QUICK);
    assertThat(meta("epoch")).isEqualTo("4");
    for (String suffix : List.of("", "-wal", "-shm")) {
      Files.deleteIfExists(directory.resolve("data").resolve("statuses.sqlite" + suffix));
    }
    startAndStop(ProtocolTimers.QUICK);
    assertThat(meta("epoch")).isEqualTo("5");
    assertThat(directory.resolve("data").resolve("epoch")).content().startsWith("5");
  }

  private static Set<Long> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().matches("workers|scheduler|status-writer|watch"))
        .map(Thread::getId)
        .collect(Collectors.toSet());
  }

  @Test
  void aStoreThatCannotBeReadDoesNotKeepThePortFromTheNextTry() throws Exception {
    try (EspalierProcess process = EspalierProcess.start(options())) {
      process.awaitSettled();
      assertThat(process.thriftAddress()).contains(thrift.toString());
    }
    Set<Long> before = threads();
    for (String table : List.of("pause", "limit_override", "worker_hold", "queue_usage")) {
      store("ALTER TABLE " + table + " RENAME TO not_there");
      for (int attempt = 0; attempt < 2; attempt++) {
        assertThatThrownBy(() -> EspalierProcess.start(options()))
            .as("without %s", table)
            .isInstanceOf(CommandFailure.class)
            .hasMessageContaining("no such table: " + table);
      }
      store("ALTER TABLE not_there RENAME TO " + table);
    }
    try (EspalierProcess process = EspalierProcess.start(options())) {
      process.awaitSettled();
      assertThat(process.progress()).hasSize(1);
    }
    assertThat(before).containsAll(threads());
  }
}
