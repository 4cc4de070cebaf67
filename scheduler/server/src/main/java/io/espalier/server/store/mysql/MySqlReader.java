package io.espalier.server.store.mysql;

import com.zaxxer.hikari.HikariDataSource;
import io.espalier.core.event.Event;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.JsonDecoder;
import io.espalier.core.status.StatusRow;
import io.espalier.core.status.StatusStore;
import io.espalier.core.status.StoreException;
import io.espalier.core.status.TaskHistory;
import io.espalier.core.status.TaskStatus;
import io.espalier.server.store.ColumnReader;
import io.espalier.server.store.RowMapper;
import io.espalier.server.store.StoreReader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Runs the queries of a status store on a server. Each query is one transaction and reads one
 * consistent snapshot; results that may be large are streamed. Thread-safe.
 */
final class MySqlReader extends StoreReader {
  private static final String COLUMNS =
      "s.node, s.long_node, s.bits, s.since, s.backoff, s.position, s.attempts, s.epoch,"
          + " s.sequence, s.started, s.data, s.worker";

  private static final Tables TABLES =
      new Tables(
          "SELECT name, long_name FROM espalier_job j WHERE name IS NOT NULL AND EXISTS"
              + " (SELECT 1 FROM espalier_status s WHERE s.job = j.id)",
          "SELECT name, long_name, incarnation FROM espalier_job"
              + " WHERE name IS NOT NULL AND incarnation != 0",
          "SELECT job, long_job, operator, reason, since, ends FROM espalier_pause",
          "SELECT job, long_job, body FROM espalier_job_standing",
          "SELECT shard, long_shard, drain, operator, reason, since FROM espalier_worker_hold",
          "SELECT level, long_level, resource, long_resource, node, long_node, slots, author,"
              + " reason, since, ends FROM espalier_limit_override",
          "SELECT queue, value, at FROM espalier_queue_usage",
          "SELECT last FROM espalier_event ORDER BY first DESC LIMIT 1");

  private final MySqlAddress address;
  private final HikariDataSource pool;

  MySqlReader(String store, MySqlAddress address, JsonDecoder json, HikariDataSource pool) {
    super(store, json, new MySqlNames(), TABLES);
    this.address = address;
    this.pool = pool;
  }

  /** Returns the source to which the store belongs; empty when it was never bound to one. */
  Optional<String> source() {
    return read(
        connection -> {
          try (Statement statement = connection.createStatement();
              ResultSet found =
                  statement.executeQuery("SELECT source FROM espalier_store WHERE id = 1")) {
            return found.next() ? Optional.ofNullable(found.getString(1)) : Optional.empty();
          }
        });
  }

  String nodesSketch() {
    return read(
        connection -> {
          try (Statement statement = connection.createStatement();
              ResultSet found =
                  statement.executeQuery("SELECT sketch FROM espalier_nodes WHERE id = 1")) {
            return found.next() ? found.getString(1) : "";
          }
        });
  }

  long epoch() {
    return read(
        connection -> {
          try (Statement statement = connection.createStatement();
              ResultSet found =
                  statement.executeQuery("SELECT epoch FROM espalier_store WHERE id = 1")) {
            return found.next() ? found.getLong(1) : 0;
          }
        });
  }

  @Override
  public void load(String job, Consumer<StatusRow> rows) {
    read(
        connection -> {
          RowMapper reader = rows(connection);
          try (PreparedStatement statement =
              streaming(
                  connection,
                  "SELECT "
                      + COLUMNS
                      + " FROM espalier_status s WHERE s.job ="
                      + " (SELECT id FROM espalier_job WHERE name = ?)")) {
            statement.setBytes(1, NameKey.of(job).key());
            try (ResultSet found = statement.executeQuery()) {
              ColumnReader row = columns(found);
              while (row.next()) {
                rows.accept(reader.status(job, row));
              }
            }
          }
          return 0;
        });
  }

  /** Prepares a statement that returns its rows one by one instead of all at once. */
  private static PreparedStatement streaming(Connection connection, String sql)
      throws SQLException {
    PreparedStatement statement =
        connection.prepareStatement(sql, ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY);
    statement.setFetchSize(Integer.MIN_VALUE);
    return statement;
  }

  @Override
  public List<StatusRow> load(String job, Collection<String> nodes) {
    return read(
        connection -> {
          List<StatusRow> rows = new ArrayList<>();
          RowMapper reader = rows(connection);
          Integer id = JobIds.find(connection, job);
          if (id == null) {
            return rows;
          }
          for (List<String> some : NodeKeyList.pieces(List.copyOf(Set.copyOf(nodes)))) {
            try (PreparedStatement statement =
                connection.prepareStatement(
                    "SELECT "
                        + COLUMNS
                        + " FROM espalier_status s WHERE s.job = ? AND s.node IN "
                        + NodeKeyList.marks(some.size()))) {
              NodeKeyList.set(statement, id, some);
              try (ResultSet found = statement.executeQuery()) {
                ColumnReader row = columns(found);
                while (row.next()) {
                  rows.add(reader.status(job, row));
                }
              }
            }
          }
          return rows;
        });
  }

  @Override
  public List<StatusRow> running() {
    return read(
        connection -> {
          List<StatusRow> rows = new ArrayList<>();
          RowMapper reader = rows(connection);
          try (PreparedStatement statement =
                  streaming(
                      connection,
                      "SELECT j.name, j.long_name, "
                          + COLUMNS
                          + " FROM espalier_status s"
                          + " JOIN espalier_job j ON j.id = s.job WHERE j.name IS NOT NULL"
                          + " AND (s.bits & "
                          + TaskStatus.Main.RUNNING.bit()
                          + ") != 0");
              ResultSet found = statement.executeQuery()) {
            ColumnReader row = columns(found);
            while (row.next()) {
              rows.add(reader.status(row.name(), row));
            }
          }
          return rows;
        });
  }

  @Override
  public TaskHistory history(String job, String node) {
    return read(
        connection -> {
          RowMapper reader = rows(connection);
          try (PreparedStatement find =
              connection.prepareStatement(
                  "SELECT s.ended, s.cpu, a.id, a.number, a.epoch, a.sequence, a.started, a.ended,"
                      + " a.worker, a.kind, a.bits, a.exit_code, a.signal_number, a.core_dumped,"
                      + " a.stop_reason, a.cpu, a.memory, a.bytes_read, a.bytes_written, a.message,"
                      + " a.fingerprint, a.got_on, a.backoff FROM espalier_job j"
                      + " JOIN espalier_status s ON s.job = j.id"
                      + " JOIN espalier_attempt a ON a.id >= s.ring * "
                      + StatusStore.KEPT_ATTEMPTS
                      + " AND a.id < (s.ring + 1) * "
                      + StatusStore.KEPT_ATTEMPTS
                      + " WHERE j.name = ? AND s.node = ?")) {
            find.setBytes(1, NameKey.of(job).key());
            find.setBytes(2, NameKey.of(node).key());
            try (ResultSet found = find.executeQuery()) {
              return reader.history(job, node, columns(found));
            }
          }
        });
  }

  @Override
  public List<Event> events(long sequence, int limit) {
    return read(
        connection -> {
          if (limit <= 0) {
            return new ArrayList<>();
          }
          // Each of the selected rows contains at least one requested event, except for the first.
          try (PreparedStatement statement =
              streaming(
                  connection,
                  "SELECT body FROM espalier_event WHERE first >= coalesce((SELECT max(first) FROM"
                      + " espalier_event WHERE first <= ?), 0) ORDER BY first LIMIT ?")) {
            statement.setLong(1, sequence);
            statement.setLong(2, limit + 1L);
            try (ResultSet found = statement.executeQuery()) {
              return eventsAfter(sequence, limit, columns(found));
            }
          }
        });
  }

  /** Loads all workers first, because no other query can run while rows are streamed. */
  private RowMapper rows(Connection connection) throws SQLException {
    Map<Integer, WorkerRef> workers = new HashMap<>();
    workers.put(0, WorkerRef.LOCAL);
    try (Statement statement = connection.createStatement();
        ResultSet found =
            statement.executeQuery("SELECT id, shard, long_shard, instance FROM espalier_worker")) {
      while (found.next()) {
        workers.put(found.getInt(1), new WorkerRef(NameKey.read(found, 2), found.getLong(4)));
      }
    }
    return new RowMapper(
        store,
        json,
        number -> {
          WorkerRef worker = workers.get(number);
          if (worker == null) {
            throw new StoreException(store + ": there is no worker " + number, false, null);
          }
          return worker;
        });
  }

  @Override
  protected <T> T read(Query<T> query) {
    try (Connection connection = beginRead()) {
      T result = query.on(connection);
      connection.rollback();
      return result;
    } catch (SQLException e) {
      throw MySqlErrorTranslator.translate(address, e);
    }
  }

  /**
   * Begins a transaction. All connections in the pool may have died with the server, so several are
   * tried.
   */
  private Connection beginRead() throws SQLException {
    for (int dead = 0; ; dead++) {
      Connection connection = pool.getConnection();
      try {
        connection.setAutoCommit(false);
        return connection;
      } catch (SQLException e) {
        connection.close();
        if (dead == pool.getMaximumPoolSize()) {
          throw e;
        }
      }
    }
  }

  @Override
  public void close() {
    pool.close();
  }
}
