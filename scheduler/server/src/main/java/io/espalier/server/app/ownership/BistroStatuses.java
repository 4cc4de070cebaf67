package io.espalier.server.app.ownership;

import io.espalier.core.status.TaskStatus;
import io.espalier.core.topology.NodeNames;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.sqlite.SQLiteConfig;

/**
 * Reads the statuses that a scheduler of Bistro has stored in its SQLite file: which tasks are done
 * and which have failed. It stores nothing else (docs/migration.md#taking-the-statuses-along).
 */
final class BistroStatuses {
  private static final Set<String> COLUMNS =
      Set.of("job_id", "node_id", "timestamp", "data", "result");
  private static final int DONE = 1;
  private static final int FAILED = 2;
  private static final int SHOWN = 5;

  /** The longest name of a job that a configuration can have. */
  private static final int JOB_NAME_LENGTH = 239;

  private BistroStatuses() {}

  /** Why a file cannot be used, in one line. */
  static final class Unusable extends Exception {
    private static final long serialVersionUID = 1;

    Unusable(String why) {
      super(why);
    }
  }

  /**
   * Returns the statuses by job and node.
   *
   * @throws Unusable when the file is missing, is no such file, or has rows that Bistro would not
   *     write; all of its rows are read before anything is taken
   */
  static Map<String, Map<String, TaskStatus>> read(Path file) throws Unusable {
    if (!Files.isRegularFile(file)) {
      throw new Unusable("is not a file");
    }
    SQLiteConfig config = new SQLiteConfig();
    config.setReadOnly(true);
    try (Connection connection = config.createConnection("jdbc:sqlite:" + file.toAbsolutePath());
        Statement statement = connection.createStatement()) {
      return rows(statement, table(statement));
    } catch (SQLException e) {
      throw new Unusable("cannot be read: " + e.getMessage());
    }
  }

  /** Returns the one table that has the columns of statuses; {@code --status_table} named it. */
  private static String table(Statement statement) throws SQLException, Unusable {
    List<String> tables = new ArrayList<>();
    try (ResultSet found =
        statement.executeQuery("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")) {
      while (found.next()) {
        tables.add(found.getString(1));
      }
    }
    List<String> fitting = new ArrayList<>();
    for (String table : tables) {
      Set<String> columns = new TreeSet<>();
      try (ResultSet found = statement.executeQuery("PRAGMA table_info(" + quoted(table) + ")")) {
        while (found.next()) {
          columns.add(found.getString("name"));
        }
      }
      if (columns.equals(COLUMNS)) {
        fitting.add(table);
      }
    }
    if (fitting.size() != 1) {
      throw new Unusable(
          fitting.isEmpty()
              ? "has no table with the columns of Bistro's statuses, "
                  + String.join(", ", new TreeSet<>(COLUMNS))
              : "has several tables of statuses, " + fitting + ": leave only one in a copy");
    }
    return fitting.get(0);
  }

  private static String quoted(String table) {
    return '"' + table.replace("\"", "\"\"") + '"';
  }

  private static Map<String, Map<String, TaskStatus>> rows(Statement statement, String table)
      throws SQLException, Unusable {
    Map<String, Map<String, TaskStatus>> statuses = new TreeMap<>();
    List<String> wrong = new ArrayList<>();
    try (ResultSet row =
        statement.executeQuery("SELECT job_id, node_id, timestamp, result FROM " + quoted(table))) {
      while (row.next()) {
        String job = row.getString(1);
        String node = row.getString(2);
        int result = row.getInt(4);
        boolean isNamed =
            job != null
                && job.length() <= JOB_NAME_LENGTH
                && node != null
                && NodeNames.objection(node) == null;
        if (!isNamed || (result != DONE && result != FAILED)) {
          wrong.add("job " + job + ", node " + node + ", result " + row.getString(4));
          continue;
        }
        statuses
            .computeIfAbsent(job, each -> new TreeMap<>())
            .put(
                node,
                TaskStatus.of(
                    result == DONE ? TaskStatus.Main.DONE : TaskStatus.Main.FAILED,
                    Math.max(0, row.getLong(3)) * 1000,
                    1));
      }
    }
    if (!wrong.isEmpty()) {
      throw new Unusable(
          "has %d rows that Bistro does not write (result 1: done, 2: failed): %s%s"
              .formatted(
                  wrong.size(),
                  String.join("; ", wrong.subList(0, Math.min(SHOWN, wrong.size()))),
                  wrong.size() > SHOWN ? "; ..." : ""));
    }
    return statuses;
  }
}
