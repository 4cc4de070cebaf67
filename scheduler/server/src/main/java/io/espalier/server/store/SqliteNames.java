package io.espalier.server.store;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Stores a name as an ordinary SQLite text. Stateless. */
final class SqliteNames implements NameColumns {
  @Override
  public int width() {
    return 1;
  }

  @Override
  public String read(ResultSet found, int column) throws SQLException {
    return found.getString(column);
  }

  @Override
  public void set(PreparedStatement statement, int at, String name) throws SQLException {
    statement.setString(at, name);
  }

  @Override
  public void setKey(PreparedStatement statement, int at, String name) throws SQLException {
    statement.setString(at, name);
  }
}
