package io.espalier.server.store.mysql;

import io.espalier.server.store.NameColumns;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Stores a name in two columns, see {@link NameKey}. Stateless. */
final class MySqlNames implements NameColumns {
  @Override
  public int width() {
    return 2;
  }

  @Override
  public String read(ResultSet found, int column) throws SQLException {
    return NameKey.read(found, column);
  }

  @Override
  public void set(PreparedStatement statement, int at, String name) throws SQLException {
    NameKey.of(name).set(statement, at);
  }

  @Override
  public void setKey(PreparedStatement statement, int at, String name) throws SQLException {
    statement.setBytes(at, NameKey.of(name).key());
  }
}
