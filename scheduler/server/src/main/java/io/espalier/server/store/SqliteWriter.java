package io.espalier.server.store;

import com.zaxxer.hikari.HikariDataSource;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.running.Invocation;
import io.espalier.core.status.StatusRow;
import io.espalier.core.status.StatusStore;
import io.espalier.core.status.StoreTransaction;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes through one connection, with statements prepared once. Each call is part of the open
 * transaction. Not thread-safe.
 */
final class SqliteWriter {
  private static final OperatorTablesWriter.Statements SMALL =
      new OperatorTablesWriter.Statements(
          "DELETE FROM pause WHERE job = ?",
          "INSERT OR REPLACE INTO pause (job, operator, reason, since, until)"
              + " VALUES (?, ?, ?, ?, ?)",
          "DELETE FROM worker_hold WHERE shard = ?",
          "INSERT OR REPLACE INTO worker_hold (shard, drain, operator, reason, since)"
              + " VALUES (?, ?, ?, ?, ?)",
          "DELETE FROM limit_override WHERE level = ? AND resource = ? AND node = ?",
          "INSERT OR REPLACE INTO limit_override (level, resource, node, slots, author, reason,"
              + " since, ends) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
          "DELETE FROM job_standing WHERE job = ?",
          "INSERT OR REPLACE INTO job_standing (job, body) VALUES (?, ?)",
          "DELETE FROM queue_usage",
          "INSERT INTO queue_usage (queue, value, at) VALUES (?, ?, ?)");

  private final Connection connection;
  private final PreparedStatement getMeta;
  private final PreparedStatement setMeta;
  private final PreparedStatement findJob;
  private final PreparedStatement addJob;
  private final PreparedStatement putRow;
  private final PreparedStatement deleteRow;
  private final SqliteAttempts history;
  private final OperatorTablesWriter small;
  private final EventLogWriter events;
  private final Map<String, Integer> jobs = new HashMap<>();

  SqliteWriter(Connection connection) throws SQLException {
    this.connection = connection;
    getMeta = connection.prepareStatement("SELECT value FROM meta WHERE name = ?");
    setMeta =
        connection.prepareStatement("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)");
    findJob = connection.prepareStatement("SELECT id FROM job WHERE name = ?");
    addJob =
        connection.prepareStatement(
            "INSERT OR IGNORE INTO job (id, name) SELECT 1 + max("
                + "(SELECT coalesce(max(id), 0) FROM job),"
                + " (SELECT coalesce(max(id), 0) FROM gone_job)), ?");
    putRow =
        connection.prepareStatement(
            "INSERT INTO status (job, node, bits, since, backoff, position, attempts, epoch,"
                + " sequence, started, data, worker) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                + " ON CONFLICT (job, node) DO UPDATE SET bits = excluded.bits,"
                + " since = excluded.since, backoff = excluded.backoff,"
                + " position = excluded.position, attempts = excluded.attempts,"
                + " epoch = excluded.epoch, sequence = excluded.sequence,"
                + " started = excluded.started, data = excluded.data,"
                + " worker = excluded.worker");
    deleteRow = connection.prepareStatement("DELETE FROM status WHERE job = ? AND node = ?");
    history = new SqliteAttempts(connection);
    small = new OperatorTablesWriter(connection, new SqliteNames(), SMALL);
    // SQLite does not limit the length of a row: one row for each commit.
    events = new EventLogWriter(connection, "event", Integer.MAX_VALUE, Integer.MAX_VALUE);
  }

  /**
   * Takes the write lock. The driver's commit() would immediately take it again, in an endless
   * cycle.
   */
  void begin() throws SQLException {
    connection.setAutoCommit(false);
  }

  void commit() throws SQLException {
    connection.setAutoCommit(true);
  }

  /** Returns a healthy connection to the pool, outside of transactions. */
  void release() {
    try {
      connection.close();
    } catch (SQLException alreadyGone) {
      // The connection was to be closed anyway.
      return;
    }
  }

  /** Rolls back and drops the connection, which may be in any state. */
  void abandon(HikariDataSource pool) {
    try (Statement statement = connection.createStatement()) {
      statement.execute("ROLLBACK");
    } catch (SQLException nothingToUndo) {
      // SQLite has rolled back by itself, or does so when the connection closes.
      pool.evictConnection(connection);
      return;
    }
    pool.evictConnection(connection);
  }

  @Nullable String text(String name) throws SQLException {
    getMeta.setString(1, name);
    try (ResultSet found = getMeta.executeQuery()) {
      return found.next() ? found.getString(1) : null;
    }
  }

  void setMeta(String name, Object value) throws SQLException {
    setMeta.setString(1, name);
    setMeta.setObject(2, value);
    setMeta.executeUpdate();
  }

  long epoch() throws SQLException {
    return number("epoch");
  }

  private long number(String name) throws SQLException {
    getMeta.setString(1, name);
    try (ResultSet found = getMeta.executeQuery()) {
      return found.next() ? found.getLong(1) : 0;
    }
  }

  StatusStore.Taken raiseEpoch(StatusStore.TakeOver how) throws SQLException {
    long old = epoch();
    long next = Math.max(old + 1, how.atLeast());
    String storeId = text("store_id");
    if (storeId == null) {
      throw new SQLException("the store has no id");
    }
    long earlierLeaseMillis = number("lease");
    setMeta("epoch", next);
    setMeta("lease", Math.max(earlierLeaseMillis, how.leaseMillis()));
    return new StatusStore.Taken(next, storeId, earlierLeaseMillis, old == 0);
  }

  void apply(StoreTransaction batch) throws SQLException {
    for (String job : batch.forgottenJobs()) {
      // Its rows lose their name at once and are deleted in portions.
      execute("INSERT INTO gone_job (id) SELECT id FROM job WHERE name = ?", job);
      execute("DELETE FROM job WHERE name = ?", job);
      small.forgetStanding(job);
      jobs.remove(job);
    }
    for (TaskKey key : batch.deletedRows()) {
      history.deleteOf(key, id(key.job()));
      deleteRow.setInt(1, id(key.job()));
      deleteRow.setString(2, key.node());
      deleteRow.addBatch();
    }
    if (!batch.deletedRows().isEmpty()) {
      deleteRow.executeBatch();
    }
    for (StatusRow row : batch.rows()) {
      put(row);
    }
    if (!batch.rows().isEmpty()) {
      putRow.executeBatch();
    }
    history.append(batch.attempts(), this::id);
    small.apply(batch);
    for (Map.Entry<String, Long> known : batch.incarnations().entrySet()) {
      execute("UPDATE job SET incarnation = ? WHERE id = ?", known.getValue(), id(known.getKey()));
    }
    events.append(batch.events());
  }

  private void put(StatusRow row) throws SQLException {
    TaskStatus status = row.status();
    Invocation invocation = row.invocation();
    Json.Obj data = status.storedData();
    putRow.setInt(1, id(row.job()));
    putRow.setString(2, row.node());
    putRow.setInt(3, status.bits());
    putRow.setLong(4, status.sinceMillis());
    putRow.setInt(5, status.backoffSeconds());
    putRow.setInt(6, status.position());
    putRow.setInt(7, status.attempts());
    putRow.setLong(8, invocation.epoch());
    putRow.setLong(9, invocation.sequence());
    putRow.setLong(10, invocation.startMillis());
    if (data == null) {
      putRow.setNull(11, Types.VARCHAR);
    } else {
      putRow.setString(11, JsonWriter.compact(data));
    }
    putRow.setInt(12, history.number(row.worker()));
    putRow.addBatch();
  }

  private int id(String job) throws SQLException {
    Integer known = jobs.get(job);
    if (known != null) {
      return known;
    }
    addJob.setString(1, job);
    addJob.executeUpdate();
    findJob.setString(1, job);
    try (ResultSet found = findJob.executeQuery()) {
      found.next();
      int id = found.getInt(1);
      jobs.put(job, id);
      return id;
    }
  }

  /** Deletes old events or rows of a forgotten job and returns the number of deleted rows. */
  int cleanUp(StatusStore.Retention retention, int atMost) throws SQLException {
    int old = events.deleteOld(retention);
    return old > 0 ? old : deleteGone(atMost);
  }

  private int deleteGone(int atMost) throws SQLException {
    int job;
    try (PreparedStatement any = connection.prepareStatement("SELECT id FROM gone_job LIMIT 1");
        ResultSet found = any.executeQuery()) {
      if (!found.next()) {
        return 0;
      }
      job = found.getInt(1);
    }
    history.deleteOf(job, atMost);
    int rows =
        execute(
            "DELETE FROM status WHERE job = ?1 AND node IN"
                + " (SELECT node FROM status WHERE job = ?1 ORDER BY node LIMIT ?2)",
            job,
            atMost);
    if (rows < atMost) {
      rows += execute("DELETE FROM gone_job WHERE id = ?", job);
    }
    return rows;
  }

  private int execute(String sql, Object... values) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.length; i++) {
        statement.setObject(i + 1, values[i]);
      }
      return statement.executeUpdate();
    }
  }
}
