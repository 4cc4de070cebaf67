package io.espalier.server.store;

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
public final class ColumnReader {
  private final ResultSet found;
  private final NameColumns names;
  private int at;

  /** Creates a reader positioned before the first row. */
  public ColumnReader(ResultSet found, NameColumns names) {
    this.found = found;
    this.names = names;
  }

  /** Moves to the next row; false after the last one. */
  public boolean next() throws SQLException {
    at = 1;
    return found.next();
  }

  /** Reads a name from the configuration: of a job, a node, a shard. */
  public String name() throws SQLException {
    String name = names.read(found, at);
    at += names.width();
    return name;
  }

  /** Reads a text that is never null. */
  public String text() throws SQLException {
    return found.getString(at++);
  }

  /** Reads a text that may be null. */
  public @Nullable String textOrNull() throws SQLException {
    return found.getString(at++);
  }

  /** Reads a text that is stored as null when it is empty. */
  public String textOrEmpty() throws SQLException {
    String text = found.getString(at++);
    return text == null ? "" : text;
  }

  public int number() throws SQLException {
    return found.getInt(at++);
  }

  /** Reads a number that may be null. */
  public @Nullable Integer numberOrNull() throws SQLException {
    int value = found.getInt(at++);
    return found.wasNull() ? null : value;
  }

  /** Reads a count or an instant. */
  public long large() throws SQLException {
    return found.getLong(at++);
  }

  public double fraction() throws SQLException {
    return found.getDouble(at++);
  }

  public boolean flag() throws SQLException {
    return found.getBoolean(at++);
  }
}
