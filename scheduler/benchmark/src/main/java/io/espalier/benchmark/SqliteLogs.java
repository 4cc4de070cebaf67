package io.espalier.benchmark;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Task logs in Bistro's SQLite table (docs/design/bistro.md#output), as they might be: transactions
 * of 2,000 lines, write-ahead log, {@code synchronous=NORMAL}. What the log store of ours is
 * measured against.
 */
final class SqliteLogs implements AutoCloseable {
  private static final int BATCH = 2000;
  private static final int PRUNE_CHUNK = 5000;

  private final Connection connection;
  private final PreparedStatement insert;
  private int inBatch;
  private long lastId;

  SqliteLogs(Path file) throws SQLException {
    connection = DriverManager.getConnection("jdbc:sqlite:" + file);
    try (Statement statement = connection.createStatement()) {
      statement.execute("PRAGMA journal_mode=WAL");
      statement.execute("PRAGMA synchronous=NORMAL");
      statement.executeUpdate(
          "CREATE TABLE stdout (job_id TEXT NOT NULL, node_id TEXT NOT NULL,"
              + " time_and_count INTEGER PRIMARY KEY, line TEXT NOT NULL,"
              + " time_millis INTEGER NOT NULL)");
      statement.executeUpdate("CREATE INDEX by_task ON stdout (job_id, node_id)");
    }
    connection.setAutoCommit(false);
    insert = connection.prepareStatement("INSERT INTO stdout VALUES (?, ?, ?, ?, ?)");
  }

  void append(String job, String node, long timeMillis, String text) throws SQLException {
    lastId = Math.max(lastId + 1, (timeMillis / 1000) << 32);
    insert.setString(1, job);
    insert.setString(2, node);
    insert.setLong(3, lastId);
    insert.setString(4, text);
    insert.setLong(5, timeMillis);
    insert.addBatch();
    if (++inBatch == BATCH) {
      commit();
    }
  }

  private void commit() throws SQLException {
    if (inBatch > 0) {
      insert.executeBatch();
      connection.commit();
      inBatch = 0;
    }
  }

  /** The last lines of a task. */
  List<String> last(String job, String node, int limit) throws SQLException {
    commit();
    List<String> lines = new ArrayList<>();
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT line FROM stdout WHERE job_id = ? AND node_id = ?"
                + " ORDER BY time_and_count DESC LIMIT ?")) {
      select.setString(1, job);
      select.setString(2, node);
      select.setInt(3, limit);
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          lines.add(rows.getString(1));
        }
      }
    }
    return lines;
  }

  /** How many lines of a job have it. */
  long search(String job, Pattern regex) throws SQLException {
    commit();
    long found = 0;
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT line FROM stdout WHERE +job_id = ? ORDER BY time_and_count")) {
      select.setString(1, job);
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          if (regex.matcher(rows.getString(1)).find()) {
            found++;
          }
        }
      }
    }
    return found;
  }

  /** Deletes what is older, in transactions of 5,000 lines; the longest of them in nanoseconds. */
  long prune(long beforeMillis) throws SQLException {
    commit();
    long longest = 0;
    try (PreparedStatement delete =
        connection.prepareStatement(
            "DELETE FROM stdout WHERE time_and_count IN (SELECT time_and_count FROM stdout"
                + " WHERE time_and_count < ? ORDER BY time_and_count LIMIT "
                + PRUNE_CHUNK
                + ")")) {
      int deleted;
      do {
        long begin = System.nanoTime();
        delete.setLong(1, (beforeMillis / 1000) << 32);
        deleted = delete.executeUpdate();
        connection.commit();
        longest = Math.max(longest, System.nanoTime() - begin);
      } while (deleted == PRUNE_CHUNK);
    }
    return longest;
  }

  @Override
  public void close() throws SQLException {
    commit();
    insert.close();
    connection.close();
  }
}
