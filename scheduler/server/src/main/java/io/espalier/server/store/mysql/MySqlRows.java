package io.espalier.server.store.mysql;

import io.espalier.core.running.Invocation;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskEnd;
import io.espalier.core.running.Usage;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.JsonText;
import io.espalier.core.status.StatusRow;
import io.espalier.core.status.StatusStore;
import io.espalier.core.status.StoreException;
import io.espalier.core.status.TaskHistory;
import io.espalier.core.status.TaskStatus;
import io.espalier.server.store.StoredText;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads rows back on one connection, inside one transaction, all from the same moment. Not
 * thread-safe.
 */
final class MySqlRows {
  static final String COLUMNS =
      "s.node, s.long_node, s.bits, s.since, s.backoff, s.position, s.attempts, s.epoch,"
          + " s.sequence, s.started, s.data, s.worker";

  /** The first column after {@link #COLUMNS}. */
  static final int NEXT = 13;

  private final String store;
  private final JsonText json;
  private final Connection connection;
  private final Map<Integer, WorkerRef> workers = new HashMap<>();

  /**
   * @param store for messages
   */
  MySqlRows(String store, JsonText json, Connection connection) throws SQLException {
    this.store = store;
    this.json = json;
    this.connection = connection;
    workers.put(0, WorkerRef.LOCAL);
    // First, and all: nothing else can be asked while rows stream in.
    try (Statement statement = connection.createStatement();
        ResultSet found =
            statement.executeQuery("SELECT id, shard, long_shard, instance FROM espalier_worker")) {
      while (found.next()) {
        workers.put(found.getInt(1), new WorkerRef(NameKey.read(found, 2), found.getLong(4)));
      }
    }
  }

  /** The row that a query of {@link #COLUMNS} stands on. */
  StatusRow row(String job, ResultSet found) throws SQLException {
    String node = NameKey.read(found, 1);
    String data = found.getString(11);
    TaskStatus status;
    try {
      status =
          TaskStatus.ofBits(
              found.getInt(3),
              found.getLong(4),
              found.getInt(5),
              found.getInt(6),
              found.getInt(7),
              data == null ? null : StoredText.object(json, data));
    } catch (IllegalArgumentException e) {
      throw damaged(job, node, e);
    }
    return new StatusRow(
        job,
        node,
        status,
        new Invocation(found.getLong(8), found.getLong(9), found.getLong(10)),
        worker(found.getInt(12)));
  }

  private StoreException damaged(String job, String node, IllegalArgumentException e) {
    return new StoreException(
        store + ", job " + job + ", node " + node + ": " + e.getMessage(), false, e);
  }

  private WorkerRef worker(int id) {
    WorkerRef known = workers.get(id);
    if (known == null) {
      throw new StoreException(store + ": there is no worker " + id, false, null);
    }
    return known;
  }

  /** One attempt with its place in the ring of its task. */
  private record Placed(long place, Attempt attempt) {}

  TaskHistory history(String job, String node) throws SQLException {
    List<Placed> placed = new ArrayList<>();
    long ended = 0;
    long cpu = 0;
    try (PreparedStatement find =
        connection.prepareStatement(
            "SELECT s.ended, s.cpu, a.id, a.number, a.epoch, a.sequence, a.started, a.ended,"
                + " a.worker, a.kind, a.bits, a.exit_code, a.signal_number, a.core_dumped,"
                + " a.stop_reason, a.cpu, a.memory, a.bytes_read, a.bytes_written, a.message,"
                + " a.fingerprint, a.got_on, a.backoff FROM espalier_job j JOIN espalier_status s ON s.job = j.id"
                + " JOIN espalier_attempt a ON a.id >= s.ring * "
                + StatusStore.KEPT_ATTEMPTS
                + " AND a.id < (s.ring + 1) * "
                + StatusStore.KEPT_ATTEMPTS
                + " WHERE j.name = ? AND s.node = ?")) {
      find.setBytes(1, NameKey.of(job).key());
      find.setBytes(2, NameKey.of(node).key());
      try (ResultSet found = find.executeQuery()) {
        while (found.next()) {
          ended = found.getLong(1);
          cpu = found.getLong(2);
          placed.add(new Placed(found.getLong(3), attempt(job, node, found)));
        }
      }
    } catch (IllegalArgumentException e) {
      throw damaged(job, node, e);
    }
    long newest = ended;
    placed.sort(
        Comparator.comparingLong(
            p -> -Math.floorMod(newest - p.place(), (long) StatusStore.KEPT_ATTEMPTS)));
    return new TaskHistory(ended, cpu, placed.stream().map(Placed::attempt).toList());
  }

  private Attempt attempt(String job, String node, ResultSet found) throws SQLException {
    String reason = found.getString(15);
    return new Attempt(
        job,
        node,
        found.getInt(4),
        new Invocation(found.getLong(5), found.getLong(6), found.getLong(7)),
        worker(found.getInt(9)),
        found.getLong(8),
        TaskEnd.Kind.valueOf(found.getString(10)),
        found.getInt(11),
        number(found, 12),
        number(found, 13),
        found.getBoolean(14),
        reason == null ? null : StopReason.valueOf(reason),
        new Usage(found.getLong(16), found.getLong(17), found.getLong(18), found.getLong(19)),
        text(found, 20),
        text(found, 21),
        found.getBoolean(22),
        found.getInt(23));
  }

  private static @Nullable Integer number(ResultSet found, int column) throws SQLException {
    int value = found.getInt(column);
    return found.wasNull() ? null : value;
  }

  private static String text(ResultSet found, int column) throws SQLException {
    String text = found.getString(column);
    return text == null ? "" : text;
  }
}
