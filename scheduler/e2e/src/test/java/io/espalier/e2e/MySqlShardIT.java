package io.espalier.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.e2e.Espalier.Ended;
import io.espalier.testkit.database.DatabaseServer;
import io.espalier.testkit.database.SharedMariaDb;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.TreeMap;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Schedulers that share a configuration and a real MariaDB, each with a schema of its own. */
@Timeout(240)
@Tag("slow")
@ExtendWith(SharedMariaDb.class)
class MySqlShardIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final DatabaseServer server;
  private final Site site;

  MySqlShardIT(DatabaseServer server, @TempDir Path directory) {
    this.server = server;
    site = new Site(directory).task("task.sh", "sleep 0.1");
  }

  @AfterEach
  void end() {
    site.close();
  }

  @BeforeEach
  void begin() throws SQLException {
    server.createSchemas("ha0", "ha1");
    site.config(
        """
        {"bistro_settings": {
           "nodes": {"levels": ["host", "db"], "node_sources": [
             {"source": "range_label",
              "prefs": {"parent_level": "instance", "start": 1, "end": 200, "format": "host{i}"}},
             {"source": "range_label",
              "prefs": {"parent_level": "host", "start": 1, "end": 2, "format": "{parent}.{i}"}}]},
           "resources": {"instance": {"c": {"limit": 4, "default": 1}}}},
         "bistro_job->dbs": {"owner": "e2e", "command": ["./task.sh"]}}
        """);
  }

  private Espalier scheduler(TestingServer zookeeper, int shard, String name, int port) {
    return site.scheduler(
        name,
        "--shard",
        shard + "/2",
        "--status-store",
        server.address("ha" + shard),
        "--thrift",
        "127.0.0.1:" + port,
        "--zookeeper-session-ms",
        "4000",
        "--zookeeper",
        group(zookeeper, shard));
  }

  private static String group(TestingServer zookeeper, int shard) {
    return zookeeper.getConnectString() + "/fleet/" + shard;
  }

  @Test
  void the_standby_of_a_killed_scheduler_takes_over_its_shard_and_no_other() throws Exception {
    System.setProperty("zookeeper.admin.enableServer", "false");
    // Its disk is not what is in doubt here.
    System.setProperty("zookeeper.forceSync", "no");
    List<Integer> ports = Ports.free(3);
    try (TestingServer zookeeper = new TestingServer(true)) {
      Espalier first = scheduler(zookeeper, 0, "first", ports.get(0));
      Espalier other = scheduler(zookeeper, 1, "other", ports.get(1));
      first.awaitLeading();
      other.awaitLeading();
      Espalier standby = scheduler(zookeeper, 0, "standby", ports.get(2));
      for (int shard = 0; shard < 2; shard++) {
        site.worker("w" + shard, "--zookeeper", group(zookeeper, shard));
      }
      standby.awaitSaid("standing by");
      // One that is started with the path of another shard says so at once.
      Ended lost =
          site.espalier(
              "scheduler",
              "--config",
              "site.json",
              "--shard",
              "1/2",
              "--runner",
              "remote",
              "--data-dir",
              "lost",
              "--status-store",
              server.address("ha0"),
              "--http",
              "127.0.0.1:0",
              "--zookeeper",
              group(zookeeper, 0));
      assertThat(lost.code()).isEqualTo(2);
      assertThat(lost.stderr()).contains("share the status store").contains("shard 0/2");
      await().atMost(PATIENCE).until(() -> site.starts("dbs").size() > 40);
      first.signal("KILL");
      first.ended();
      standby.awaitLeading();
      await().atMost(PATIENCE).until(() -> site.starts("dbs").size() == 400);
      assertThat(new TreeMap<>(site.starts("dbs")).values()).containsOnly(1);
      assertThat(other.stderr()).doesNotContain("leading no more");
      assertThat(other.stderr().split(Espalier.LEADING, -1)).hasSize(2);
      Http taken = new Http(standby.url());
      assertThat(Site.text(taken.get("/api/v1/settings"), "shard")).isEqualTo("0/2");
    }
  }
}
