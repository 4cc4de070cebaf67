package io.espalier.server.store.jdbc;

import io.espalier.core.status.store.StoreException;
import java.sql.SQLException;
import java.time.Duration;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Migrates the tables of a store by Flyway.
 *
 * @param store its name for messages
 */
public record SchemaMigration(String store) {
  private static final Logger LOG = LoggerFactory.getLogger(SchemaMigration.class);

  /**
   * Refuses tables of a newer program.
   *
   * @param version of the tables
   * @param known the newest version that this program knows
   */
  public void refuseNewer(int version, int known) {
    if (version > known) {
      throw new StoreException(
          store
              + " was written by a newer Espalier (schema "
              + version
              + "; this one knows "
              + known
              + "): use that version",
          false,
          null);
    }
  }

  /** Begins to configure Flyway for the migrations in a directory below {@code db/migration}. */
  public static FluentConfiguration configure(String directory) {
    return Flyway.configure(SchemaMigration.class.getClassLoader())
        .locations("classpath:db/migration/" + directory)
        .loggers(FlywayLog.class.getName());
  }

  /**
   * Migrates.
   *
   * @param to the schema version to end with
   * @param repeatable whether each statement of a migration can run again, so that it can be
   *     repeated when a process has died in the middle of it
   */
  public void migrate(FluentConfiguration configured, int from, int to, boolean repeatable)
      throws SQLException {
    long begin = System.nanoTime();
    try {
      Flyway flyway = configured.target(Integer.toString(to)).load();
      if (repeatable) {
        flyway.repair();
      }
      flyway.migrate();
    } catch (FlywayException e) {
      for (Throwable at = e; at != null; at = at.getCause()) {
        if (at instanceof SQLException reason && reason.getErrorCode() != 0) {
          throw reason;
        }
      }
      String why = String.valueOf(e.getMessage()).strip().lines().findFirst().orElse("");
      throw new StoreException(
          store + " could not be brought to schema " + to + ": " + why, true, e);
    }
    LOG.debug(
        "{} brought from schema {} to {} in {} ms",
        store,
        from,
        to,
        Duration.ofNanos(System.nanoTime() - begin).toMillis());
  }
}
