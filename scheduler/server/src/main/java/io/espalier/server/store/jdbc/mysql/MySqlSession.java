package io.espalier.server.store.jdbc.mysql;

import io.espalier.core.status.store.StoreException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One connection to a MySQL server, opened when it is needed, and opened again after a failure.
 * Thread-safe: one piece of work at a time uses it.
 */
final class MySqlSession implements AutoCloseable {
  /** What is done on the connection. */
  interface Work<T> {
    T on(Connection open) throws SQLException;
  }

  private final MySqlAddress address;
  private final MySqlAccess access;
  private @Nullable Connection connection;

  private MySqlSession(MySqlAddress address, MySqlAccess access) {
    this.address = address;
    this.access = access;
  }

  /**
   * Creates an instance without contacting the server.
   *
   * @param variables of the session
   * @param socketMillis the maximum time that a read from the server may take
   * @throws StoreException when the trusted certificates cannot be read
   */
  static MySqlSession of(MySqlAddress address, Map<String, Integer> variables, int socketMillis) {
    try {
      return new MySqlSession(address, MySqlAccess.of(address, variables, socketMillis));
    } catch (SQLException e) {
      throw MySqlErrorTranslator.translate(address, e);
    }
  }

  /**
   * Does some work.
   *
   * @throws StoreException when it fails; the connection is then closed
   */
  synchronized <T> T ask(Work<T> work) {
    boolean complete = false;
    try {
      Connection open = connection;
      if (open == null) {
        open = access.getConnection();
        connection = open;
      }
      T answer = work.on(open);
      complete = true;
      return answer;
    } catch (SQLException e) {
      throw MySqlErrorTranslator.translate(address, e);
    } finally {
      if (!complete) {
        close();
      }
    }
  }

  /**
   * Executes one statement.
   *
   * @return the number of rows that changed
   */
  int update(String sql, Object... values) {
    return ask(open -> execute(open, sql, values));
  }

  /**
   * Executes one statement as a part of some work.
   *
   * @return the number of rows that changed
   */
  static int execute(Connection open, String sql, Object... values) throws SQLException {
    try (PreparedStatement statement = open.prepareStatement(sql)) {
      for (int i = 0; i < values.length; i++) {
        statement.setObject(i + 1, values[i]);
      }
      return statement.executeUpdate();
    }
  }

  /** Closes the connection; the next piece of work opens another. */
  @Override
  public synchronized void close() {
    Connection old = connection;
    connection = null;
    if (old != null) {
      try {
        old.close();
      } catch (SQLException alreadyGone) {
        // The connection was to be closed anyway.
        return;
      }
    }
  }
}
