package io.espalier.server.store.mysql;

import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.StatusStore;
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
 * Writes attempts and the names of workers, on the connection that writes. Each task has a ring of
 * {@link StatusStore#KEPT_ATTEMPTS} numbers for its newest ends. Not thread-safe.
 */
final class MySqlAttempts {
  static final int RING = StatusStore.KEPT_ATTEMPTS;

  private final Connection connection;
  private final PreparedStatement put;
  private final PreparedStatement delete;
  private final Map<WorkerRef, Integer> workers = new HashMap<>();
  private long nextRing = -1;

  /** The location and the totals of one task's history, updated within one transaction. */
  static final class Place {
    /** Negative: no ring is allocated yet. */
    long ring;

    long ended;
    long cpu;

    Place(long ring, long ended, long cpu) {
      this.ring = ring;
      this.ended = ended;
      this.cpu = cpu;
    }
  }

  MySqlAttempts(Connection connection) throws SQLException {
    this.connection = connection;
    put =
        connection.prepareStatement(
            "INSERT INTO espalier_attempt (id, number, epoch, sequence, started, ended, worker,"
                + " kind, bits, exit_code, signal_number, core_dumped, stop_reason, cpu, memory,"
                + " bytes_read, bytes_written, message, fingerprint, got_on, backoff)"
                + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                + " ON DUPLICATE KEY UPDATE number = VALUES(number), epoch = VALUES(epoch),"
                + " sequence = VALUES(sequence), started = VALUES(started), ended = VALUES(ended),"
                + " worker = VALUES(worker), kind = VALUES(kind), bits = VALUES(bits),"
                + " exit_code = VALUES(exit_code), signal_number = VALUES(signal_number),"
                + " core_dumped = VALUES(core_dumped), stop_reason = VALUES(stop_reason),"
                + " cpu = VALUES(cpu), memory = VALUES(memory), bytes_read = VALUES(bytes_read),"
                + " bytes_written = VALUES(bytes_written), message = VALUES(message),"
                + " fingerprint = VALUES(fingerprint), got_on = VALUES(got_on),"
                + " backoff = VALUES(backoff)");
    delete = connection.prepareStatement("DELETE FROM espalier_attempt WHERE id >= ? AND id < ?");
  }

  /** Adds an attempt to the rows that {@link #flush} writes. */
  void add(Attempt attempt, Place place) throws SQLException {
    if (place.ring < 0) {
      if (nextRing < 0) {
        nextRing = newestId() / RING + 1;
      }
      place.ring = nextRing++;
    }
    ResourceUsage usage = attempt.usage();
    place.ended++;
    place.cpu += Math.max(0, usage.cpuMillis());
    put.setLong(1, place.ring * RING + place.ended % RING);
    put.setInt(2, attempt.number());
    put.setLong(3, attempt.invocation().epoch());
    put.setLong(4, attempt.invocation().sequence());
    put.setLong(5, attempt.invocation().startMillis());
    put.setLong(6, attempt.endedAtMillis());
    put.setInt(7, number(attempt.worker()));
    put.setString(8, attempt.kind().name());
    put.setInt(9, attempt.bits());
    setNumber(10, attempt.exitCode());
    setNumber(11, attempt.signal());
    put.setBoolean(12, attempt.coreDumped());
    setText(13, attempt.stopReason() == null ? "" : attempt.stopReason().name());
    put.setLong(14, usage.cpuMillis());
    put.setLong(15, usage.peakMemoryBytes());
    put.setLong(16, usage.readBytes());
    put.setLong(17, usage.writtenBytes());
    setText(18, attempt.message());
    setText(19, attempt.fingerprint());
    put.setBoolean(20, attempt.gotOn());
    put.setInt(21, attempt.backoffSeconds());
    put.addBatch();
  }

  void flush() throws SQLException {
    put.executeBatch();
  }

  private void setNumber(int at, @Nullable Integer number) throws SQLException {
    if (number == null) {
      put.setNull(at, Types.INTEGER);
    } else {
      put.setInt(at, number);
    }
  }

  private void setText(int at, String text) throws SQLException {
    if (text.isEmpty()) {
      put.setNull(at, Types.VARCHAR);
    } else {
      put.setString(at, text);
    }
  }

  private long newestId() throws SQLException {
    try (PreparedStatement newest =
            connection.prepareStatement("SELECT max(id) FROM espalier_attempt");
        ResultSet found = newest.executeQuery()) {
      return found.next() ? found.getLong(1) : 0;
    }
  }

  /** Deletes the content of these rings. */
  void deleteRings(List<Long> rings) throws SQLException {
    for (long ring : rings) {
      delete.setLong(1, ring * RING);
      delete.setLong(2, (ring + 1) * RING);
      delete.addBatch();
    }
    if (!rings.isEmpty()) {
      delete.executeBatch();
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
    int id = find(worker);
    if (id == 0) {
      try (PreparedStatement add =
          connection.prepareStatement(
              "INSERT INTO espalier_worker (shard, long_shard, instance) VALUES (?, ?, ?)")) {
        NameKey.of(worker.shard()).set(add, 1);
        add.setLong(3, worker.instance());
        add.executeUpdate();
      }
      id = find(worker);
    }
    workers.put(worker, id);
    return id;
  }

  private int find(WorkerRef worker) throws SQLException {
    try (PreparedStatement find =
        connection.prepareStatement(
            "SELECT id FROM espalier_worker WHERE shard = ? AND instance = ?")) {
      find.setBytes(1, NameKey.of(worker.shard()).key());
      find.setLong(2, worker.instance());
      try (ResultSet found = find.executeQuery()) {
        return found.next() ? found.getInt(1) : 0;
      }
    }
  }
}
