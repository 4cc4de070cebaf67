package io.espalier.server.store.mysql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Maps the jobs of a store to the numbers that rows use, on the connection that writes. A forgotten
 * job loses its name at once and keeps its number until its rows are deleted. Not thread-safe.
 */
final class JobIds {
  private final Connection connection;
  private final Map<String, Integer> numbers = new HashMap<>();

  JobIds(Connection connection) {
    this.connection = connection;
  }

  /** Returns the number of a job and assigns one if necessary. */
  int number(String job) throws SQLException {
    Integer known = known(job);
    if (known != null) {
      return known;
    }
    try (PreparedStatement add =
        connection.prepareStatement("INSERT INTO espalier_job (name, long_name) VALUES (?, ?)")) {
      NameKey.of(job).set(add, 1);
      add.executeUpdate();
    }
    Integer added = known(job);
    if (added == null) {
      throw new SQLException("a job that was added is not there");
    }
    return added;
  }

  /** Returns the number of a job that has one. */
  @Nullable Integer known(String job) throws SQLException {
    Integer cached = numbers.get(job);
    if (cached == null) {
      cached = find(connection, job);
      if (cached != null) {
        numbers.put(job, cached);
      }
    }
    return cached;
  }

  /** Returns the number of a job, as any connection sees it. */
  static @Nullable Integer find(Connection connection, String job) throws SQLException {
    try (PreparedStatement find =
        connection.prepareStatement("SELECT id FROM espalier_job WHERE name = ?")) {
      find.setBytes(1, NameKey.of(job).key());
      try (ResultSet found = find.executeQuery()) {
        return found.next() ? found.getInt(1) : null;
      }
    }
  }

  void setIncarnation(String job, long incarnation) throws SQLException {
    int number = number(job);
    try (PreparedStatement update =
        connection.prepareStatement("UPDATE espalier_job SET incarnation = ? WHERE id = ?")) {
      update.setLong(1, incarnation);
      update.setInt(2, number);
      update.executeUpdate();
    }
  }

  void forget(String job) throws SQLException {
    try (PreparedStatement update =
        connection.prepareStatement(
            "UPDATE espalier_job SET name = NULL, long_name = NULL WHERE name = ?")) {
      update.setBytes(1, NameKey.of(job).key());
      update.executeUpdate();
    }
    numbers.remove(job);
  }

  /** Returns the oldest job without a name, whose rows are to be deleted. */
  OptionalInt forgotten() throws SQLException {
    try (PreparedStatement any =
            connection.prepareStatement(
                "SELECT id FROM espalier_job WHERE name IS NULL ORDER BY id LIMIT 1");
        ResultSet found = any.executeQuery()) {
      return found.next() ? OptionalInt.of(found.getInt(1)) : OptionalInt.empty();
    }
  }
}
