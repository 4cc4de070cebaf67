package io.espalier.server.app.ownership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.status.TaskStatus;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class BistroStatusesTest {
  /** As Bistro creates it. */
  private static final String TABLE =
      "CREATE TABLE %s (job_id TEXT, node_id TEXT, timestamp INTEGER, data TEXT, result INTEGER,"
          + " PRIMARY KEY (job_id, node_id))";

  @SuppressWarnings("NullAway.Init")
  @TempDir
  private Path directory;

  private Path file(String... statements) throws SQLException {
    Path file = directory.resolve("statuses.sql3");
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = connection.createStatement()) {
      boolean unused = statement.execute("PRAGMA journal_mode = WAL");
      for (String each : statements) {
        statement.executeUpdate(each);
      }
    }
    return file;
  }

  @Test
  void whatIsDoneAndFailedIsRead() throws Exception {
    Path file =
        file(
            TABLE.formatted("prod_tasks"),
            "INSERT INTO prod_tasks VALUES ('copy', 'db1', 1700000000, NULL, 1)",
            "INSERT INTO prod_tasks VALUES ('copy', 'db2', 1700000001, NULL, 2)",
            "INSERT INTO prod_tasks VALUES ('check', 'db1', 1700000002, NULL, 1)");
    Map<String, Map<String, TaskStatus>> read = BistroStatuses.read(file);
    assertThat(read).containsOnlyKeys("copy", "check");
    Map<String, TaskStatus> copy = Objects.requireNonNull(read.get("copy"));
    assertThat(copy)
        .containsEntry("db1", TaskStatus.of(TaskStatus.Main.DONE, 1_700_000_000_000L, 1))
        .containsEntry("db2", TaskStatus.of(TaskStatus.Main.FAILED, 1_700_000_001_000L, 1))
        .hasSize(2);
  }

  @Test
  void allRowsThatBistroDoesNotWriteAreNamed() throws Exception {
    Path file =
        file(
            TABLE.formatted("t"),
            "INSERT INTO t VALUES ('copy', 'db1', 1, NULL, 1)",
            "INSERT INTO t VALUES ('copy', 'db2', 1, NULL, 7)",
            "INSERT INTO t VALUES ('copy', '', 1, NULL, 1)",
            "INSERT INTO t VALUES (NULL, 'db3', 1, NULL, 1)");
    assertThatThrownBy(() -> BistroStatuses.read(file))
        .isInstanceOf(BistroStatuses.Unusable.class)
        .hasMessageContaining("has 3 rows that Bistro does not write")
        .hasMessageContaining("job copy, node db2, result 7")
        .hasMessageContaining("job null, node db3");
  }

  @Test
  void aFileWithoutTheTableIsRefused() throws Exception {
    assertThatThrownBy(() -> BistroStatuses.read(directory.resolve("none")))
        .hasMessage("is not a file");
    Path text = Files.writeString(directory.resolve("text"), "not a database, but long enough");
    assertThatThrownBy(() -> BistroStatuses.read(text)).hasMessageContaining("cannot be read");
    Path other = file("CREATE TABLE stdout (job_id TEXT, node_id TEXT, line TEXT)");
    assertThatThrownBy(() -> BistroStatuses.read(other))
        .hasMessageContaining("has no table with the columns of Bistro's statuses, data, job_id");
  }

  @Test
  void ofSeveralTablesNoneIsGuessed() throws Exception {
    Path file = file(TABLE.formatted("one"), TABLE.formatted("two"));
    assertThatThrownBy(() -> BistroStatuses.read(file))
        .hasMessageContaining("has several tables of statuses, [one, two]");
  }
}
