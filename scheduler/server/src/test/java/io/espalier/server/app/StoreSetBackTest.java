package io.espalier.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.espalier.core.api.Command;
import io.espalier.core.protocol.Heartbeat;
import io.espalier.core.protocol.HeartbeatResponse;
import io.espalier.core.protocol.HeartbeatResponse.Verdict;
import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.core.protocol.WorkerDescription;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.StaleEpochException;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StatusStore.TakeOver;
import io.espalier.json.JsonReader;
import io.espalier.server.CommandException;
import io.espalier.server.app.options.HostPort;
import io.espalier.server.app.options.ProcessOptions;
import io.espalier.server.app.options.RunnerOptions;
import io.espalier.server.app.ownership.StoreSetBackException;
import io.espalier.server.store.jdbc.sqlite.SqliteBackup;
import io.espalier.server.store.jdbc.sqlite.SqliteDialect;
import io.espalier.thrift.rpc.PeerOptions;
import io.espalier.thrift.rpc.RpcException;
import io.espalier.thrift.rpc.RpcSecurity;
import io.espalier.thrift.rpc.SchedulerClient;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A status store that was restored from a copy, found by its own directory or by a worker. */
@Tag("slow")
final class StoreSetBackTest {
  private static final String CONFIG =
      """
      {"bistro_settings": {"nodes": {"levels": ["host"],
         "node_sources": [{"source": "manual", "prefs": {"h1": [], "h2": []}}]}, "resources": {}},
       "bistro_job->j": {"owner": "o", "command": ["true"]}}
      """;
  private static final PeerOptions PEER =
      PeerOptions.of("test", RpcSecurity.secret("a test secret"));
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Path directory;
  private final SchedulerClient worker = new SchedulerClient(PEER);
  private long heartbeats;

  StoreSetBackTest(@TempDir Path directory) throws IOException {
    this.directory = directory;
    Files.writeString(directory.resolve("site.json"), CONFIG);
  }

  @AfterEach
  void close() {
    worker.close();
  }

  private ProcessOptions options() {
    return LiveOptions.of(
        directory,
        RunnerOptions.Kind.REMOTE,
        Optional.of(
            new RunnerOptions.Remote(
                new HostPort("127.0.0.1", 0), PEER, ProtocolTimers.QUICK, false)));
  }

  private HeartbeatResponse says(SchedulerProcess process, long epoch, String storeId)
      throws RpcException {
    HostPort at = HostPort.parse(process.thriftAddress().orElseThrow());
    return worker.heartbeat(
        new InetSocketAddress(at.host(), at.port()),
        new Heartbeat(
            new WorkerRef("w", 7),
            ++heartbeats,
            epoch,
            0,
            WorkerDescription.of("host").address("127.0.0.1:1").build(),
            false,
            true,
            "",
            0,
            0,
            List.of(),
            List.of(),
            storeId),
        10_000);
  }

  private Path file(String name) {
    return directory.resolve("data").resolve(name);
  }

  private static Map<String, String> errors(SchedulerProcess process) {
    return process.api().view().errors();
  }

  private void assertWaits(SchedulerProcess process, String... words) {
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> {
              assertThat(errors(process).get("workers")).contains("safe wait until");
              assertThat(errors(process).get("store set back")).contains(words);
            });
  }

  @Test
  void aStoreRestoredFromACopyIsFoundByItsDirectoryAndWaitedForAlsoByTheNextStart()
      throws Exception {
    long epoch;
    try (SchedulerProcess process = SchedulerProcess.start(options())) {
      HeartbeatResponse answer = says(process, 0, "");
      assertThat(answer.verdict()).isEqualTo(Verdict.ACCEPTED);
      epoch = answer.epoch();
    }
    Path copy = Files.copy(file("statuses.sqlite"), directory.resolve("copy"));
    for (int i = 0; i < 2; i++) {
      SchedulerProcess.start(options()).close();
    }
    Files.delete(file("statuses.sqlite"));
    Files.copy(copy, file("statuses.sqlite"));

    try (SchedulerProcess process = SchedulerProcess.start(options())) {
      assertThat(says(process, 0, "").epoch()).as("above all epochs").isGreaterThan(epoch + 2);
      assertWaits(process, "was set back", "its epoch is " + epoch);
    }
    try (SchedulerProcess process = SchedulerProcess.start(options())) {
      assertWaits(process, "was set back", "its epoch is " + epoch);
    }
    // As it is once the wait is over.
    Files.delete(file("set-back"));
    try (StatusStore store = SqliteDialect.open(file("statuses.sqlite"), JsonReader::parse)) {
      store.outwaited(store.epoch(), 0);
    }
    try (SchedulerProcess process = SchedulerProcess.start(options())) {
      says(process, 0, "");
      process.awaitSettled();
      assertThat(errors(process)).doesNotContainKeys("workers", "store set back");
    }
  }

  @Test
  void aStoreRestoredFromACopyOfTheSameLeadershipIsFoundByItsNewestEvent() throws Exception {
    Path copy = directory.resolve("copy");
    try (SchedulerProcess process = SchedulerProcess.start(options())) {
      brake(process);
      String earlier = remembered("");
      SqliteBackup.Contents unused = SqliteBackup.write(file("statuses.sqlite"), copy);
      process
          .api()
          .run(new Command.ReleaseBrake(Brake.Key.all(), null, "bob", ""))
          .toCompletableFuture()
          .get(60, TimeUnit.SECONDS);
      assertThat(remembered(earlier)).startsWith("1 ");
    }
    for (String suffix : List.of("-wal", "-shm")) {
      Files.deleteIfExists(file("statuses.sqlite" + suffix));
    }
    Files.copy(copy, file("statuses.sqlite"), StandardCopyOption.REPLACE_EXISTING);

    try (SchedulerProcess process = SchedulerProcess.start(options())) {
      assertWaits(process, "was set back", "the newest event of its epoch 1 is ");
    }
  }

  private static void brake(SchedulerProcess process) throws Exception {
    process
        .api()
        .run(
            new Command.SetBrake(
                Brake.of(Brake.Key.all(), 0).author("bob").reason("restore").build(), 0))
        .toCompletableFuture()
        .get(60, TimeUnit.SECONDS);
  }

  /** Waits until the newest event that the data directory knows is another one, and returns it. */
  private String remembered(String other) {
    return await()
        .atMost(PATIENCE)
        .ignoreExceptionsInstanceOf(NoSuchFileException.class)
        .until(() -> Files.readString(file("newest-event")), text -> !text.equals(other));
  }

  @Test
  void aWorkerThatHasHeardOfALaterLeaderThanTheStoreKnowsEndsThisOneAndTheNextWaits()
      throws Exception {
    try (SchedulerProcess process = SchedulerProcess.start(options())) {
      HeartbeatResponse first = says(process, 0, "");

      assertThat(says(process, first.epoch() + 40, first.storeId()).verdict())
          .isEqualTo(Verdict.NOT_LEADER);

      assertThat(death(process).getCause())
          .isInstanceOf(StoreSetBackException.class)
          .hasMessageContaining("heard of " + (first.epoch() + 40));
    }
    try (SchedulerProcess process = SchedulerProcess.start(options())) {
      assertThat(says(process, 41, "").verdict()).isEqualTo(Verdict.ACCEPTED);
      assertThat(says(process, 41, "").epoch()).isEqualTo(42);
      assertWaits(process, "its epoch is 1");
    }
  }

  @Test
  void aWorkerThatHasHeardOfALeaderWhichTheStoreKnowsShowsThatThisOneIsDeposed() throws Exception {
    try (SchedulerProcess process = SchedulerProcess.start(options());
        StatusStore other = SqliteDialect.open(file("statuses.sqlite"), JsonReader::parse)) {
      HeartbeatResponse first = says(process, 0, "");
      long later = other.openEpoch(TakeOver.PLAIN).epoch();

      assertThat(says(process, later, first.storeId()).verdict()).isEqualTo(Verdict.NOT_LEADER);

      assertThat(death(process).getCause()).isInstanceOf(StaleEpochException.class);
      assertThat(file("set-back")).doesNotExist();
    }
  }

  @Test
  void aNewStoreWaitsOnceAWorkerShowsAnEarlierScheduler() throws Exception {
    try (SchedulerProcess process = SchedulerProcess.start(options())) {
      assertThat(says(process, 0, "").verdict()).isEqualTo(Verdict.ACCEPTED);
      assertThat(errors(process)).doesNotContainKey("workers");

      assertThat(says(process, 40, "the store that was lost").verdict()).isEqualTo(Verdict.REFUSED);

      await()
          .atMost(PATIENCE)
          .untilAsserted(
              () -> assertThat(errors(process).get("workers")).contains("safe wait until"));
      assertThat(errors(process)).doesNotContainKey("store set back");
    }
  }

  @Test
  void theWaitOfANewStoreIsNotCutShortByARestart() throws Exception {
    try (SchedulerProcess process = SchedulerProcess.start(options())) {
      says(process, 40, "the store that was lost");
      await()
          .atMost(PATIENCE)
          .untilAsserted(() -> assertThat(earlier()).isEqualTo(StatusStore.Earlier.UNKNOWN));
    }
    try (SchedulerProcess process = SchedulerProcess.start(options())) {
      await()
          .atMost(PATIENCE)
          .untilAsserted(
              () -> assertThat(errors(process).get("workers")).contains("safe wait until"));
    }
  }

  @Test
  void aNewStoreThatWasRestartedWaitsForAnEarlierSchedulerAndNotForItsOwn() throws Exception {
    HeartbeatResponse own;
    try (SchedulerProcess process = SchedulerProcess.start(options())) {
      own = says(process, 0, "");
    }
    try (SchedulerProcess process = SchedulerProcess.start(options())) {
      assertThat(says(process, own.epoch(), own.storeId()).verdict()).isEqualTo(Verdict.ACCEPTED);
      process.awaitSettled();
      assertThat(errors(process)).doesNotContainKey("workers");

      says(process, 40, "the store that was lost");
      await()
          .atMost(PATIENCE)
          .untilAsserted(
              () -> assertThat(errors(process).get("workers")).contains("safe wait until"));
    }
  }

  /** What the store would tell a scheduler that takes it over now. */
  private StatusStore.Earlier earlier() throws Exception {
    try (Connection open = DriverManager.getConnection("jdbc:sqlite:" + file("statuses.sqlite"));
        ResultSet found =
            open.createStatement().executeQuery("SELECT value FROM meta WHERE name = 'earlier'")) {
      return StatusStore.Earlier.valueOf(found.getString(1));
    }
  }

  private static Throwable death(SchedulerProcess process) {
    Throwable[] death = new Throwable[1];
    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              death[0] = catchThrowable(() -> process.awaitEnd(10));
              return death[0] instanceof CommandException;
            });
    return death[0];
  }
}
