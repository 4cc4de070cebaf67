package io.espalier.server.store.jdbc.sqlite;

import io.espalier.core.status.store.StoreException;
import io.espalier.server.store.jdbc.SchemaMigration;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Objects;
import javax.sql.DataSource;

/** Brings a file to the schema of this version, or reports that the file is not one of ours. */
final class SqliteSchema {
  /** The number of the newest migration. Each migration ends by setting it. */
  static final int VERSION = 21;

  /** "ESPA": set by the first migration, to distinguish a foreign file from an old one. */
  static final int APPLICATION_ID = 0x45535041;

  /** The tables of an empty store, generated from the migrations: see {@code SqliteSchemaTest}. */
  static final String SCRIPT = "db/schema/sqlite.sql";

  private SqliteSchema() {}

  /**
   * Migrates the file if necessary. Cheap when it is current or new: Flyway alone takes longer than
   * all the rest of a start.
   */
  static void prepare(DataSource source, Path file) throws SQLException {
    int version;
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement()) {
      // Another process may make the file meanwhile, at once: the last answer tells whose it is.
      boolean empty = number(statement, "SELECT count(*) FROM sqlite_master") == 0;
      version = number(statement, "PRAGMA user_version");
      int application = number(statement, "PRAGMA application_id");
      if (application != APPLICATION_ID && !(empty && application == 0 && version == 0)) {
        throw new StoreException(
            "status file " + file + " is a database of another program", false, null);
      }
      if (empty) {
        if (create(statement)) {
          return;
        }
        version = number(statement, "PRAGMA user_version");
      }
    }
    new SchemaMigration("status file " + file).refuseNewer(version, VERSION);
    if (version < VERSION) {
      migrate(source, file, version, VERSION);
    }
  }

  /**
   * Makes in an empty file, at once, what all migrations together would make of it.
   *
   * @return false: another process has begun to use the file
   */
  private static boolean create(Statement statement) throws SQLException {
    statement.execute("BEGIN IMMEDIATE");
    try {
      boolean isEmpty = number(statement, "SELECT count(*) FROM sqlite_master") == 0;
      if (isEmpty) {
        statement.executeUpdate(script());
      }
      statement.execute("COMMIT");
      return isEmpty;
    } catch (SQLException e) {
      try {
        statement.execute("ROLLBACK");
      } catch (SQLException ended) {
        e.addSuppressed(ended); // SQLite has rolled back by itself, as on a full disk.
      }
      throw e;
    }
  }

  private static String script() {
    try (InputStream in =
        Objects.requireNonNull(SqliteSchema.class.getResourceAsStream("/" + SCRIPT))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * @param to the schema version to end with
   */
  static void migrate(DataSource source, Path file, int from, int to) throws SQLException {
    new SchemaMigration("status file " + file)
        .migrate(SchemaMigration.configure("sqlite").dataSource(source), from, to, false);
  }

  private static int number(Statement statement, String sql) throws SQLException {
    try (ResultSet result = statement.executeQuery(sql)) {
      return result.next() ? result.getInt(1) : 0;
    }
  }
}
