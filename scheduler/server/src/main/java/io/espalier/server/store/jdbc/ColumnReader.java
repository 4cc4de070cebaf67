package io.espalier.server.store.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Reads the rows of a database result column by column, from left to right. Databases differ only
 * in how they store a name, so the same code reads queries of all databases that select the same
 * columns in the same order.
 *
 * <p>Not thread-safe; valid until the result is closed.
 */
final class ColumnReader implements AutoCloseable {
  private final ResultSet found;
  private final Dialect dialect;
  private int at;

  /** Creates a reader positioned before the first row. */
  ColumnReader(ResultSet found, Dialect dialect) {
    this.found = found;
    this.dialect = dialect;
  }

  /** Moves to the next row; false after the last one. */
  boolean next() throws SQLException {
    at = 1;
    return found.next();
  }

  /** Reads a name from the configuration: of a job, a node, a shard. */
  String name() throws SQLException {
    String name = dialect.readName(found, at);
    at += dialect.nameColumns();
    return name;
  }

  /** Reads a text that is never null. */
  String text() throws SQLException {
    return found.getString(at++);
  }

  /** Reads a text that may be null. */
  @Nullable String textOrNull() throws SQLException {
    return found.getString(at++);
  }

  /** Reads a text that is stored as null when it is empty. */
  String textOrEmpty() throws SQLException {
    String text = found.getString(at++);
    return text == null ? "" : text;
  }

  /** Reads a count or an instant that may be null. */
  @Nullable Long largeOrNull() throws SQLException {
    long value = found.getLong(at++);
    return found.wasNull() ? null : value;
  }

  int number() throws SQLException {
    return found.getInt(at++);
  }

  /** Reads a number that may be null. */
  @Nullable Integer numberOrNull() throws SQLException {
    int value = found.getInt(at++);
    return found.wasNull() ? null : value;
  }

  /** Reads a count or an instant. */
  long large() throws SQLException {
    return found.getLong(at++);
  }

  double fraction() throws SQLException {
    return found.getDouble(at++);
  }

  boolean flag() throws SQLException {
    return found.getBoolean(at++);
  }

  @Override
  public void close() throws SQLException {
    found.close();
  }
}
