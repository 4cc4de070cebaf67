package io.espalier.server.store.jdbc.sqlite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.json.Json;
import io.espalier.core.running.Invocation;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StatusStore.TakeOver;
import io.espalier.core.status.store.StoreException;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.core.status.store.TaskHistory;
import io.espalier.json.JsonReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sqlite.SQLiteDataSource;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/** What is special to a store in a file: other programs, other versions, damage. */
class SqliteFileTest {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  private Path file() {
    return directory.resolve("statuses.sqlite");
  }

  private StatusStore open() {
    return SqliteDialect.open(file(), JsonReader.strict()::read);
  }

  private StatusStore impatient() {
    return SqliteDialect.open(file(), JsonReader.strict()::read, 100);
  }

  @Test
  void commits_are_synced_and_readers_do_not_wait_for_them() throws Exception {
    try (StatusStore store = open();
        Connection other = raw(file())) {
      store.openEpoch(TakeOver.PLAIN);
      assertThat(text(other, "PRAGMA journal_mode")).isEqualTo("wal");
      try (Statement hold = other.createStatement()) {
        hold.execute("BEGIN IMMEDIATE");
        assertThat(store.jobs()).isEmpty();
        hold.execute("ROLLBACK");
      }
    }
  }

  @Test
  void a_new_file_and_its_companions_are_ours_alone() throws Exception {
    try (StatusStore store = open()) {
      store.openEpoch(TakeOver.PLAIN);
      try (var files = Files.list(directory)) {
        for (Path each : files.toList()) {
          assertThat(Files.getPosixFilePermissions(each))
              .as(each.toString())
              .containsExactlyInAnyOrder(
                  PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
        }
      }
    }
  }

  @Test
  void a_lock_of_another_process_is_reported_and_passes() throws Exception {
    try (StatusStore store = impatient();
        Connection other = raw(file());
        Statement hold = other.createStatement()) {
      long epoch = store.openEpoch(TakeOver.PLAIN).epoch();
      hold.execute("BEGIN IMMEDIATE");
      assertThatThrownBy(() -> store.commit(epoch, oneRow()))
          .isInstanceOfSatisfying(StoreException.class, e -> assertThat(e.retryable()).isTrue())
          .hasMessage("status file " + file() + " is locked by another process");
      hold.execute("ROLLBACK");
      store.commit(epoch, oneRow());
      assertThat(store.jobs()).containsExactly("j");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "SQLITE_FULL, true, the disk is full: cannot write status file x.sqlite",
    "SQLITE_BUSY_SNAPSHOT, true, status file x.sqlite is locked by another process",
    "SQLITE_READONLY_DBMOVED, true, status file x.sqlite cannot be written: it is read-only",
    "SQLITE_IOERR_FSYNC, true, status file x.sqlite: the disk failed (no)",
    "SQLITE_CORRUPT, false, status file x.sqlite is damaged; restore it or move it away",
    "SQLITE_TOOBIG, false, status file x.sqlite: no",
  })
  void failures_say_what_is_wrong_and_whether_it_may_pass(
      SQLiteErrorCode code, boolean retryable, String message) {
    SQLException wrapped = new SQLException("pool", new SQLiteException("no", code));
    StoreException failure = SqliteErrorTranslator.translate(Path.of("x.sqlite"), wrapped);
    assertThat(failure).hasMessage(message);
    assertThat(failure.retryable()).isEqualTo(retryable);
  }

  @Test
  void the_same_name_in_the_cache_is_not_trusted_after_a_rollback() throws Exception {
    try (StatusStore store = open();
        Connection other = raw(file());
        Statement trigger = other.createStatement()) {
      long epoch = store.openEpoch(TakeOver.PLAIN).epoch();
      trigger.execute(
          "CREATE TRIGGER no BEFORE INSERT ON status BEGIN SELECT raise(FAIL, 'no'); END");
      assertThatThrownBy(() -> store.commit(epoch, oneRow())).isInstanceOf(StoreException.class);
      trigger.execute("DROP TRIGGER no");
      trigger.execute("INSERT INTO job (name) VALUES ('another took the number')");
      store.commit(epoch, oneRow());
      assertThat(store.jobs()).containsExactly("j");
    }
  }

  @Test
  void a_file_of_the_first_schema_is_migrated_with_its_data() throws Exception {
    try (Connection raw = raw(file());
        Statement statement = raw.createStatement()) {
      statement.executeUpdate("PRAGMA journal_mode = WAL");
    }
    SqliteSchema.migrate(dataSource(), file(), 0, 1);
    try (Connection raw = raw(file());
        Statement statement = raw.createStatement()) {
      assertThat(text(raw, "PRAGMA user_version")).isEqualTo("1");
      statement.executeUpdate("INSERT INTO job (id, name) VALUES (4, 'j')");
      statement.executeUpdate("UPDATE meta SET value = 6 WHERE name = 'epoch'");
      statement.executeUpdate(
          "INSERT INTO status (job, node, bits, since, backoff, position, attempts, epoch,"
              + " sequence, started, data) VALUES"
              + " (4, 'a', 4, 1700000000000, 0, 0, 2, 5, 17, 1690000000000, '{\"k\":1}'),"
              + " (4, 'b', 96, 1700000000000, 30, 15, 3, 5, 18, 1690000000000, NULL)");
      statement.executeUpdate("INSERT INTO pause VALUES ('j', 'me', 'why', 7, 0)");
      statement.executeUpdate("INSERT INTO event VALUES (1, 1, '[[1,5,\"x\",{}]]')");
    }
    try (StatusStore store = open()) {
      long epoch = store.openEpoch(TakeOver.PLAIN).epoch();
      assertThat(epoch).isEqualTo(7);
      List<StatusRow> rows = new ArrayList<>();
      store.load("j", rows::add);
      assertThat(rows)
          .containsExactlyInAnyOrder(
              new StatusRow(
                  "j",
                  "a",
                  TaskStatus.ofBits(
                      4, 1_700_000_000_000L, 0, 0, 2, Json.object().put("k", 1).build()),
                  new Invocation(5, 17, 1_690_000_000_000L)),
              new StatusRow(
                  "j",
                  "b",
                  TaskStatus.ofBits(96, 1_700_000_000_000L, 30, 15, 3, null),
                  new Invocation(5, 18, 1_690_000_000_000L)));
      assertThat(store.pauses()).hasSize(1);
      assertThat(store.events(0, 10)).hasSize(1);
      assertThat(store.history("j", "a")).isEqualTo(TaskHistory.EMPTY);
      store.commit(epoch, StoreTransaction.of(rows));
      assertThat(store.load("j", List.of("a", "b"))).hasSize(2);
    }
    try (Connection raw = raw(file())) {
      assertThat(text(raw, "PRAGMA user_version"))
          .isEqualTo(Integer.toString(SqliteSchema.VERSION));
      assertThat(text(raw, "PRAGMA integrity_check")).isEqualTo("ok");
      assertThat(text(raw, "SELECT count(*) FROM task_attempt")).isEqualTo("0");
    }
  }

  private SQLiteDataSource dataSource() {
    SQLiteDataSource source = new SQLiteDataSource();
    source.setUrl("jdbc:sqlite:" + file());
    return source;
  }

  @Test
  void the_number_of_the_schema_is_that_of_the_newest_migration() throws Exception {
    open().close();
    try (Connection raw = raw(file())) {
      assertThat(text(raw, "PRAGMA user_version"))
          .isEqualTo(Integer.toString(SqliteSchema.VERSION));
      assertThat(text(raw, "PRAGMA application_id"))
          .isEqualTo(Integer.toString(SqliteSchema.APPLICATION_ID));
      Path migrations = Path.of("src/main/resources/db/migration/sqlite");
      try (Stream<Path> files = Files.list(migrations)) {
        List<String> names = files.map(file -> file.getFileName().toString()).toList();
        assertThat(text(raw, "SELECT count(*) FROM flyway_schema_history WHERE success"))
            .isEqualTo(Integer.toString(names.size()));
        // Numbers may be left out.
        assertThat(
                names.stream()
                    .mapToInt(name -> Integer.parseInt(name.substring(1, name.indexOf("__"))))
                    .max())
            .hasValue(SqliteSchema.VERSION);
      }
    }
  }

  @Test
  void a_file_of_a_newer_espalier_is_refused() throws Exception {
    open().close();
    execute(file(), "PRAGMA user_version = 99");
    assertThatItIsRefused(
        "was written by a newer Espalier (schema 99; this one knows "
            + SqliteSchema.VERSION
            + "): use that version");
  }

  @Test
  void the_database_of_another_program_is_refused_and_left_alone() throws Exception {
    execute(file(), "CREATE TABLE customers (name TEXT)");
    assertThatItIsRefused("is a database of another program");
    try (Connection raw = raw(file())) {
      assertThat(text(raw, "SELECT group_concat(name) FROM sqlite_master")).isEqualTo("customers");
    }
  }

  @Test
  void a_file_that_is_no_database_is_refused_and_left_alone() throws Exception {
    String text = "these are my notes, not a database\n".repeat(100);
    Files.writeString(file(), text);
    assertThatItIsRefused("is not a SQLite database");
    assertThat(file()).hasContent(text.strip() + "\n");
  }

  @Test
  void an_empty_file_is_a_fresh_store() throws IOException {
    Files.createFile(file());
    try (StatusStore store = open()) {
      assertThat(store.openEpoch(TakeOver.PLAIN).epoch()).isEqualTo(1);
    }
  }

  @Test
  void a_directory_in_its_place_or_no_directory_at_all_is_refused() throws IOException {
    Files.createDirectory(file());
    assertThatItIsRefused("cannot be opened or created");
    Path nowhere = directory.resolve("no/such/directory/statuses.sqlite");
    assertThatThrownBy(() -> SqliteDialect.open(nowhere, JsonReader.strict()::read))
        .isInstanceOf(StoreException.class)
        .hasMessage("status file " + nowhere + " cannot be opened or created");
  }

  @Test
  void a_row_that_somebody_spoiled_is_named() throws Exception {
    try (StatusStore store = open()) {
      store.commit(store.openEpoch(TakeOver.PLAIN).epoch(), oneRow());
      execute(file(), "UPDATE status SET data = '{oops'");
      assertThatThrownBy(() -> store.load("j", row -> {}))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("job j, node n: not JSON");
      execute(file(), "UPDATE status SET data = NULL, bits = 3");
      assertThatThrownBy(() -> store.load("j", row -> {}))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("job j, node n: not the bits of a stored status: 3");
    }
  }

  @Test
  void the_view_for_people_reads_well() throws Exception {
    try (StatusStore store = open()) {
      store.commit(store.openEpoch(TakeOver.PLAIN).epoch(), oneRow());
      try (Connection raw = raw(file())) {
        assertThat(
                text(
                    raw,
                    "SELECT job || ' ' || node || ' ' || status || ' ' || attempts || ' '"
                        + " || since_utc || ' ' || ready_utc FROM task"))
            .isEqualTo("j n error 1 1970-01-01 00:00:01 1970-01-01 00:00:16");
      }
    }
  }

  @Test
  void a_closed_store_says_so() {
    StatusStore store = open();
    long epoch = store.openEpoch(TakeOver.PLAIN).epoch();
    store.close();
    store.close();
    assertThatThrownBy(() -> store.commit(epoch, oneRow()))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("is closed");
    assertThatThrownBy(store::jobs).isInstanceOf(StoreException.class);
    assertThat(file()).exists();
    assertThat(directory.resolve("statuses.sqlite-wal")).doesNotExist();
  }

  private void assertThatItIsRefused(String why) {
    assertThatThrownBy(this::open)
        .isInstanceOf(StoreException.class)
        .hasMessage("status file " + file() + " " + why);
  }

  private static StoreTransaction oneRow() {
    TaskStatus waiting = TaskStatus.waiting(1000, 15, 1);
    return StoreTransaction.of(List.of(new StatusRow("j", "n", waiting, new Invocation(1, 1, 0))));
  }

  private static Connection raw(Path file) throws SQLException {
    return DriverManager.getConnection("jdbc:sqlite:" + file);
  }

  private static void execute(Path file, String sql) throws SQLException {
    try (Connection raw = raw(file);
        Statement statement = raw.createStatement()) {
      statement.execute(sql);
    }
  }

  private static String text(Connection raw, String sql) throws SQLException {
    try (Statement statement = raw.createStatement();
        ResultSet found = statement.executeQuery(sql)) {
      found.next();
      return found.getString(1);
    }
  }
}
