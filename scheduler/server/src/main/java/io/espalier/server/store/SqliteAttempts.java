package io.espalier.server.store;

import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.StatusStore;
import io.espalier.core.status.TaskKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes the history of tasks and the names of workers, on the connection that writes.
 *
 * <p>Each task has a ring of {@link StatusStore#KEPT_ATTEMPTS} numbers for its newest ends. Rings
 * are allocated in the order of first ends, so that most writes are appends. Not thread-safe.
 */
final class SqliteAttempts {
  static final int RING = StatusStore.KEPT_ATTEMPTS;

  private final Connection connection;
  private final PreparedStatement count;
  private final PreparedStatement put;
  private final PreparedStatement delete;
  private final PreparedStatement findWorker;
  private final PreparedStatement addWorker;
  private final Map<WorkerRef, Integer> workers = new HashMap<>();
  private long nextRing = -1;

  SqliteAttempts(Connection connection) throws SQLException {
    this.connection = connection;
    count =
        connection.prepareStatement(
            "UPDATE status SET ring = coalesce(ring, ?), ended = ended + 1, cpu = cpu + ?"
                + " WHERE job = ? AND node = ?");
    put =
        connection.prepareStatement(
            "INSERT OR REPLACE INTO attempt (id, number, epoch, sequence, started, ended, worker,"
                + " kind, bits, exit_code, signal, core_dumped, stop_reason, cpu, memory, read,"
                + " written, message, fingerprint, got_on, backoff) SELECT ring * "
                + RING
                + " + ended % "
                + RING
                + ", ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"
                + " FROM status WHERE job = ? AND node = ?");
    delete =
        connection.prepareStatement(
            "DELETE FROM attempt WHERE id >= ? * " + RING + " AND id < (? + 1) * " + RING);
    findWorker =
        connection.prepareStatement("SELECT id FROM worker WHERE shard = ? AND instance = ?");
    addWorker =
        connection.prepareStatement("INSERT OR IGNORE INTO worker (shard, instance) VALUES (?, ?)");
  }

  /**
   * Appends to the history of tasks that have rows; ignores other tasks.
   *
   * @param jobs maps a job to its number
   */
  void append(List<Attempt> attempts, JobNumbers jobs) throws SQLException {
    if (attempts.isEmpty()) {
      return;
    }
    if (nextRing < 0) {
      nextRing = 1 + newestId() / RING;
    }
    for (Attempt attempt : attempts) {
      int job = jobs.of(attempt.job());
      count.setLong(1, nextRing++);
      count.setLong(2, Math.max(0, attempt.usage().cpuMillis()));
      count.setInt(3, job);
      count.setString(4, attempt.node());
      count.executeUpdate();
      put(attempt, job);
    }
  }

  /** Maps jobs to their numbers. */
  interface JobNumbers {
    int of(String job) throws SQLException;
  }

  private void put(Attempt attempt, int job) throws SQLException {
    ResourceUsage usage = attempt.usage();
    put.setInt(1, attempt.number());
    put.setLong(2, attempt.invocation().epoch());
    put.setLong(3, attempt.invocation().sequence());
    put.setLong(4, attempt.invocation().startMillis());
    put.setLong(5, attempt.endedAtMillis());
    put.setInt(6, number(attempt.worker()));
    put.setString(7, attempt.kind().name());
    put.setInt(8, attempt.bits());
    setNumber(9, attempt.exitCode());
    setNumber(10, attempt.signal());
    put.setBoolean(11, attempt.coreDumped());
    setText(12, attempt.stopReason() == null ? "" : attempt.stopReason().name());
    put.setLong(13, usage.cpuMillis());
    put.setLong(14, usage.peakMemoryBytes());
    put.setLong(15, usage.readBytes());
    put.setLong(16, usage.writtenBytes());
    setText(17, attempt.message());
    setText(18, attempt.fingerprint());
    put.setBoolean(19, attempt.gotOn());
    put.setInt(20, attempt.backoffSeconds());
    put.setInt(21, job);
    put.setString(22, attempt.node());
    put.executeUpdate();
  }

  private void setNumber(int at, @Nullable Integer number) throws SQLException {
    if (number == null) {
      put.setNull(at, Types.INTEGER);
    } else {
      put.setInt(at, number);
    }
  }

  /** Stores NULL for an empty text: most attempts have none, and NULL takes the least space. */
  private void setText(int at, String text) throws SQLException {
    if (text.isEmpty()) {
      put.setNull(at, Types.VARCHAR);
    } else {
      put.setString(at, text);
    }
  }

  private long newestId() throws SQLException {
    try (PreparedStatement newest = connection.prepareStatement("SELECT max(id) FROM attempt");
        ResultSet found = newest.executeQuery()) {
      return found.next() ? found.getLong(1) : 0;
    }
  }

  /** Returns the number of a worker; 0: our own process. */
  int number(WorkerRef worker) throws SQLException {
    if (worker.isLocal()) {
      return 0;
    }
    Integer known = workers.get(worker);
    if (known != null) {
      return known;
    }
    addWorker.setString(1, worker.shard());
    addWorker.setLong(2, worker.instance());
    addWorker.executeUpdate();
    findWorker.setString(1, worker.shard());
    findWorker.setLong(2, worker.instance());
    try (ResultSet found = findWorker.executeQuery()) {
      found.next();
      int id = found.getInt(1);
      workers.put(worker, id);
      return id;
    }
  }

  /** Deletes the history of a task. Must be called before its row is deleted. */
  void deleteOf(TaskKey key, int job) throws SQLException {
    try (PreparedStatement rings =
        connection.prepareStatement(
            "SELECT ring FROM status WHERE job = ? AND node = ? AND ring IS NOT NULL")) {
      rings.setInt(1, job);
      rings.setString(2, key.node());
      deleteFound(rings);
    }
  }

  /**
   * Deletes the history of the first {@code rows} rows of a job, ordered by node. Must be called
   * before those rows are deleted.
   */
  void deleteOf(int job, int rows) throws SQLException {
    try (PreparedStatement rings =
        connection.prepareStatement(
            "SELECT ring FROM (SELECT ring FROM status WHERE job = ? ORDER BY node LIMIT ?)"
                + " WHERE ring IS NOT NULL")) {
      rings.setInt(1, job);
      rings.setInt(2, rows);
      deleteFound(rings);
    }
  }

  private void deleteFound(PreparedStatement rings) throws SQLException {
    try (ResultSet found = rings.executeQuery()) {
      while (found.next()) {
        long ring = found.getLong(1);
        delete.setLong(1, ring);
        delete.setLong(2, ring);
        delete.executeUpdate();
      }
    }
  }
}
