package io.espalier.server.store.jdbc.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StatusStore.TakeOver;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.json.JsonReader;
import io.espalier.server.store.StatusWriter;
import io.espalier.testkit.database.DatabaseServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** kill -9 of a real database server in the middle of commits. */
@Tag("slow")
class MySqlKillTest {
  private static final int NODES = 50;
  private static final int SATURATION = 2_000;

  @ParameterizedTest
  @EnumSource(DatabaseServer.Flavour.class)
  void what_was_acknowledged_is_there_and_nothing_counts_twice(
      DatabaseServer.Flavour flavour, @TempDir Path directory) throws Exception {
    // With the settings an operator would have: every commit is flushed.
    try (DatabaseServer server = new DatabaseServer(flavour, directory)) {
      server.sql("create database killed");
      MySqlAddress address = Schemas.address(server, "killed");
      AtomicInteger acknowledged = new AtomicInteger();
      AtomicInteger submitted = new AtomicInteger();
      try (StatusStore store = MySqlStatusStore.open(address, JsonReader.strict()::read);
          StatusWriter writer =
              new StatusWriter(
                  store,
                  store.openEpoch(TakeOver.PLAIN).epoch(),
                  new StatusWriter.Limits(
                      SATURATION,
                      60,
                      Duration.ZERO,
                      Duration.ofMillis(10),
                      Duration.ofMillis(200)))) {
        writer.start();
        AtomicBoolean ended = new AtomicBoolean();
        Thread load =
            new Thread(
                () -> {
                  while (!ended.get()) {
                    if (writer.isSaturated()) {
                      Thread.onSpinWait();
                    } else {
                      writer
                          .submit(end(submitted.incrementAndGet()))
                          .thenRun(acknowledged::incrementAndGet);
                    }
                  }
                });
        load.start();
        for (int kill = 0; kill < 3; kill++) {
          int before = acknowledged.get();
          await().atMost(Duration.ofSeconds(60)).until(() -> acknowledged.get() > before + 500);
          server.kill();
          // Nothing more can be acknowledged: the buffer fills, and that is said.
          await().atMost(Duration.ofSeconds(60)).until(writer::isSaturated);
          await()
              .atMost(Duration.ofSeconds(60))
              .untilAsserted(
                  () ->
                      assertThat(writer.problem().orElse(""))
                          .startsWith("status store " + address + " "));
          assertThat(writer.queueLength()).isLessThan(SATURATION + 100);
          server.start();
          await().atMost(Duration.ofSeconds(60)).until(() -> writer.problem().isEmpty());
        }
        ended.set(true);
        load.join();
        assertThat(writer.close(Duration.ofSeconds(60))).isTrue();
      }
      assertThat(acknowledged.get()).isEqualTo(submitted.get());
      server.kill();
      server.start();
      try (StatusStore store = MySqlStatusStore.open(address, JsonReader.strict()::read)) {
        assertThat(store.newestEvent()).isEqualTo(submitted.get());
        long ended = 0;
        for (int node = 0; node < NODES; node++) {
          ended += store.history("j", "n" + node).totals().ended();
        }
        assertThat(ended).isEqualTo(submitted.get());
        store.load(
            "j",
            row -> {
              int newest = row.status().attempts();
              assertThat(newest + NODES).isGreaterThan(submitted.get());
            });
      }
    }
  }

  /** The end number n: each counts once, whatever happens to the server. */
  private static StoreTransaction end(int number) {
    String node = "n" + number % NODES;
    TaskStatus done = TaskStatus.of(Main.DONE, number, number);
    Invocation invocation = new Invocation(1, number, number);
    return StoreTransaction.builder()
        .put(new StatusRow("j", node, done, invocation))
        .attempt(
            Attempt.of(
                TaskResult.exited("j", node, invocation, null, 0),
                number,
                WorkerRef.LOCAL,
                done,
                false,
                Attempt.UNKNOWN_WAIT,
                number))
        .append(new Event(number, number, "task_ended", Json.Obj.EMPTY))
        .build();
  }

  @Test
  void a_leader_that_was_deposed_says_so_and_stops_writing(@TempDir Path directory)
      throws Exception {
    try (DatabaseServer server = new DatabaseServer(DatabaseServer.Flavour.MARIADB, directory)) {
      server.sql("create database deposed");
      MySqlAddress address = Schemas.address(server, "deposed");
      try (StatusStore old = MySqlStatusStore.open(address, JsonReader.strict()::read);
          StatusStore next = MySqlStatusStore.open(address, JsonReader.strict()::read);
          StatusWriter writer =
              new StatusWriter(
                  old, old.openEpoch(TakeOver.PLAIN).epoch(), StatusWriter.Limits.DEFAULT)) {
        writer.start();
        writer.submit(end(1)).toCompletableFuture().join();
        long epoch = next.openEpoch(TakeOver.PLAIN).epoch();
        assertThat(writer.submit(end(2)).toCompletableFuture()).failsWithin(Duration.ofSeconds(30));
        assertThat(writer.failure().orElseThrow())
            .hasMessage(
                "status store %s belongs to scheduler epoch %d; epoch %d may not write it"
                    .formatted(address, epoch, epoch - 1));
        assertThat(writer.submit(end(3)).toCompletableFuture()).isCompletedExceptionally();
        assertThat(next.newestEvent()).isEqualTo(1);
      }
    }
  }
}
