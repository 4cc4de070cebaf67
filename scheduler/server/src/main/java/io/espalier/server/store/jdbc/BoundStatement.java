package io.espalier.server.store.jdbc;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import org.jspecify.annotations.Nullable;

/**
 * A prepared statement whose parameters are set from left to right. Executing it, or adding it to
 * its batch, begins with the first parameter again.
 *
 * <p>Not thread-safe.
 */
final class BoundStatement implements AutoCloseable {
  private final Dialect dialect;
  private final PreparedStatement statement;
  private int at = 1;
  private boolean batched;

  BoundStatement(Dialect dialect, PreparedStatement statement) {
    this.dialect = dialect;
    this.statement = statement;
  }

  /** Sets a whole name. */
  BoundStatement name(String name) throws SQLException {
    dialect.setName(statement, at, name);
    at += dialect.nameColumns();
    return this;
  }

  /** Sets a name that is looked up. */
  BoundStatement key(String name) throws SQLException {
    dialect.setKey(statement, at++, name);
    return this;
  }

  BoundStatement number(int value) throws SQLException {
    statement.setInt(at++, value);
    return this;
  }

  BoundStatement numberOrNull(@Nullable Integer value) throws SQLException {
    if (value == null) {
      statement.setNull(at++, Types.INTEGER);
    } else {
      statement.setInt(at++, value);
    }
    return this;
  }

  /** Sets a count or an instant. */
  BoundStatement large(long value) throws SQLException {
    statement.setLong(at++, value);
    return this;
  }

  BoundStatement flag(boolean value) throws SQLException {
    statement.setBoolean(at++, value);
    return this;
  }

  BoundStatement text(@Nullable String value) throws SQLException {
    if (value == null) {
      statement.setNull(at++, Types.VARCHAR);
    } else {
      statement.setString(at++, value);
    }
    return this;
  }

  /** Sets NULL for an empty text: most attempts have none, and NULL takes the least space. */
  BoundStatement textOrEmpty(String value) throws SQLException {
    return text(value.isEmpty() ? null : value);
  }

  /** Sets a value of any of these types. */
  BoundStatement value(Object value) throws SQLException {
    statement.setObject(at++, value);
    return this;
  }

  /** Executes the statement and returns the number of changed rows. */
  int run() throws SQLException {
    at = 1;
    return statement.executeUpdate();
  }

  /** Executes an update or a query and returns whether it changed, or found, one row. */
  boolean hit() throws SQLException {
    at = 1;
    if (!statement.execute()) {
      return statement.getUpdateCount() == 1;
    }
    try (ColumnReader found = new ColumnReader(statement.getResultSet(), dialect)) {
      return found.next();
    }
  }

  ColumnReader query() throws SQLException {
    at = 1;
    return new ColumnReader(statement.executeQuery(), dialect);
  }

  /** Adds one more execution, which {@link #flush} does. */
  void add() throws SQLException {
    at = 1;
    statement.addBatch();
    batched = true;
  }

  void flush() throws SQLException {
    if (batched) {
      batched = false;
      statement.executeBatch();
    }
  }

  @Override
  public void close() throws SQLException {
    statement.close();
  }
}
