package io.espalier.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.e2e.Espalier.Ended;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a scheduler of Bistro has done is not done again (docs/migration.md). */
class BistroImportIT {
  private static void bistroStored(Path file) throws SQLException {
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = connection.createStatement()) {
      boolean unused = statement.execute("PRAGMA journal_mode = WAL");
      statement.executeUpdate(
          "CREATE TABLE prod (job_id TEXT, node_id TEXT, timestamp INTEGER, data TEXT, result"
              + " INTEGER, PRIMARY KEY (job_id, node_id))");
      statement.executeUpdate(
          "INSERT INTO prod VALUES ('copy', 'db1', 1700000000, NULL, 1),"
              + " ('copy', 'db2', 1700000001, NULL, 2)");
    }
  }

  @Test
  void doneTasksStayDoneAndFailedOnesFailed(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("statuses.sql3");
    bistroStored(file);
    Site site =
        new Site(directory)
            .task("copy.sh", "")
            .config(
                """
                {"bistro_settings": {
                   "nodes": {"levels": ["db"], "node_sources": [
                     {"source": "manual", "prefs": {"db1": [], "db2": [], "db3": []}}]},
                   "resources": {}},
                 "bistro_job->copy": {"owner": "e2e", "create_time": 1600000000,
                   "command": ["./copy.sh"]}}
                """);
    Ended none = site.run("--statuses-from", "bistro:nowhere.sql3");
    assertThat(none.code()).isEqualTo(2);
    assertThat(none.stderr()).contains("bistro:nowhere.sql3 is not a file");

    Ended first = site.run("--statuses-from", "bistro:" + file);
    assertThat(first.code()).as("a task has failed").isEqualTo(1);
    assertThat(site.starts("copy")).isEqualTo(Map.of("db3", 1));
    assertThat(Site.number(first.json(), "jobs", "copy", "done")).isEqualTo(2);
    assertThat(Site.number(first.json(), "jobs", "copy", "failed")).isEqualTo(1);

    Ended again = site.run("--statuses-from", "bistro:" + file);
    assertThat(Site.number(again.json(), "jobs", "copy", "done")).isEqualTo(2);
    assertThat(site.starts("copy")).isEqualTo(Map.of("db3", 1));
  }
}
