package io.espalier.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.StaleEpochException;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StatusStore.TakeOver;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.json.JsonReader;
import io.espalier.server.CommandException;
import io.espalier.server.app.options.HostPort;
import io.espalier.server.app.options.ProcessOptions;
import io.espalier.server.app.options.RunnerOptions;
import io.espalier.server.app.ownership.Leadership;
import io.espalier.server.app.ownership.StartWaits;
import io.espalier.server.store.jdbc.sqlite.SqliteDialect;
import io.espalier.thrift.rpc.PeerOptions;
import io.espalier.thrift.rpc.RpcSecurity;
import java.io.IOException;
import java.io.UncheckedIOException;
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
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A scheduler that cannot begin leaves nothing behind that keeps its next try from it. */
final class TakeOverTest {
  private static final String CONFIG =
      """
      {"bistro_settings": {"nodes": {"levels": ["host"],
         "node_sources": [{"source": "manual", "prefs": {"h1": [], "h2": []}}]}, "resources": {}},
       "bistro_job->j": {"owner": "o", "command": ["true"]}}
      """;

  /** A worker is lost after 1.5 seconds. */
  private static final ProtocolTimers SHORTEST =
      new ProtocolTimers(
          200, 100, 1_200, 600, 200, 200, 300, 500, 1_000, 5_000, 100, 1_000, 100, 1_000, 1_500);

  private static final Duration PATIENCE = Duration.ofSeconds(60);

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
    return options(
        RunnerOptions.Kind.REMOTE,
        Optional.of(
            new RunnerOptions.Remote(
                thrift,
                PeerOptions.of("test", RpcSecurity.secret("a test secret")),
                timers,
                false)));
  }

  private ProcessOptions local() {
    return options(RunnerOptions.Kind.LOCAL, Optional.empty());
  }

  private ProcessOptions options(RunnerOptions.Kind runner, Optional<RunnerOptions.Remote> remote) {
    return LiveOptions.of(directory, runner, remote);
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
    try (SchedulerProcess process = SchedulerProcess.start(options(timers))) {
      process.awaitSettled();
    }
  }

  @Test
  void theLeasesOfALeadershipAreStoredForTheNextOne() throws Exception {
    startAndStop(ProtocolTimers.PATIENT);
    assertThat(meta("lease")).isEqualTo("660000");
    // Each of them ends before the first one's leases do, so the third has to wait for them as
    // well.
    startAndStop(ProtocolTimers.QUICK);
    startAndStop(ProtocolTimers.QUICK);
    assertThat(meta("lease")).isEqualTo("660000");
    assertThat(directory.resolve("data").resolve("epoch")).content().isEqualTo("3 - 660000\n");
  }

  @Test
  void leasesThatWereOutwaitedAreStoredNoLonger() throws Exception {
    startAndStop(SHORTEST);
    store("UPDATE meta SET value = 1600 WHERE name = 'lease'");
    try (SchedulerProcess process = SchedulerProcess.start(options(SHORTEST))) {
      process.awaitSettled();
      await().atMost(PATIENCE).until(() -> meta("lease").equals("" + SHORTEST.lostMillis()));
    }
    assertThat(directory.resolve("data").resolve("epoch"))
        .content()
        .isEqualTo("2 - " + SHORTEST.lostMillis() + "\n");
  }

  @Test
  @Timeout(120)
  void anEpochThatSomebodyRaisedEndsTheLeadershipOnceTheSafeWaitFindsIt() throws Exception {
    // Without jobs the writer, which would find it, has nothing to write.
    Files.writeString(
        directory.resolve("site.json"), CONFIG.replaceFirst(",\\s*\"bistro_job->j\".*\\}", "}"));
    startAndStop(SHORTEST);
    store("UPDATE meta SET value = 'UNKNOWN' WHERE name = 'earlier'");
    try (SchedulerProcess process = SchedulerProcess.start(options(SHORTEST))) {
      process.awaitSettled();
      store("UPDATE meta SET value = value + 1 WHERE name = 'epoch'");
      await()
          .atMost(Duration.ofSeconds(30)) // the cleaner, a minute after the start, finds it, too
          .untilAsserted(
              () ->
                  assertThatThrownBy(() -> process.awaitEnd(10))
                      .isInstanceOf(CommandException.class)
                      .hasCauseInstanceOf(StaleEpochException.class));
    }
  }

  /** That a task runs, on a worker or on the host of the scheduler. */
  private void running(WorkerRef where, long leaseMillis) {
    Path data = directory.resolve("data");
    try {
      Files.createDirectories(data);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    try (StatusStore store =
        SqliteDialect.open(data.resolve("statuses.sqlite"), JsonReader::parse)) {
      long epoch = store.openEpoch(new TakeOver(1, leaseMillis)).epoch();
      TaskStatus runs = TaskStatus.of(TaskStatus.Main.RUNNING, 1_700_000_000_000L, 1);
      Invocation invocation = new Invocation(epoch, 1, 1_700_000_000_000L);
      store.commit(
          epoch, StoreTransaction.of(List.of(new StatusRow("j", "h1", runs, invocation, where))));
    }
  }

  @Test
  @Timeout(120)
  void nothingStartsOnThisHostUntilTheLeasesOfWorkersHaveEnded() throws Exception {
    running(new WorkerRef("w1", 7), 1_500);
    long begin = System.nanoTime();
    try (SchedulerProcess process = SchedulerProcess.start(local())) {
      assertThat(Duration.ofNanos(System.nanoTime() - begin))
          .isGreaterThan(Duration.ofMillis(1_500));
      process.awaitSettled();
    }
    assertThat(meta("lease")).isEqualTo("0");
  }

  @Test
  @Timeout(120)
  void aDirectoryThatLostItsStatusesStillKnowsOfTheLeasesOfWorkers() throws Exception {
    Files.createDirectories(directory.resolve("data"));
    Files.writeString(directory.resolve("data").resolve("epoch"), "7 - 1500\n");
    long begin = System.nanoTime();
    try (SchedulerProcess process = SchedulerProcess.start(local())) {
      assertThat(Duration.ofNanos(System.nanoTime() - begin))
          .isGreaterThan(Duration.ofMillis(1_500));
      process.awaitSettled();
    }
    assertThat(directory.resolve("data").resolve("epoch")).content().isEqualTo("8 - 0\n");
    assertThat(directory.resolve("data").resolve("set-back")).doesNotExist();
  }

  @Test
  @Timeout(120)
  void tasksOfTheOwnHostAreNotWaitedFor() throws Exception {
    running(WorkerRef.LOCAL, 600_000);
    try (SchedulerProcess process = SchedulerProcess.start(local())) {
      process.awaitSettled();
    }
    assertThat(meta("lease")).isEqualTo("0");
  }

  @Test
  @Timeout(120)
  void aWaitForWorkersThatIsGivenUpChangesNothing() throws Exception {
    running(new WorkerRef("w1", 7), 600_000);
    StartWaits waits = new StartWaits();
    CompletableFuture<SchedulerProcess> started = new CompletableFuture<>();
    Thread starting =
        new Thread(
            () -> {
              try {
                started.complete(SchedulerProcess.start(local(), Leadership.ALONE, waits));
              } catch (RuntimeException e) {
                started.completeExceptionally(e);
              }
            });
    starting.start();
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                Arrays.stream(starting.getStackTrace())
                    .anyMatch(frame -> frame.getMethodName().equals("outwaitWorkers")));
    waits.giveUp();

    assertThatThrownBy(() -> started.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
        .hasCauseInstanceOf(StartWaits.GivenUp.class);
    assertThat(meta("lease")).isEqualTo("600000");
    // It is free again, and whoever asks workers finds the task running.
    try (SchedulerProcess process = SchedulerProcess.start(options())) {
      process.awaitSettled();
      assertThat(process.progress())
          .singleElement()
          .satisfies(job -> assertThat(job.running()).isEqualTo(1));
    }
  }

  @Test
  void whatRanOnTheHostOfALocalSchedulerIsWaitedForByOneWithWorkers() throws Exception {
    running(WorkerRef.LOCAL, 0);
    try (SchedulerProcess process = SchedulerProcess.start(options())) {
      process.awaitSettled();
      assertThat(process.progress())
          .singleElement()
          .satisfies(job -> assertThat(job.running()).isEqualTo(1));
    }
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
    try (SchedulerProcess process = SchedulerProcess.start(options())) {
      process.awaitSettled();
      assertThat(process.thriftAddress()).contains(thrift.toString());
    }
    Set<Long> before = threads();
    for (String table : List.of("pause", "limit_override", "worker_hold", "queue_usage")) {
      store("ALTER TABLE " + table + " RENAME TO not_there");
      for (int attempt = 0; attempt < 2; attempt++) {
        assertThatThrownBy(() -> SchedulerProcess.start(options()))
            .as("without %s", table)
            .isInstanceOf(CommandException.class)
            .hasMessageContaining("no such table: " + table);
      }
      store("ALTER TABLE not_there RENAME TO " + table);
    }
    try (SchedulerProcess process = SchedulerProcess.start(options())) {
      process.awaitSettled();
      assertThat(process.progress()).hasSize(1);
    }
    assertThat(before).containsAll(threads());
  }
}
