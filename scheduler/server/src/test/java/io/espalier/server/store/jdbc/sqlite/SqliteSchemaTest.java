package io.espalier.server.store.jdbc.sqlite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.json.JsonReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sqlite.SQLiteDataSource;

/**
 * The script for new files is what the migrations make. With {@code -Dsqlite.schema=write} it is
 * written from them.
 */
class SqliteSchemaTest {
  private static final Path SCRIPT = Path.of("src/main/resources", SqliteSchema.SCRIPT);

  /** Differs from file to file. */
  private static final String STORE_ID = "store_id";

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  private Path migrated() throws SQLException {
    Path file = directory.resolve("migrated.sqlite");
    SQLiteDataSource source = new SQLiteDataSource();
    source.setUrl("jdbc:sqlite:" + file);
    SqliteSchema.migrate(source, file, 0, SqliteSchema.VERSION);
    return file;
  }

  private Path created() {
    Path file = directory.resolve("created.sqlite");
    SqliteDialect.open(file, JsonReader.strict()::read).close();
    return file;
  }

  private static List<List<String>> rows(Connection connection, String sql) throws SQLException {
    List<List<String>> rows = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(sql)) {
      while (result.next()) {
        List<String> row = new ArrayList<>();
        for (int i = 1; i <= result.getMetaData().getColumnCount(); i++) {
          row.add(String.valueOf(result.getString(i)));
        }
        rows.add(row);
      }
    }
    return rows;
  }

  private static Connection open(Path file) throws SQLException {
    return DriverManager.getConnection("jdbc:sqlite:" + file);
  }

  private static List<String> tables(Connection connection) throws SQLException {
    return rows(connection, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        .stream()
        .map(row -> row.get(0))
        .toList();
  }

  /** Everything in a file but its instants and its id. */
  private static List<List<String>> all(Path file) throws SQLException {
    try (Connection connection = open(file)) {
      List<List<String>> all = new ArrayList<>();
      all.addAll(rows(connection, "PRAGMA application_id"));
      all.addAll(rows(connection, "PRAGMA user_version"));
      all.addAll(rows(connection, "SELECT type, name, sql FROM sqlite_master ORDER BY type, name"));
      for (String table : tables(connection)) {
        all.add(List.of(table));
        all.addAll(
            switch (table) {
              case "meta" ->
                  rows(
                      connection,
                      "SELECT name, CASE name WHEN '"
                          + STORE_ID
                          + "' THEN length(value) ELSE value END"
                          + " FROM meta ORDER BY name");
              case "flyway_schema_history" ->
                  rows(
                      connection,
                      "SELECT installed_rank, version, description, type, script, checksum,"
                          + " installed_by, success FROM flyway_schema_history ORDER BY installed_rank");
              default -> rows(connection, "SELECT * FROM " + table);
            });
      }
      return all;
    }
  }

  private static String script(Connection connection) throws SQLException {
    StringBuilder text = new StringBuilder();
    text.append("-- An empty store, generated from the migrations: see SqliteSchemaTest.\n");
    for (List<String> row :
        rows(
            connection,
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%'"
                + " ORDER BY rowid")) {
      text.append(row.get(0)).append(";\n");
    }
    for (List<String> row : rows(connection, "SELECT name, quote(value) FROM meta ORDER BY name")) {
      boolean isId = row.get(0).equals(STORE_ID);
      text.append("INSERT INTO meta (name, value) VALUES ('").append(row.get(0)).append("', ");
      text.append(isId ? "lower(hex(randomblob(16)))" : row.get(1)).append(");\n");
    }
    for (List<String> row :
        rows(
            connection,
            "SELECT installed_rank, quote(version), quote(description), quote(type), quote(script),"
                + " quote(checksum), quote(installed_by), success FROM flyway_schema_history"
                + " ORDER BY installed_rank")) {
      text.append("INSERT INTO flyway_schema_history VALUES (");
      text.append(String.join(", ", row.subList(0, 7)));
      text.append(", CURRENT_TIMESTAMP, 0, ").append(row.get(7)).append(");\n");
    }
    for (String number : List.of("application_id", "user_version")) {
      text.append("PRAGMA ").append(number).append(" = ");
      text.append(rows(connection, "PRAGMA " + number).get(0).get(0)).append(";\n");
    }
    return text.toString();
  }

  @Test
  void aNewFileIsWhatTheMigrationsMake() throws Exception {
    Path migrated = migrated();
    try (Connection connection = open(migrated)) {
      if ("write".equals(System.getProperty("sqlite.schema"))) {
        Files.createDirectories(SCRIPT.getParent());
        Files.writeString(SCRIPT, script(connection));
        return;
      }
      assertThat(Files.readString(SCRIPT))
          .as("%s; write it again with -Dsqlite.schema=write", SCRIPT)
          .isEqualTo(script(connection));
    }
    assertThat(all(created())).isEqualTo(all(migrated)).hasSizeGreaterThan(50);
  }

  @Test
  void flywayFindsItsOwnHistoryInANewFile() throws Exception {
    Path file = created();
    List<List<String>> before = all(file);
    SQLiteDataSource source = new SQLiteDataSource();
    source.setUrl("jdbc:sqlite:" + file);
    SqliteSchema.migrate(source, file, SqliteSchema.VERSION, SqliteSchema.VERSION);
    assertThat(all(file)).isEqualTo(before);
  }

  @Test
  void eachNewFileHasAnIdOfItsOwn() throws Exception {
    List<String> ids = new ArrayList<>();
    for (String name : List.of("a", "b")) {
      Path file = directory.resolve(name);
      SqliteDialect.open(file, JsonReader.strict()::read).close();
      try (Connection connection = open(file)) {
        ids.add(rows(connection, "SELECT value FROM meta WHERE name = 'store_id'").get(0).get(0));
      }
    }
    assertThat(ids).doesNotHaveDuplicates().allMatch(id -> id.matches("[0-9a-f]{32}"));
  }

  @RepeatedTest(20)
  void severalMayOpenANewFileAtOnce() throws Exception {
    Path file = directory.resolve("shared.sqlite");
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Future<?>> opened = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        opened.add(
            threads.submit(() -> SqliteDialect.open(file, JsonReader.strict()::read).close()));
      }
      for (Future<?> each : opened) {
        each.get();
      }
    } finally {
      threads.shutdown();
    }
    assertThat(all(file)).isEqualTo(all(created()));
  }

  @Test
  void aFileThatCannotBeMadeStaysEmpty() throws IOException, SQLException {
    Path file = directory.resolve("small.sqlite");
    SQLiteDataSource source = new SQLiteDataSource();
    source.setUrl("jdbc:sqlite:" + file + "?max_page_count=3");
    assertThatThrownBy(() -> SqliteSchema.prepare(source, file)).hasMessageContaining("full");
    try (Connection connection = open(file)) {
      assertThat(rows(connection, "SELECT name FROM sqlite_master")).isEmpty();
    }
    assertThat(Files.size(file)).isZero();
  }
}
