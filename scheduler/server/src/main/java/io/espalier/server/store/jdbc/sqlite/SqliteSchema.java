package io.espalier.server.store.jdbc.sqlite;

import io.espalier.core.status.store.StoreException;
import io.espalier.server.store.jdbc.SchemaMigration;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** Migrates a file to the schema of this version, or reports that the file is not one of ours. */
final class SqliteSchema {
  /** The number of the newest migration. Each migration ends by setting it. */
  static final int VERSION = 21;

  /** "ESPA": set by the first migration, to distinguish a foreign file from an old one. */
  static final int APPLICATION_ID = 0x45535041;

  private SqliteSchema() {}

  /**
   * Migrates the file if necessary. Cheap when it is current: Flyway alone takes longer than all
   * the rest of a start.
   */
  static void prepare(DataSource source, Path file) throws SQLException {
    int version;
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement()) {
      int application = number(statement, "PRAGMA application_id");
      version = number(statement, "PRAGMA user_version");
      boolean empty = number(statement, "SELECT count(*) FROM sqlite_master") == 0;
      if (application != APPLICATION_ID && !(empty && application == 0 && version == 0)) {
        throw new StoreException(
            "status file " + file + " is a database of another program", false, null);
      }
    }
    new SchemaMigration("status file " + file).refuseNewer(version, VERSION);
    if (version < VERSION) {
      migrate(source, file, version, VERSION);
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
