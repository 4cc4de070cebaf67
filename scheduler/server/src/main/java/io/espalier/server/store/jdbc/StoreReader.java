package io.espalier.server.store.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.espalier.core.event.Event;
import io.espalier.core.notification.Notification;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.JsonDecoder;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.JobDurations;
import io.espalier.core.status.store.KeyedAnswer;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.Pause;
import io.espalier.core.status.store.Quarantine;
import io.espalier.core.status.store.QueueUsage;
import io.espalier.core.status.store.RolloutRow;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StoreException;
import io.espalier.core.status.store.TaskHistory;
import io.espalier.server.store.jdbc.Dialect.Property;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The queries of a status store in a database. Each runs in a transaction on a connection of a pool
 * and never waits for the connection that writes. Thread-safe.
 */
abstract class StoreReader implements StatusStore {
  private static final int READERS = 4;

  private static final String TASK =
      "node*, bits, since, backoff, position, attempts, epoch, sequence, started, data, worker,"
          + " waited";

  final Dialect dialect;
  private final JsonDecoder json;
  private final HikariDataSource pool;

  StoreReader(Dialect dialect, JsonDecoder json) throws SQLException {
    this.dialect = dialect;
    this.json = json;
    HikariConfig pooled = new HikariConfig();
    pooled.setDataSource(dialect.readers());
    pooled.setPoolName("statuses");
    pooled.setMaximumPoolSize(READERS);
    pooled.setMinimumIdle(0);
    pooled.setIdleTimeout(Duration.ofMinutes(1).toMillis());
    pooled.setConnectionTimeout(6_000);
    // The first use reports the problem, with the database's own code.
    pooled.setInitializationFailTimeout(-1);
    pooled.setTransactionIsolation("TRANSACTION_REPEATABLE_READ");
    pooled.setRegisterMbeans(false);
    pool = new HikariDataSource(pooled);
  }

  /** Closes the connections; no query can run afterwards. */
  final void closeReaders() {
    pool.close();
  }

  @Override
  public final String description() {
    return dialect.description();
  }

  /** Runs queries in one transaction. */
  private interface Query<T> {
    T on(Session session) throws SQLException;
  }

  /** Converts the current row of a result. */
  private interface Row<T> {
    T of(ColumnReader row) throws SQLException;
  }

  private <T> T read(Query<T> query) {
    try (Connection connection = beginRead()) {
      T result = query.on(new Session(dialect, connection));
      connection.rollback();
      return result;
    } catch (SQLException e) {
      throw dialect.translate(e);
    }
  }

  /**
   * Begins a transaction. All connections in the pool may have died with a server, so several are
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
        if (dead == READERS) {
          throw e;
        }
      }
    }
  }

  private <T> List<T> all(String sql, Row<T> each) {
    return read(
        session -> {
          List<T> all = new ArrayList<>();
          try (BoundStatement statement = session.prepare(sql);
              ColumnReader row = statement.query()) {
            while (row.next()) {
              all.add(each.of(row));
            }
          }
          return all;
        });
  }

  /** Loads all workers first, because no other query can run while rows are streamed. */
  private RowMapper mapper(Session session) throws SQLException {
    Map<Integer, WorkerRef> workers = new HashMap<>();
    workers.put(0, WorkerRef.LOCAL);
    try (BoundStatement statement = session.prepare("SELECT id, shard*, instance FROM #worker");
        ColumnReader row = statement.query()) {
      while (row.next()) {
        workers.put(row.number(), new WorkerRef(row.name(), row.large()));
      }
    }
    return new RowMapper(description(), json, workers);
  }

  /** Returns a property; empty: it has no value. */
  protected final Optional<String> property(Property property) {
    return read(session -> Optional.ofNullable(session.ask(dialect.select(property))));
  }

  @Override
  public final long epoch() {
    return property(Property.EPOCH).map(Long::valueOf).orElse(0L);
  }

  @Override
  public final String nodesSketch() {
    return property(Property.NODES_SKETCH).orElse("");
  }

  @Override
  public final Set<String> jobs() {
    return new HashSet<>(
        all(
            "SELECT name* FROM #job WHERE name IS NOT NULL"
                + " AND EXISTS (SELECT 1 FROM #status WHERE #status.job = #job.id)",
            ColumnReader::name));
  }

  @Override
  public final Map<String, Long> incarnations() {
    Map<String, Long> incarnations = new HashMap<>();
    var unused =
        all(
            "SELECT name*, incarnation FROM #job WHERE name IS NOT NULL AND incarnation != 0",
            row -> incarnations.put(row.name(), row.large()));
    return incarnations;
  }

  @Override
  public final Map<String, Long> absences() {
    Map<String, Long> absences = new HashMap<>();
    var unused =
        all(
            "SELECT name*, absent_since FROM #job WHERE name IS NOT NULL AND absent_since != 0",
            row -> absences.put(row.name(), row.large()));
    return absences;
  }

  @Override
  public final void load(String job, Consumer<StatusRow> rows) {
    load(job, RowMapper::status, rows);
  }

  @Override
  public final void loadKept(String job, Consumer<StatusRow> rows) {
    load(job, RowMapper::kept, rows);
  }

  /** Converts the current row of a result, which is that of a task. */
  private interface TaskRow {
    StatusRow of(RowMapper mapper, String job, ColumnReader row) throws SQLException;
  }

  private void load(String job, TaskRow each, Consumer<StatusRow> rows) {
    int unused =
        read(
            session -> {
              RowMapper mapper = mapper(session);
              try (BoundStatement statement =
                      session.stream(
                          "SELECT "
                              + TASK
                              + " FROM #status WHERE job = (SELECT id FROM #job WHERE name = ?)");
                  ColumnReader row = statement.key(job).query()) {
                while (row.next()) {
                  rows.accept(each.of(mapper, job, row));
                }
              }
              return 0;
            });
  }

  @Override
  public final List<StatusRow> load(String job, Collection<String> nodes) {
    return read(
        session -> {
          List<StatusRow> rows = new ArrayList<>();
          Integer id = JobIds.find(session, job);
          if (id != null) {
            RowMapper mapper = mapper(session);
            TaskTables.select(
                session,
                "SELECT " + TASK + " FROM #status",
                id,
                List.copyOf(Set.copyOf(nodes)),
                row -> rows.add(mapper.status(job, row)));
          }
          return rows;
        });
  }

  @Override
  public final List<StatusRow> load(String job, String after, int atMost) {
    return read(
        session -> {
          List<StatusRow> rows = new ArrayList<>();
          Integer id = JobIds.find(session, job);
          if (id != null) {
            RowMapper mapper = mapper(session);
            try (BoundStatement some =
                    session.prepare(
                        "SELECT "
                            + TASK
                            + " FROM #status WHERE job = ? AND node > ? ORDER BY node LIMIT ?");
                ColumnReader row = some.number(id).key(after).number(atMost).query()) {
              while (row.next()) {
                rows.add(mapper.status(job, row));
              }
            }
          }
          return rows;
        });
  }

  @Override
  public final List<StatusRow> running() {
    return read(
        session -> {
          List<StatusRow> rows = new ArrayList<>();
          RowMapper mapper = mapper(session);
          try (BoundStatement statement =
                  session.stream(
                      "SELECT name*, "
                          + TASK
                          + " FROM #status JOIN #job ON #job.id = #status.job"
                          + " WHERE name IS NOT NULL AND (bits & "
                          + TaskStatus.Main.RUNNING.bit()
                          + ") != 0");
              ColumnReader row = statement.query()) {
            while (row.next()) {
              rows.add(mapper.status(row.name(), row));
            }
          }
          return rows;
        });
  }

  @Override
  public final Map<String, TaskHistory> histories(String job, Collection<String> nodes) {
    return read(
        session -> {
          Integer id = JobIds.find(session, job);
          return id == null
              ? Map.of()
              : new HistoryReader(session, mapper(session)).read(job, id, nodes);
        });
  }

  @Override
  public final List<Pause> pauses() {
    return all("SELECT job*, operator, reason, since, {until} FROM #pause", RowMapper::pause);
  }

  @Override
  public final List<JobStateRecord> jobStates() {
    return all(
        "SELECT job*, body FROM #job_standing",
        row -> RowMapper.jobState(description(), json, row));
  }

  @Override
  public final List<WorkerCordon> cordons() {
    return all(
        "SELECT shard*, drain, operator, reason, since FROM #worker_hold", RowMapper::cordon);
  }

  @Override
  public final List<Brake> brakes() {
    return all(
        "SELECT target*, level*, name*, body FROM #brake",
        row -> RowMapper.brake(description(), json, row));
  }

  @Override
  public final List<KeyedAnswer> answers() {
    return all(
        "SELECT request, since, body FROM #answer",
        row -> RowMapper.answer(description(), json, row));
  }

  @Override
  public final List<Quarantine> quarantines() {
    return all(
        "SELECT level*, node*, job*, body FROM #quarantine",
        row -> RowMapper.quarantine(description(), json, row));
  }

  @Override
  public final List<RolloutRow> rollouts() {
    return all(
        "SELECT job*, part, body FROM #rollout",
        row -> RowMapper.rollout(description(), json, row));
  }

  @Override
  public final List<Notification> notifications() {
    return all(
        "SELECT notifier*, sequence, body FROM #notification ORDER BY sequence",
        row -> RowMapper.notification(description(), json, row));
  }

  @Override
  public final List<LimitOverride> limits() {
    return all(
        "SELECT level*, resource*, node*, slots, author, reason, since, ends FROM #limit_override",
        RowMapper::limit);
  }

  @Override
  public final List<QueueUsage> queueUsage() {
    return all("SELECT queue, value, at FROM #queue_usage", RowMapper::queueUsage);
  }

  @Override
  public final List<JobDurations> durations() {
    return all("SELECT job*, done, stopped FROM #duration", RowMapper::durations);
  }

  @Override
  public final long newestEvent() {
    return all("SELECT last FROM #event ORDER BY first DESC LIMIT 1", ColumnReader::large).stream()
        .findFirst()
        .orElse(0L);
  }

  @Override
  public final List<Event> events(long sequence, int limit) {
    return read(
        session -> {
          List<Event> events = new ArrayList<>();
          // Each of the selected rows contains at least one requested event, except for the first.
          try (BoundStatement statement =
                  session.stream(
                      "SELECT body FROM #event WHERE first >= coalesce((SELECT max(first)"
                          + " FROM #event WHERE first <= ?), 0) ORDER BY first LIMIT ?");
              ColumnReader row = statement.large(sequence).large(Math.max(0, limit) + 1L).query()) {
            while (events.size() < limit && row.next()) {
              for (Event event : eventsOf(row.text())) {
                if (event.sequence() > sequence && events.size() < limit) {
                  events.add(event);
                }
              }
            }
          }
          return events;
        });
  }

  private List<Event> eventsOf(String body) {
    try {
      return JsonCodec.events(json, body);
    } catch (IllegalArgumentException e) {
      throw new StoreException(description() + ": the event log is damaged", false, e);
    }
  }
}
