package io.espalier.server.store.jdbc;

import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StoreException;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.server.store.jdbc.Dialect.Property;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes through one connection, with the frequent statements prepared once. Each call is part of
 * the open transaction. Not thread-safe.
 */
public final class JdbcWriter {
  private final Dialect dialect;
  private final Connection connection;
  private final Session session;
  private final BoundStatement take;
  private final JobIds jobs;
  private final TaskTables tasks;
  private final OperatorTables operators;
  private final EventLogWriter events;

  private JdbcWriter(Dialect dialect, Connection connection) throws SQLException {
    this.dialect = dialect;
    this.connection = connection;
    session = new Session(dialect, connection);
    take = session.prepare(dialect.take());
    jobs = new JobIds(session);
    tasks = new TaskTables(session, jobs);
    operators = new OperatorTables(session);
    events = new EventLogWriter(session);
  }

  /** Opens a connection. */
  public static JdbcWriter open(Dialect dialect) throws SQLException {
    Connection connection = dialect.openWriter();
    try {
      return new JdbcWriter(dialect, connection);
    } catch (SQLException | RuntimeException e) {
      connection.close();
      throw e;
    }
  }

  /** Begins a transaction. */
  public void begin() throws SQLException {
    if (connection.getAutoCommit()) {
      connection.setAutoCommit(false);
    }
  }

  public void commit() throws SQLException {
    dialect.commit(connection);
  }

  /** Drops the connection, which may be in any state; what was not committed is rolled back. */
  void close() {
    try {
      connection.close();
    } catch (SQLException alreadyGone) {
      // The connection was to be closed anyway.
      return;
    }
  }

  /** Returns a property and locks it until the transaction ends; null: it has no value. */
  public @Nullable String get(Property property) throws SQLException {
    return session.ask(dialect.select(property) + dialect.forUpdate());
  }

  /** Returns a number in the same way; 0: it has no value. */
  public long number(Property property) throws SQLException {
    String value = get(property);
    return value == null ? 0 : Long.parseLong(value);
  }

  /**
   * Returns the epoch in force. Transactions that write begin with this or {@link #take}, so that
   * only one runs at a time.
   */
  public long epoch() throws SQLException {
    String epoch = get(Property.EPOCH);
    if (epoch == null) {
      throw new StoreException(
          dialect.description() + " is not as this program left it: it has no epoch; restore it",
          false,
          null);
    }
    return Long.parseLong(epoch);
  }

  /** Sets a property. */
  public void set(Property property, Object value) throws SQLException {
    session.execute(dialect.update(property), value);
  }

  /** Returns the first column of the first row of a query; null: there is none. */
  public @Nullable String ask(String sql) throws SQLException {
    return session.ask(sql);
  }

  /** Executes a statement with the marks of the {@link Dialect}. */
  public void execute(String sql, Object... values) throws SQLException {
    session.execute(sql, values);
  }

  /** Locks the store for a commit and marks it; false when another epoch is in force. */
  public boolean take(long epoch, long mark) throws SQLException {
    return take.large(mark).large(epoch).hit();
  }

  public void apply(StoreTransaction batch) throws SQLException {
    for (String job : batch.forgottenJobs()) {
      // Its rows lose their name at once and are deleted in portions.
      jobs.forget(job);
      operators.forgetStanding(job);
    }
    tasks.delete(batch.deletedRows());
    tasks.put(batch.rows(), batch.attempts());
    operators.apply(batch);
    for (Map.Entry<String, Long> known : batch.incarnations().entrySet()) {
      jobs.setIncarnation(known.getKey(), known.getValue());
    }
    events.append(batch.events());
  }

  void keepAbsences(Map<String, Long> sinceMillis) throws SQLException {
    session.execute("UPDATE #job SET absent_since = 0 WHERE absent_since != 0");
    for (Map.Entry<String, Long> absent : sinceMillis.entrySet()) {
      Integer job = jobs.known(absent.getKey());
      if (job != null) {
        session.execute("UPDATE #job SET absent_since = ? WHERE id = ?", absent.getValue(), job);
      }
    }
  }

  /** Deletes old events or rows of a forgotten job and returns the number of deleted rows. */
  int cleanUp(StatusStore.Retention retention, int atMost) throws SQLException {
    int old = events.deleteOld(retention);
    String forgotten = old > 0 ? null : session.ask(dialect.forgottenJob());
    if (forgotten == null) {
      return old;
    }
    int job = Integer.parseInt(forgotten);
    int rows = tasks.deleteSome(job, atMost);
    return rows < atMost ? rows + session.execute(dialect.deleteForgottenJob(), job) : rows;
  }
}
