package io.espalier.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.e2e.Espalier.Ended;
import io.espalier.testkit.database.DatabaseServer;
import io.espalier.testkit.database.SharedMariaDb;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A store in MariaDB is copied while a scheduler runs, and put back, by the tools of MariaDB. */
@Tag("slow") // after a store was set back, a scheduler waits for 90 s
@Timeout(360)
@ExtendWith(SharedMariaDb.class)
class MySqlBackupIT {
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final String PASSWORD = "word-of-the-store-1";

  private final DatabaseServer server;
  private final Site site;

  MySqlBackupIT(DatabaseServer server, @TempDir Path directory) {
    this.server = server;
    site = new Site(directory).task("task.sh", "");
  }

  /** The account has the rights that docs/stores.md gives it, and no others. */
  @BeforeEach
  void begin() throws SQLException {
    server.sql(
        "drop database if exists backed_up",
        "create database backed_up character set utf8mb4",
        "drop user if exists keeper@'%'",
        "create user keeper@'%' identified by '" + PASSWORD + "'",
        "grant select, insert, update, delete, create, alter, drop, index, create view,"
            + " show view on backed_up.* to keeper@'%'");
  }

  private Espalier scheduler(int hosts) {
    site.config(
        """
        {"bistro_settings": {
           "nodes": {"levels": ["host"], "node_sources": [
             {"source": "range_label",
              "prefs": {"parent_level": "instance", "start": 1, "end": HOSTS, "format": "h{i}"}}]},
           "resources": {}},
         "bistro_job->j": {"owner": "e2e", "command": ["./task.sh"]}}
        """
            .replace("HOSTS", Integer.toString(hosts)));
    site.write("password", PASSWORD + "\n");
    return site.daemon(
        "--data-dir", "data", "--status-store", store(), "--store-password-file", "password");
  }

  private String store() {
    return "mysql://keeper@127.0.0.1:" + server.port() + "/backed_up";
  }

  /** Runs what the command says, with the password that it would ask for. */
  private void asTold(String command) throws IOException, InterruptedException {
    Ended refused =
        site.espalier(
            command, "--data-dir", "data", "--status-store", store(), "copy with blanks.sql");
    assertThat(refused.code()).isEqualTo(2);
    String told = refused.stderr().strip();
    ProcessBuilder builder =
        new ProcessBuilder(
                "sh",
                "-c",
                told.substring(told.indexOf("mysql", told.lastIndexOf(": ")))
                    .replace("--password", "--password=\"$PASSWORD\""))
            .directory(site.directory().toFile())
            .redirectErrorStream(true)
            .redirectOutput(site.file(command + ".out").toFile());
    builder.environment().put("PASSWORD", PASSWORD);
    Process shell = builder.start();
    assertThat(shell.waitFor()).as(told).isZero();
  }

  @Test
  void aCopyIsMadeAndPutBackAndTheSchedulerGoesOn() throws Exception {
    try (Espalier first = scheduler(3)) {
      first.url();
      await().atMost(PATIENCE).until(() -> site.starts("j").size() == 3);
      awaitDone(first, 3);
      asTold("backup");
      first.signal("TERM").ended();
    }
    try (Espalier more = scheduler(4)) {
      awaitDone(more, 4);
      more.signal("TERM").ended();
    }
    asTold("restore");
    try (Espalier again = scheduler(5)) {
      await()
          .atMost(PATIENCE.multipliedBy(2))
          .until(() -> again.stderr().contains("listening on") || !again.isAlive());
      assertThat(again.stderr()).contains("was set back");
      awaitDone(again, 5);
    }
    // What was done since the copy was made is done again, and nothing else.
    assertThat(site.starts("j"))
        .containsExactlyInAnyOrderEntriesOf(Map.of("h1", 1, "h2", 1, "h3", 1, "h4", 2, "h5", 1));
  }

  private static void awaitDone(Espalier scheduler, int tasks) {
    Http http = new Http(scheduler.url());
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                http.response("/readyz").statusCode() == 200
                    && Site.number(http.get("/api/v1/jobs/j"), "progress", "done") == tasks);
  }
}
