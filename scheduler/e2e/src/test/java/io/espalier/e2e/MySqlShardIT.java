package io.espalier.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.e2e.Espalier.Ended;
import io.espalier.testkit.database.DatabaseServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.apache.curator.test.TestingServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Schedulers that share a configuration and a real MariaDB, each with a schema of its own. */
@Timeout(240)
@Tag("slow")
class MySqlShardIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static @Nullable DatabaseServer database;

  private final Site site;
  private final List<Espalier> running = new ArrayList<>();

  MySqlShardIT(@TempDir Path directory) {
    site = new Site(directory).task("task.sh", "");
  }

  @BeforeAll
  static void start(@TempDir Path directory) throws Exception {
    // What is in doubt here does not hang on the disk of this machine.
    DatabaseServer server =
        new DatabaseServer(
            DatabaseServer.Flavour.MARIADB, directory, "--innodb-flush-method=nosync");
    database = server;
    for (String schema : List.of("ha0", "ha1")) {
      server.sql("create database " + schema);
    }
  }

  @AfterAll
  static void stop() throws IOException {
    if (database != null) {
      database.close();
    }
  }

  @AfterEach
  void end() {
    running.forEach(Espalier::close);
  }

  private static String schema(String name) {
    if (database == null) {
      throw new IllegalStateException("no server");
    }
    return "mysql://root@127.0.0.1:" + database.port() + "/" + name;
  }

  private void config(int hosts, String resources) {
    site.config(
        """
        {"bistro_settings": {
           "nodes": {"levels": ["host", "db"], "node_sources": [
             {"source": "range_label",
              "prefs": {"parent_level": "instance", "start": 1, "end": %d, "format": "host{i}"}},
             {"source": "range_label",
              "prefs": {"parent_level": "host", "start": 1, "end": 2, "format": "{parent}.{i}"}}]},
           "resources": %s},
         "bistro_job->dbs": {"owner": "e2e", "command": ["%s"]}}
        """
            .formatted(hosts, resources, site.file("task.sh")));
  }

  private Espalier daemon(String... arguments) {
    Espalier espalier = Espalier.start(site.directory(), arguments);
    running.add(espalier);
    return espalier;
  }

  private Espalier scheduler(TestingServer zookeeper, int shard, String name, int port) {
    return daemon(
        "scheduler",
        "--config",
        "site.json",
        "--shard",
        shard + "/2",
        "--runner",
        "remote",
        "--instance-node-name",
        "here",
        "--data-dir",
        name,
        "--status-store",
        schema("ha" + shard),
        "--http",
        "127.0.0.1:0",
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

  private static void awaitSaid(Espalier espalier, String words) {
    await()
        .failFast("it has ended", () -> !espalier.isAlive() && !espalier.stderr().contains(words))
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(espalier.stderr()).contains(words));
  }

  @Test
  void the_standby_of_a_killed_scheduler_takes_over_its_shard_and_no_other() throws Exception {
    System.setProperty("zookeeper.admin.enableServer", "false");
    // Its disk is not what is in doubt here.
    System.setProperty("zookeeper.forceSync", "no");
    site.task("task.sh", "sleep 0.1");
    config(200, "{\"instance\": {\"c\": {\"limit\": 4, \"default\": 1}}}");
    int[] ports = freePorts(3);
    try (TestingServer zookeeper = new TestingServer(true)) {
      Espalier first = scheduler(zookeeper, 0, "first", ports[0]);
      Espalier other = scheduler(zookeeper, 1, "other", ports[1]);
      awaitSaid(first, "espalier: leading");
      awaitSaid(other, "espalier: leading");
      Espalier standby = scheduler(zookeeper, 0, "standby", ports[2]);
      for (int shard = 0; shard < 2; shard++) {
        daemon(
            "worker",
            "--shard-id",
            "w" + shard,
            "--data-dir",
            "w" + shard,
            "--zookeeper",
            group(zookeeper, shard));
      }
      awaitSaid(standby, "standing by");
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
              schema("ha0"),
              "--http",
              "127.0.0.1:0",
              "--zookeeper",
              group(zookeeper, 0));
      assertThat(lost.code()).isEqualTo(2);
      assertThat(lost.stderr()).contains("share the status store").contains("shard 0/2");
      await().atMost(PATIENCE).until(() -> site.starts("dbs").size() > 40);
      first.signal("KILL");
      first.ended();
      awaitSaid(standby, "espalier: leading");
      await().atMost(PATIENCE).until(() -> site.starts("dbs").size() == 400);
      assertThat(new TreeMap<>(site.starts("dbs")).values()).containsOnly(1);
      assertThat(other.stderr()).doesNotContain("leading no more");
      assertThat(other.stderr().split("espalier: leading\n", -1)).hasSize(2);
      Http taken = new Http(standby.url());
      assertThat(Site.text(taken.get("/api/v1/settings"), "shard")).isEqualTo("0/2");
    }
  }

  private static int[] freePorts(int count) throws IOException {
    int[] ports = new int[count];
    List<ServerSocket> free = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
      free.add(socket);
      ports[i] = socket.getLocalPort();
    }
    for (ServerSocket socket : free) {
      socket.close();
    }
    return ports;
  }
}
