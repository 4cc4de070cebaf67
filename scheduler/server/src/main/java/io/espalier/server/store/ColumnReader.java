package io.espalier.server.store;

import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * The rows that a database has found, each read column by column from left to right. Databases
 * differ in how a name is written, and in nothing else that is read here: a query that names its
 * columns in the same order is read by the same code everywhere.
 *
 * <p>Not thread-safe; ends with the result that it reads.
 */
public final class ColumnReader {
  private final ResultSet found;
  private final NameColumns names;
  private int at;

  /** Stands before the first row. */
  public ColumnReader(ResultSet found, NameColumns names) {
    this.found = found;
    this.names = names;
  }

  /** Goes to the beginning of the next row; false after the last one. */
  public boolean next() throws SQLException {
    at = 1;
    return found.next();
  }

  /** A name of the configuration: of a job, a node, a shard. */
  public String name() throws SQLException {
    String name = names.read(found, at);
    at += names.width();
    return name;
  }

  /** A text that is there in each row. */
  public String text() throws SQLException {
    return found.getString(at++);
  }

  /** A text that may be missing. */
  public @Nullable String textOrNull() throws SQLException {
    return found.getString(at++);
  }

  /** A text that is not stored where it is empty. */
  public String textOrEmpty() throws SQLException {
    String text = found.getString(at++);
    return text == null ? "" : text;
  }

  public int number() throws SQLException {
    return found.getInt(at++);
  }

  /** A number that may be missing. */
  public @Nullable Integer numberOrNull() throws SQLException {
    int value = found.getInt(at++);
    return found.wasNull() ? null : value;
  }

  /** A count or an instant. */
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
