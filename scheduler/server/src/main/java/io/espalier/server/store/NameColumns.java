package io.espalier.server.store;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * How a database writes the names of jobs, nodes and shards, which may be of any length: as one
 * column, or as a key that an index can hold and what the key stands for.
 */
public interface NameColumns {
  /** How many columns a whole name takes. */
  int width();

  /** The name that begins at a column. */
  String read(ResultSet found, int column) throws SQLException;

  /** Sets the {@link #width()} parameters of a whole name, from {@code at}. */
  void set(PreparedStatement statement, int at, String name) throws SQLException;

  /** Sets the one parameter by which a name is found again. */
  void setKey(PreparedStatement statement, int at, String name) throws SQLException;
}
