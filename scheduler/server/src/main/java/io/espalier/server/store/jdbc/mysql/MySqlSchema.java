package io.espalier.server.store.jdbc.mysql;

import io.espalier.core.status.store.StoreException;
import io.espalier.server.store.jdbc.SchemaMigration;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Migrates a schema to the version of this program. */
final class MySqlSchema {
  /** The number of the newest migration. Each migration ends by storing its number. */
  static final int VERSION = 21;

  private static final int NO_SUCH_TABLE = 1146;
  private static final int LEAST_PACKET = 4 << 20;

  private static final Logger LOG = LoggerFactory.getLogger(MySqlSchema.class);

  private MySqlSchema() {}

  /** Migrates the schema if necessary. Cheap when it is current. */
  static void prepare(MySqlAccess access) throws SQLException {
    int version;
    try (Connection connection = access.getConnection();
        Statement statement = connection.createStatement()) {
      check(access.address(), statement);
      version = version(connection);
    }
    migration(access).refuseNewer(version, VERSION);
    if (version < VERSION) {
      if (version > 0) {
        LOG.warn(
            "status store {}: its tables are brought from schema {} to {}; an older Espalier"
                + " refuses them from now on, so the way back is the backup made before this"
                + " upgrade",
            access.address(),
            version,
            VERSION);
      }
      migrate(access, version, VERSION);
    }
  }

  /**
   * Checks whether {@link #prepare} would succeed, and changes nothing.
   *
   * @return true when the tables are of this version
   */
  static boolean look(MySqlAccess access) throws SQLException {
    try (Connection connection = access.getConnection();
        Statement statement = connection.createStatement()) {
      check(access.address(), statement);
      int version = version(connection);
      migration(access).refuseNewer(version, VERSION);
      return version == VERSION;
    }
  }

  private static void check(MySqlAddress address, Statement statement) throws SQLException {
    try (ResultSet found =
        statement.executeQuery(
            "SELECT VERSION(), @@innodb_flush_log_at_trx_commit, @@max_allowed_packet")) {
      found.next();
      LOG.info("status store {}: server {}", address, found.getString(1));
      if (found.getInt(2) != 1) {
        LOG.warn(
            "{} does not flush its log at each commit (innodb_flush_log_at_trx_commit = {}): a"
                + " power failure there can undo what was acknowledged",
            address,
            found.getInt(2));
      }
      if (found.getLong(3) < LEAST_PACKET) {
        throw new StoreException(
            "status store "
                + address
                + " takes too little at a time: max_allowed_packet is "
                + found.getLong(3)
                + ", make it "
                + LEAST_PACKET
                + " or more",
            false,
            null);
      }
    }
  }

  /** Returns the version of the tables; 0: there are no tables. */
  static int version(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet found =
            statement.executeQuery("SELECT version FROM espalier_store WHERE id = 1")) {
      return found.next() ? found.getInt(1) : 0;
    } catch (SQLException e) {
      if (e.getErrorCode() == NO_SUCH_TABLE) {
        return 0;
      }
      throw e;
    }
  }

  /**
   * @param to the schema version to end with
   */
  static void migrate(MySqlAccess access, int from, int to) throws SQLException {
    migration(access)
        .migrate(
            SchemaMigration.configure("mysql")
                .dataSource(access)
                .table("espalier_migration")
                // The schema may contain tables of other programs.
                .baselineOnMigrate(true)
                .baselineVersion("0"),
            from,
            to,
            true);
  }

  private static SchemaMigration migration(MySqlAccess access) {
    return new SchemaMigration("status store " + access.address());
  }
}
