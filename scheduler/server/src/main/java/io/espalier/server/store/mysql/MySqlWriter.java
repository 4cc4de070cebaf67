package io.espalier.server.store.mysql;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.running.Invocation;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.StatusRow;
import io.espalier.core.status.StatusStore;
import io.espalier.core.status.StoreTransaction;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.server.store.EventLogWriter;
import io.espalier.server.store.OperatorTablesWriter;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Writes through one connection. It sends few statements of many rows, because the number of round
 * trips to the server determines the time. Each call is part of the open transaction. Not
 * thread-safe.
 */
final class MySqlWriter {
  /** The maximum number of events in a row: well below the smallest packet limit of a server. */
  private static final int EVENTS_IN_ROW = 1_000;

  private static final int LENGTH_OF_ROW = 1 << 20;

  private static final OperatorTablesWriter.Statements SMALL =
      new OperatorTablesWriter.Statements(
          "DELETE FROM espalier_pause WHERE job = ?",
          "REPLACE INTO espalier_pause (job, long_job, operator, reason, since, ends)"
              + " VALUES (?, ?, ?, ?, ?, ?)",
          "DELETE FROM espalier_worker_hold WHERE shard = ?",
          "REPLACE INTO espalier_worker_hold (shard, long_shard, drain, operator, reason, since)"
              + " VALUES (?, ?, ?, ?, ?, ?)",
          "DELETE FROM espalier_limit_override WHERE level = ? AND resource = ? AND node = ?",
          "REPLACE INTO espalier_limit_override (level, long_level, resource, long_resource, node,"
              + " long_node, slots, author, reason, since, ends)"
              + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
          "DELETE FROM espalier_job_standing WHERE job = ?",
          "REPLACE INTO espalier_job_standing (job, long_job, body) VALUES (?, ?, ?)",
          "DELETE FROM espalier_queue_usage",
          "INSERT INTO espalier_queue_usage (queue, value, at) VALUES (?, ?, ?)");

  private static final String ROW =
      "job, node, long_node, bits, since, backoff, position, attempts, epoch, sequence, started,"
          + " data, worker";
  private static final String UPDATE =
      " ON DUPLICATE KEY UPDATE bits = VALUES(bits), since = VALUES(since),"
          + " backoff = VALUES(backoff), position = VALUES(position), attempts = VALUES(attempts),"
          + " epoch = VALUES(epoch), sequence = VALUES(sequence), started = VALUES(started),"
          + " data = VALUES(data), worker = VALUES(worker)";

  private final Connection connection;
  private final PreparedStatement take;
  private final PreparedStatement putRow;
  private final PreparedStatement putRowAndPlace;
  private final PreparedStatement putPlace;
  private final MySqlAttempts history;
  private final OperatorTablesWriter small;
  private final EventLogWriter events;
  private final JobIds jobs;

  /**
   * Takes over a connection, which never commits by itself and is almost always inside a
   * transaction.
   */
  MySqlWriter(Connection connection) throws SQLException {
    this.connection = connection;
    connection.setAutoCommit(false);
    take =
        connection.prepareStatement(
            "UPDATE espalier_store SET mark = ? WHERE id = 1 AND epoch = ?");
    putRow =
        connection.prepareStatement(
            "INSERT INTO espalier_status ("
                + ROW
                + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                + UPDATE);
    putRowAndPlace =
        connection.prepareStatement(
            "INSERT INTO espalier_status ("
                + ROW
                + ", ring, ended, cpu) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                + UPDATE
                + ", ring = VALUES(ring), ended = VALUES(ended), cpu = VALUES(cpu)");
    putPlace =
        connection.prepareStatement(
            "UPDATE espalier_status SET ring = ?, ended = ?, cpu = ? WHERE job = ? AND node = ?");
    jobs = new JobIds(connection);
    history = new MySqlAttempts(connection);
    small = new OperatorTablesWriter(connection, new MySqlNames(), SMALL);
    events = new EventLogWriter(connection, "espalier_event", EVENTS_IN_ROW, LENGTH_OF_ROW);
  }

  void commit() throws SQLException {
    connection.commit();
  }

  void rollback() throws SQLException {
    connection.rollback();
  }

  /** Drops the connection; the server rolls back what was not committed. */
  void close() {
    try {
      connection.close();
    } catch (SQLException alreadyGone) {
      // The connection was to be closed anyway.
      return;
    }
  }

  /**
   * The row that every writing transaction locks first, so that only one runs at a time.
   *
   * @param mark of the newest commit
   */
  record State(long epoch, long mark, @Nullable String source) {}

  State lock() throws SQLException {
    try (PreparedStatement select =
            connection.prepareStatement(
                "SELECT epoch, mark, source FROM espalier_store WHERE id = 1 FOR UPDATE");
        ResultSet found = select.executeQuery()) {
      if (!found.next()) {
        throw new SQLException("there is no row in espalier_store", "42S02", 1146);
      }
      return new State(found.getLong(1), found.getLong(2), found.getString(3));
    }
  }

  /**
   * Identifies the store and its owner: the id of the store, the duration of leases that may still
   * be in force, and the process that owns it.
   */
  record Identity(String storeId, long leaseMillis, String process) {}

  /** Reads the row of the owner. Must be called after {@link #lock}. */
  Identity identity() throws SQLException {
    try (PreparedStatement select =
            connection.prepareStatement(
                "SELECT store, lease, process FROM espalier_owner WHERE id = 1 FOR UPDATE");
        ResultSet found = select.executeQuery()) {
      if (!found.next()) {
        throw new SQLException("there is no row in espalier_owner", "42S02", 1146);
      }
      return new Identity(found.getString(1), found.getLong(2), found.getString(3));
    }
  }

  void setLease(long leaseMillis) throws SQLException {
    execute("UPDATE espalier_owner SET lease = ? WHERE id = 1", leaseMillis);
  }

  /** Removes the owner. */
  void disown() throws SQLException {
    execute(
        "UPDATE espalier_owner SET owner = '', process = '', label = '', beat = beat + 1, ended = 1"
            + " WHERE id = 1");
  }

  /** Locks and updates the same row in one step; false when another epoch is in force. */
  boolean take(long epoch, long mark) throws SQLException {
    take.setLong(1, mark);
    take.setLong(2, epoch);
    return take.executeUpdate() == 1;
  }

  void setSource(String source) throws SQLException {
    execute("UPDATE espalier_store SET source = ? WHERE id = 1", source);
  }

  void setNodesSketch(String sketch) throws SQLException {
    execute("REPLACE INTO espalier_nodes (id, sketch) VALUES (1, ?)", sketch);
  }

  void setEpoch(long epoch) throws SQLException {
    execute("UPDATE espalier_store SET epoch = ?, mark = 0 WHERE id = 1", epoch);
  }

  void forgetEverything() throws SQLException {
    execute("UPDATE espalier_job SET name = NULL, long_name = NULL WHERE name IS NOT NULL");
    execute("DELETE FROM espalier_pause");
    execute("DELETE FROM espalier_worker_hold");
    execute("DELETE FROM espalier_limit_override");
    execute("DELETE FROM espalier_job_standing");
    execute("DELETE FROM espalier_queue_usage");
    execute("DELETE FROM espalier_nodes");
    execute("DELETE FROM espalier_event");
  }

  void apply(StoreTransaction batch) throws SQLException {
    for (String job : batch.forgottenJobs()) {
      // Its rows lose their name at once and are deleted in portions.
      jobs.forget(job);
      small.forgetStanding(job);
    }
    delete(batch.deletedRows());
    Map<TaskKey, MySqlAttempts.Place> places = places(batch.attempts());
    put(batch.rows(), batch.attempts(), places);
    small.apply(batch);
    for (Map.Entry<String, Long> known : batch.incarnations().entrySet()) {
      jobs.setIncarnation(known.getKey(), known.getValue());
    }
    events.append(batch.events());
  }

  /** Deletes old events or rows of a forgotten job and returns the number of deleted rows. */
  int cleanUp(StatusStore.Retention retention, int atMost) throws SQLException {
    int old = events.deleteOld(retention);
    return old > 0 ? old : deleteGone(atMost);
  }

  private int deleteGone(int atMost) throws SQLException {
    OptionalInt forgotten = jobs.forgotten();
    if (forgotten.isEmpty()) {
      return 0;
    }
    int job = forgotten.getAsInt();
    List<Long> rings = new ArrayList<>();
    try (PreparedStatement some =
        connection.prepareStatement(
            "SELECT ring FROM espalier_status WHERE job = ? ORDER BY node LIMIT ?")) {
      some.setInt(1, job);
      some.setInt(2, atMost);
      try (ResultSet found = some.executeQuery()) {
        while (found.next()) {
          long ring = found.getLong(1);
          if (!found.wasNull()) {
            rings.add(ring);
          }
        }
      }
    }
    history.deleteRings(rings);
    int rows =
        execute("DELETE FROM espalier_status WHERE job = ? ORDER BY node LIMIT ?", job, atMost);
    if (rows < atMost) {
      rows += execute("DELETE FROM espalier_job WHERE id = ?", job);
    }
    return rows;
  }

  private void delete(Set<TaskKey> keys) throws SQLException {
    for (Map.Entry<String, List<String>> ofJob : NodeKeyList.byJob(keys).entrySet()) {
      Integer job = jobs.known(ofJob.getKey());
      if (job == null) {
        continue;
      }
      for (List<String> nodes : NodeKeyList.pieces(ofJob.getValue())) {
        List<Long> rings = new ArrayList<>();
        select(
            "SELECT ring FROM espalier_status WHERE ring IS NOT NULL AND job = ? AND node IN ",
            job,
            nodes,
            found -> rings.add(found.getLong(1)));
        history.deleteRings(rings);
        try (PreparedStatement delete =
            connection.prepareStatement(
                "DELETE FROM espalier_status WHERE job = ? AND node IN "
                    + NodeKeyList.marks(nodes.size()))) {
          NodeKeyList.set(delete, job, nodes);
          delete.executeUpdate();
        }
      }
    }
  }

  /** Returns where the histories of these tasks are stored; tasks without a row are missing. */
  private Map<TaskKey, MySqlAttempts.Place> places(List<Attempt> attempts) throws SQLException {
    Set<TaskKey> keys = new LinkedHashSet<>();
    for (Attempt attempt : attempts) {
      keys.add(new TaskKey(attempt.job(), attempt.node()));
    }
    Map<TaskKey, MySqlAttempts.Place> places = new HashMap<>();
    for (Map.Entry<String, List<String>> ofJob : NodeKeyList.byJob(keys).entrySet()) {
      Integer job = jobs.known(ofJob.getKey());
      if (job == null) {
        continue;
      }
      for (List<String> nodes : NodeKeyList.pieces(ofJob.getValue())) {
        select(
            "SELECT node, long_node, coalesce(ring, -1), ended, cpu FROM espalier_status"
                + " WHERE job = ? AND node IN ",
            job,
            nodes,
            found ->
                places.put(
                    new TaskKey(ofJob.getKey(), NameKey.read(found, 1)),
                    new MySqlAttempts.Place(found.getLong(3), found.getLong(4), found.getLong(5))));
      }
    }
    return places;
  }

  private void put(
      List<StatusRow> rows, List<Attempt> attempts, Map<TaskKey, MySqlAttempts.Place> places)
      throws SQLException {
    Map<TaskKey, MySqlAttempts.Place> changed = new LinkedHashMap<>();
    if (!attempts.isEmpty()) {
      Set<TaskKey> written = new LinkedHashSet<>();
      rows.forEach(row -> written.add(row.key()));
      for (Attempt attempt : attempts) {
        TaskKey key = new TaskKey(attempt.job(), attempt.node());
        MySqlAttempts.Place place = places.get(key);
        if (place == null) {
          if (!written.contains(key)) {
            continue;
          }
          place = new MySqlAttempts.Place(-1, 0, 0);
          places.put(key, place);
        }
        history.add(attempt, place);
        changed.put(key, place);
      }
    }
    boolean plain = false;
    boolean placed = false;
    for (StatusRow row : rows) {
      MySqlAttempts.Place place = changed.isEmpty() ? null : changed.remove(row.key());
      if (place == null) {
        set(putRow, row);
        putRow.addBatch();
        plain = true;
      } else {
        set(putRowAndPlace, row);
        putRowAndPlace.setLong(14, place.ring);
        putRowAndPlace.setLong(15, place.ended);
        putRowAndPlace.setLong(16, place.cpu);
        putRowAndPlace.addBatch();
        placed = true;
      }
    }
    if (plain) {
      putRow.executeBatch();
    }
    if (placed) {
      putRowAndPlace.executeBatch();
    }
    for (Map.Entry<TaskKey, MySqlAttempts.Place> left : changed.entrySet()) {
      MySqlAttempts.Place place = left.getValue();
      putPlace.setLong(1, place.ring);
      putPlace.setLong(2, place.ended);
      putPlace.setLong(3, place.cpu);
      putPlace.setInt(4, jobs.number(left.getKey().job()));
      putPlace.setBytes(5, NameKey.of(left.getKey().node()).key());
      putPlace.addBatch();
    }
    if (!changed.isEmpty()) {
      putPlace.executeBatch();
    }
    if (!attempts.isEmpty()) {
      history.flush();
    }
  }

  private void set(PreparedStatement put, StatusRow row) throws SQLException {
    TaskStatus status = row.status();
    Invocation invocation = row.invocation();
    Json.Obj data = status.storedData();
    put.setInt(1, jobs.number(row.job()));
    NameKey.of(row.node()).set(put, 2);
    put.setInt(4, status.bits());
    put.setLong(5, status.sinceMillis());
    put.setInt(6, status.backoffSeconds());
    put.setInt(7, status.position());
    put.setInt(8, status.attempts());
    put.setLong(9, invocation.epoch());
    put.setLong(10, invocation.sequence());
    put.setLong(11, invocation.startMillis());
    if (data == null) {
      put.setNull(12, Types.VARCHAR);
    } else {
      put.setString(12, JsonWriter.compact(data));
    }
    put.setInt(13, history.number(row.worker()));
  }

  /** Processes one row of a result. */
  private interface Taker {
    void take(ResultSet found) throws SQLException;
  }

  private void select(String sql, int job, List<String> nodes, Taker each) throws SQLException {
    try (PreparedStatement select =
        connection.prepareStatement(sql + NodeKeyList.marks(nodes.size()))) {
      NodeKeyList.set(select, job, nodes);
      try (ResultSet found = select.executeQuery()) {
        while (found.next()) {
          each.take(found);
        }
      }
    }
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
