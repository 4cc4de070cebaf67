package io.espalier.server.store;

import com.zaxxer.hikari.HikariDataSource;
import io.espalier.core.event.Event;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.JsonDecoder;
import io.espalier.core.status.StatusRow;
import io.espalier.core.status.StoreException;
import io.espalier.core.status.TaskHistory;
import io.espalier.core.status.TaskStatus;
import java.nio.file.Path;
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
import java.util.Set;
import java.util.function.Consumer;

/** Runs the queries of a status file; each query uses a connection of the pool. Thread-safe. */
final class SqliteReader extends StoreReader {
  private static final String COLUMNS =
      "node, bits, since, backoff, position, attempts, epoch, sequence, started, data, worker";

  private static final Tables TABLES =
      new Tables(
          "SELECT name FROM job WHERE EXISTS (SELECT 1 FROM status WHERE status.job = job.id)",
          "SELECT name, incarnation FROM job WHERE incarnation != 0",
          "SELECT job, operator, reason, since, until FROM pause",
          "SELECT job, body FROM job_standing",
          "SELECT shard, drain, operator, reason, since FROM worker_hold",
          "SELECT level, resource, node, slots, author, reason, since, ends FROM limit_override",
          "SELECT queue, value, at FROM queue_usage",
          "SELECT last FROM event ORDER BY first DESC LIMIT 1");

  private final Path file;
  private final HikariDataSource pool;

  SqliteReader(String store, Path file, JsonDecoder json, HikariDataSource pool) {
    super(store, json, new SqliteNames(), TABLES);
    this.file = file;
    this.pool = pool;
  }

  @Override
  public void load(String job, Consumer<StatusRow> rows) {
    read(
        connection -> {
          RowMapper reader = rows(connection);
          try (PreparedStatement statement =
              connection.prepareStatement(
                  "SELECT "
                      + COLUMNS
                      + " FROM status WHERE job = (SELECT id FROM job WHERE name = ?)")) {
            statement.setString(1, job);
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

  @Override
  public List<StatusRow> load(String job, Collection<String> nodes) {
    return read(
        connection -> {
          List<StatusRow> rows = new ArrayList<>();
          RowMapper reader = rows(connection);
          try (PreparedStatement statement =
              connection.prepareStatement(
                  "SELECT "
                      + COLUMNS
                      + " FROM status WHERE job = (SELECT id FROM job WHERE name = ?)"
                      + " AND node = ?")) {
            for (String node : Set.copyOf(nodes)) {
              statement.setString(1, job);
              statement.setString(2, node);
              try (ResultSet found = statement.executeQuery()) {
                ColumnReader row = columns(found);
                if (row.next()) {
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
          try (Statement statement = connection.createStatement();
              ResultSet found =
                  statement.executeQuery(
                      "SELECT (SELECT name FROM job WHERE id = status.job), "
                          + COLUMNS
                          + " FROM status WHERE (bits & "
                          + TaskStatus.Main.RUNNING.bit()
                          + ") != 0 AND job IN (SELECT id FROM job)")) {
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
              return rows(connection).history(job, node, columns(found));
            }
          }
        });
  }

  @Override
  public List<Event> events(long sequence, int limit) {
    return read(
        connection -> {
          try (PreparedStatement statement =
              connection.prepareStatement(
                  "SELECT body FROM event WHERE first >="
                      + " coalesce((SELECT max(first) FROM event WHERE first <= ?), 0)"
                      + " ORDER BY first")) {
            statement.setLong(1, sequence);
            try (ResultSet found = statement.executeQuery()) {
              return eventsAfter(sequence, limit, columns(found));
            }
          }
        });
  }

  private RowMapper rows(Connection connection) {
    return new RowMapper(store, json, new WorkersAsTheyCome(connection));
  }

  /** Loads each worker once, when a row first names it: most files know no workers. */
  private final class WorkersAsTheyCome implements RowMapper.Workers {
    private final Connection connection;
    private final Map<Integer, WorkerRef> known = new HashMap<>();

    WorkersAsTheyCome(Connection connection) {
      this.connection = connection;
      known.put(0, WorkerRef.LOCAL);
    }

    @Override
    public WorkerRef of(int number) throws SQLException {
      WorkerRef worker = known.get(number);
      if (worker == null) {
        worker = find(number);
        known.put(number, worker);
      }
      return worker;
    }

    private WorkerRef find(int number) throws SQLException {
      try (PreparedStatement find =
          connection.prepareStatement("SELECT shard, instance FROM worker WHERE id = ?")) {
        find.setInt(1, number);
        try (ResultSet found = find.executeQuery()) {
          if (!found.next()) {
            throw new StoreException(store + ": there is no worker " + number, false, null);
          }
          return new WorkerRef(found.getString(1), found.getLong(2));
        }
      }
    }
  }

  @Override
  protected <T> T read(Query<T> query) {
    try (Connection connection = pool.getConnection()) {
      return query.on(connection);
    } catch (SQLException e) {
      throw SqliteErrorTranslator.translate(file, e);
    }
  }

  @Override
  public void close() {
    pool.close();
  }
}
