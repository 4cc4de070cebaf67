package io.espalier.server.store;

import io.espalier.core.status.StoreException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Migrates a file to the schema of this version, or reports that the file is not one of ours. */
final class SqliteSchema {
  /** The number of the newest migration. Each migration ends by setting it. */
  static final int VERSION = 9;

  /** "ESPA": set by the first migration, to distinguish a foreign file from an old one. */
  static final int APPLICATION_ID = 0x45535041;

  private static final Logger LOG = LoggerFactory.getLogger(SqliteSchema.class);

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
    if (version > VERSION) {
      throw new StoreException(
          "status file "
              + file
              + " was written by a newer Espalier (schema "
              + version
              + "; this one knows "
              + VERSION
              + "): use that version",
          false,
          null);
    }
    if (version < VERSION) {
      migrate(source, file, version, VERSION);
    }
  }

  /**
   * @param to the schema version to end with
   */
  static void migrate(DataSource source, Path file, int from, int to) {
    long begin = System.nanoTime();
    try {
      Flyway.configure(SqliteSchema.class.getClassLoader())
          .dataSource(source)
          .locations("classpath:db/migration/sqlite")
          .loggers(FlywayLog.class.getName())
          .target(Integer.toString(to))
          .load()
          .migrate();
    } catch (FlywayException e) {
      String why = String.valueOf(e.getMessage()).strip().lines().findFirst().orElse("");
      throw new StoreException(
          "status file " + file + " could not be brought to schema " + to + ": " + why, true, e);
    }
    LOG.debug(
        "{} brought from schema {} to {} in {} ms",
        file,
        from,
        to,
        Duration.ofNanos(System.nanoTime() - begin).toMillis());
  }

  private static int number(Statement statement, String sql) throws SQLException {
    try (ResultSet result = statement.executeQuery(sql)) {
      return result.next() ? result.getInt(1) : 0;
    }
  }
}
