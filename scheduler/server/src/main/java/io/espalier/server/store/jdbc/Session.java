package io.espalier.server.store.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Prepares statements on one connection. They contain the marks of a {@link Dialect}.
 *
 * <p>Not thread-safe.
 */
record Session(Dialect dialect, Connection connection) {
  BoundStatement prepare(String sql) throws SQLException {
    return new BoundStatement(dialect, connection.prepareStatement(dialect.sql(sql)));
  }

  /**
   * Prepares a statement with a list of parameters, one for each column.
   *
   * @param sql for example {@code REPLACE INTO #pause}
   * @param columns separated by commas
   * @param rest follows the list
   */
  BoundStatement insert(String sql, String columns, String rest) throws SQLException {
    String list = dialect.sql(columns);
    return prepare(sql + " (" + list + ") VALUES " + parameters(list.split(",", -1).length) + rest);
  }

  /** Returns a parenthesized list of {@code count} parameters. */
  static String parameters(int count) {
    return "(" + "?, ".repeat(count - 1) + "?)";
  }

  /** Prepares a query whose rows arrive one by one; no other query can run meanwhile. */
  BoundStatement stream(String sql) throws SQLException {
    var statement =
        connection.prepareStatement(
            dialect.sql(sql), ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY);
    statement.setFetchSize(dialect.streamingFetchSize());
    return new BoundStatement(dialect, statement);
  }

  /** Executes a statement and returns the number of changed rows. */
  int execute(String sql, Object... values) throws SQLException {
    try (BoundStatement statement = prepare(sql)) {
      for (Object value : values) {
        statement.value(value);
      }
      return statement.run();
    }
  }

  /** Returns the first column of the first row; null: there is no row, or it is NULL. */
  @Nullable String ask(String sql) throws SQLException {
    try (BoundStatement statement = prepare(sql);
        ColumnReader found = statement.query()) {
      return found.next() ? found.textOrNull() : null;
    }
  }
}
