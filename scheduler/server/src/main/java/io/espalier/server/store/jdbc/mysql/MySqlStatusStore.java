package io.espalier.server.store.jdbc.mysql;

import io.espalier.core.status.JsonDecoder;
import io.espalier.core.status.store.StaleEpochException;
import io.espalier.core.status.store.StoreException;
import io.espalier.server.store.jdbc.Dialect.Property;
import io.espalier.server.store.jdbc.JdbcStatusStore;
import io.espalier.server.store.jdbc.JdbcWriter;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores statuses in a schema of a MySQL or MariaDB server. Several processes can reach it, so it
 * has an owner.
 */
public final class MySqlStatusStore extends JdbcStatusStore {
  private static final Logger LOG = LoggerFactory.getLogger(MySqlStatusStore.class);

  /** The tables that a fresh start empties at once; rows of tasks are deleted in portions. */
  private static final List<String> FORGOTTEN =
      List.of(
          "pause",
          "worker_hold",
          "limit_override",
          "job_standing",
          "brake",
          "notification",
          "quarantine",
          "answer",
          "rollout",
          "queue_usage",
          "duration",
          "nodes",
          "event");

  private volatile @Nullable String owner;

  private MySqlStatusStore(MySqlDialect dialect, JsonDecoder json) throws SQLException {
    super(dialect, json);
  }

  /**
   * Opens the schema, which must exist, and migrates it to this version's tables.
   *
   * @param json decodes task data and events
   * @throws StoreException with one clear line when that is not possible
   */
  public static MySqlStatusStore open(MySqlAddress address, JsonDecoder json) {
    MySqlDialect dialect = new MySqlDialect(address);
    try {
      dialect.prepare();
      return new MySqlStatusStore(dialect, json);
    } catch (SQLException e) {
      throw dialect.translate(e);
    }
  }

  /**
   * Checks that a schema can be opened, and changes nothing: tables of an older version stay as
   * they are until a scheduler leads with them.
   *
   * @throws StoreException with one clear line when that is not possible
   */
  public static void check(MySqlAddress address) {
    MySqlDialect dialect = new MySqlDialect(address);
    try {
      if (!MySqlSchema.look(MySqlAccess.of(address, Map.of(), MySqlDialect.SOCKET_MILLIS))) {
        LOG.info(
            "{}: the tables of this version are made when this scheduler leads",
            dialect.description());
      }
    } catch (SQLException e) {
      throw dialect.translate(e);
    }
  }

  /**
   * Creates the tables or migrates them to this version.
   *
   * @throws StoreException with one clear line when that is not possible
   */
  public static void prepare(MySqlAddress address) {
    MySqlDialect dialect = new MySqlDialect(address);
    try {
      dialect.prepare();
    } catch (SQLException e) {
      throw dialect.translate(e);
    }
  }

  /**
   * Makes take-overs fail unless this process owns the store according to {@link MySqlOwners}.
   * Without this call, a take-over leaves the store without an owner.
   */
  public void ownedBy(String process) {
    owner = process;
  }

  @Override
  protected void beforeTakeOver(JdbcWriter w) throws SQLException {
    String mine = owner;
    if (mine == null) {
      disown(w);
      return;
    }
    String owning = w.ask("SELECT process FROM espalier_owner WHERE id = 1 FOR UPDATE");
    if (owning != null && !mine.equals(owning)) {
      throw new StoreException(description() + " was taken over by another scheduler", false, null);
    }
  }

  private static void disown(JdbcWriter w) throws SQLException {
    w.execute(
        "UPDATE espalier_owner SET owner = '', process = '', label = '', beat = beat + 1, ended = 1"
            + " WHERE id = 1");
  }

  /** Returns the source to which the store belongs; null when it was never bound to one. */
  public @Nullable String source() {
    return property(Property.SOURCE).orElse(null);
  }

  /**
   * Passes the store to another owner. A scheduler that led with it can no longer write; a write
   * through this object needs a new epoch as well.
   *
   * @throws StoreException not retryable, when the store belongs to neither owner
   */
  public void pass(String from, String to) {
    String bound =
        write(
            w -> {
              long epoch = w.epoch();
              String source = w.get(Property.SOURCE);
              if (!from.equals(source)) {
                return String.valueOf(source);
              }
              w.set(Property.SOURCE, to);
              w.set(Property.EPOCH, epoch + 1);
              if (owner == null) {
                disown(w);
              }
              return to;
            });
    dropWriter();
    if (!bound.equals(to)) {
      throw new StoreException(
          description() + " belongs to " + bound + ", not to " + from, false, null);
    }
  }

  /**
   * Deletes all jobs, events, and what operators have set, for a fresh start. To be called when no
   * task of an earlier leadership can be alive: until then the rows tell which tasks may be.
   *
   * @param epoch epoch from {@link #openEpoch}
   * @throws StaleEpochException when the store was taken over since
   */
  public void forgetEverything(long epoch) {
    int unused =
        write(
            w -> {
              requireEpoch(w, epoch);
              w.execute("UPDATE #job SET name = NULL, long_name = NULL WHERE name IS NOT NULL");
              for (String table : FORGOTTEN) {
                w.execute("DELETE FROM #" + table);
              }
              return 0;
            });
    // It has cached the numbers of jobs.
    dropWriter();
    LOG.info("{} is empty now, by epoch {}", description(), epoch);
  }
}
