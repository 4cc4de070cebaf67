package io.espalier.server.store;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * Defines how a database stores the names of jobs, nodes and shards, which may be of any length: in
 * one column, or as a key that fits into an index plus the whole name.
 */
public interface NameColumns {
  /** Returns the number of columns of a whole name. */
  int width();

  /** Reads the name that begins at a column. */
  String read(ResultSet found, int column) throws SQLException;

  /** Sets the {@link #width()} parameters of a whole name, from {@code at}. */
  void set(PreparedStatement statement, int at, String name) throws SQLException;

  /** Sets the single parameter by which a name is looked up. */
  void setKey(PreparedStatement statement, int at, String name) throws SQLException;
}
