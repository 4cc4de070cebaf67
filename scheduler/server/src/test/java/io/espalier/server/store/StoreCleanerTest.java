package io.espalier.server.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.running.Invocation;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.store.StaleEpochException;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StatusStore.TakeOver;
import io.espalier.core.status.store.StoreException;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.json.JsonReader;
import io.espalier.server.store.jdbc.sqlite.SqliteDialect;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreCleanerTest {
  private static final StoreCleaner.Pace FAST =
      new StoreCleaner.Pace(Duration.ZERO, Duration.ofMillis(20), Duration.ofMillis(1), 1_000);

  private final Queue<StoreException> stale = new ConcurrentLinkedQueue<>();

  @Test
  void that_another_has_the_store_is_told_once_and_nothing_is_cleaned_any_more() {
    StatusStore store = new MemoryStatusStore();
    long epoch = store.openEpoch(TakeOver.PLAIN).epoch();
    store.openEpoch(TakeOver.PLAIN);
    StatusStore.Retention all = new StatusStore.Retention(0, StatusStore.KEPT_EVENTS);
    AtomicInteger looks = new AtomicInteger();
    try (StoreCleaner cleaner =
        StoreCleaner.start(
            store,
            epoch,
            () -> {
              looks.incrementAndGet();
              return all;
            },
            StoreCleaner.Chore.NONE,
            FAST,
            stale::add)) {
      assertThat(cleaner).isNotNull();
      await().atMost(Duration.ofSeconds(30)).until(() -> !stale.isEmpty());
    }
    assertThat(looks).hasValue(1);
    assertThat(stale).singleElement().isInstanceOf(StaleEpochException.class);
  }

  @Test
  void a_mistake_does_not_end_the_cleaning() {
    StatusStore store = new MemoryStatusStore();
    long epoch = store.openEpoch(TakeOver.PLAIN).epoch();
    AtomicInteger looks = new AtomicInteger();
    StoreCleaner.Chore failing =
        () -> {
          if (looks.incrementAndGet() < 3) {
            throw new IllegalStateException("on purpose");
          }
        };
    StatusStore.Retention all = new StatusStore.Retention(0, StatusStore.KEPT_EVENTS);
    try (StoreCleaner cleaner =
        StoreCleaner.start(store, epoch, () -> all, failing, FAST, stale::add)) {
      assertThat(cleaner).isNotNull();
      await().atMost(Duration.ofSeconds(30)).until(() -> looks.get() > 3);
    }
  }

  @Test
  void what_is_not_wanted_goes_in_pieces_while_commits_go_on(@TempDir Path directory)
      throws Exception {
    Path file = directory.resolve("statuses.sqlite");
    try (StatusStore store = SqliteDialect.open(file, JsonReader.strict()::read)) {
      long epoch = store.openEpoch(TakeOver.PLAIN).epoch();
      for (int from = 0; from < 50_000; from += 5_000) {
        StoreTransaction.Builder batch = StoreTransaction.builder();
        for (int i = from; i < from + 5_000; i++) {
          batch.put(row("gone", "n" + i));
        }
        store.commit(epoch, batch.build());
      }
      store.commit(epoch, StoreTransaction.builder().forget("gone").put(row("stays", "n")).build());
      for (int i = 0; i < 2 * StatusStore.KEPT_EVENTS; i += 5_000) {
        StoreTransaction.Builder batch = StoreTransaction.builder();
        for (int k = 1; k <= 5_000; k++) {
          batch.append(new Event(i + k, i + k, "e", Json.Obj.EMPTY));
        }
        store.commit(epoch, batch.build());
      }
      StatusStore.Retention half = new StatusStore.Retention(0, StatusStore.KEPT_EVENTS);
      try (StoreCleaner cleaner =
          StoreCleaner.start(store, epoch, () -> half, StoreCleaner.Chore.NONE, FAST, stale::add)) {
        assertThat(cleaner).isNotNull();
        int commits = 0;
        while (count(file, "SELECT count(*) FROM gone_job") > 0) {
          store.commit(
              epoch, StoreTransaction.builder().put(row("stays", "n" + commits++)).build());
        }
        assertThat(commits).isPositive();
        await()
            .atMost(Duration.ofSeconds(30))
            .until(() -> store.events(0, 1).get(0).sequence() > StatusStore.KEPT_EVENTS);
        // Again, of what came later.
        store.commit(epoch, StoreTransaction.builder().forget("stays").build());
        await()
            .atMost(Duration.ofSeconds(30))
            .until(() -> count(file, "SELECT count(*) FROM status") == 0);
      }
      assertThat(stale).isEmpty();
    }
  }

  private static long count(Path file, String sql) throws Exception {
    try (Connection raw = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = raw.createStatement();
        ResultSet found = statement.executeQuery(sql)) {
      return found.next() ? found.getLong(1) : -1;
    }
  }

  private static StatusRow row(String job, String node) {
    TaskStatus done = TaskStatus.of(Main.DONE, 1, 1);
    return new StatusRow(job, node, done, new Invocation(1, 1, 1));
  }
}
