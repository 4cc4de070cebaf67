package io.espalier.server.store;

import io.espalier.core.running.Invocation;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskEnd;
import io.espalier.core.running.Usage;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.JsonText;
import io.espalier.core.status.StatusRow;
import io.espalier.core.status.StoreException;
import io.espalier.core.status.TaskHistory;
import io.espalier.core.status.TaskStatus;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads rows back on one connection, for one query. Not thread-safe. */
final class SqliteRows {
  static final String COLUMNS =
      "node, bits, since, backoff, position, attempts, epoch, sequence, started, data, worker";

  private final String store;
  private final JsonText json;
  private final Connection connection;
  private final Map<Integer, WorkerRef> workers = new HashMap<>();

  /**
   * @param store for messages
   */
  SqliteRows(String store, JsonText json, Connection connection) {
    this.store = store;
    this.json = json;
    this.connection = connection;
    workers.put(0, WorkerRef.LOCAL);
  }

  /** The row that a query of {@link #COLUMNS} stands on. */
  StatusRow row(String job, ResultSet found) throws SQLException {
    String node = found.getString(1);
    String data = found.getString(10);
    TaskStatus status;
    try {
      status =
          TaskStatus.ofBits(
              found.getInt(2),
              found.getLong(3),
              found.getInt(4),
              found.getInt(5),
              found.getInt(6),
              data == null ? null : StoredText.object(json, data));
    } catch (IllegalArgumentException e) {
      throw damaged(job, node, e);
    }
    return new StatusRow(
        job,
        node,
        status,
        new Invocation(found.getLong(7), found.getLong(8), found.getLong(9)),
        worker(found.getInt(11)));
  }

  private StoreException damaged(String job, String node, IllegalArgumentException e) {
    return new StoreException(
        store + ", job " + job + ", node " + node + ": " + e.getMessage(), false, e);
  }

  private WorkerRef worker(int id) throws SQLException {
    WorkerRef known = workers.get(id);
    if (known != null) {
      return known;
    }
    try (PreparedStatement find =
        connection.prepareStatement("SELECT shard, instance FROM worker WHERE id = ?")) {
      find.setInt(1, id);
      try (ResultSet found = find.executeQuery()) {
        if (!found.next()) {
          throw new StoreException(store + ": there is no worker " + id, false, null);
        }
        WorkerRef worker = new WorkerRef(found.getString(1), found.getLong(2));
        workers.put(id, worker);
        return worker;
      }
    }
  }

  /** One attempt with its place in the ring of its task. */
  private record Placed(long place, Attempt attempt) {}

  TaskHistory history(String job, String node) throws SQLException {
    List<Placed> placed = new ArrayList<>();
    long ended = 0;
    long cpu = 0;
    try (PreparedStatement find =
        connection.prepareStatement(
            "SELECT status.ended, status.cpu, attempt.id, number, attempt.epoch,"
                + " attempt.sequence, attempt.started, attempt.ended, attempt.worker, kind,"
                + " attempt.bits, exit_code, signal, core_dumped, stop_reason, attempt.cpu,"
                + " memory, read, written, message, fingerprint, got_on, attempt.backoff"
                + " FROM status JOIN attempt ON attempt.id >= status.ring * "
                + SqliteAttempts.RING
                + " AND attempt.id < (status.ring + 1) * "
                + SqliteAttempts.RING
                + " WHERE job = (SELECT id FROM job WHERE name = ?) AND node = ?")) {
      find.setString(1, job);
      find.setString(2, node);
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
        Comparator.comparingLong(p -> -Math.floorMod(newest - p.place(), SqliteAttempts.RING)));
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
