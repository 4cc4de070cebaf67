package io.espalier.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import io.espalier.e2e.Espalier.Ended;
import io.espalier.testkit.database.DatabaseServer;
import io.espalier.testkit.database.SharedMariaDb;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two groups of two real schedulers each hand subtrees over through a schema of a real MariaDB,
 * while their leaders are killed.
 */
@Tag("slow")
@Timeout(300)
@ExtendWith(SharedMariaDb.class)
class SubtreeGroupsIT {
  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final int HOSTS = 4;

  private final DatabaseServer server;
  private final Site site;
  private final List<Espalier> running = new ArrayList<>();

  SubtreeGroupsIT(DatabaseServer server, @TempDir Path directory) {
    this.server = server;
    site =
        new Site(directory)
            .task(
                "task.sh",
                """
                exec 9>"$site/lock-$node"
                flock -n 9 || note overlap
                while [ ! -e "$site/go-$node" ]; do sleep 0.1; done
                """);
  }

  /** A group: its leader, and the one that stands by. */
  private final class Group {
    private final int shard;
    private final String schema;
    private final List<Integer> ports = new ArrayList<>();
    private Espalier leader;
    private Espalier standby;

    Group(int shard, String schema) throws SQLException, IOException {
      this.shard = shard;
      this.schema = schema;
      server.sql("drop database if exists " + schema, "create database " + schema);
      for (int i = 0; i < 2; i++) {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
          ports.add(socket.getLocalPort());
        }
      }
      leader = scheduler(0);
      SubtreeGroupsIT.awaitLeads(leader);
      standby = scheduler(1);
      var unused =
          started(
              "worker",
              "--shard-id",
              schema,
              "--data-dir",
              "worker-" + schema,
              "--scheduler",
              "127.0.0.1:" + ports.get(0) + ",127.0.0.1:" + ports.get(1));
    }

    private Espalier scheduler(int number) {
      return started(
          "scheduler",
          "--config",
          "site.json",
          "--shard",
          shard + "/2",
          "--runner",
          "remote",
          "--http",
          "127.0.0.1:0",
          "--thrift",
          "127.0.0.1:" + ports.get(number),
          "--data-dir",
          schema + "-" + number,
          "--status-store",
          url(schema),
          "--ha",
          "store",
          "--subtree-owners",
          url("groups_owners"));
    }

    /** Kills the leader; the other one leads, and nobody stands by. */
    void loseLeader() {
      leader.signal("KILL").ended();
      leader = standby;
    }

    void awaitLeads() {
      SubtreeGroupsIT.awaitLeads(leader);
    }

    Map<String, Json.Obj> tasks() {
      Ended tasks = site.espalier("tasks", "dbs", "--json", "--server", leader.url());
      return tasks.code() == 0 ? Site.byNode(tasks.json()) : Map.of();
    }

    boolean isDone(String... nodes) {
      Map<String, Json.Obj> tasks = tasks();
      return List.of(nodes).stream()
          .map(tasks::get)
          .allMatch(task -> task != null && Site.text(task, "status").equals("done"));
    }
  }

  private static void awaitLeads(Espalier scheduler) {
    await()
        .failFast("it has ended", () -> !scheduler.isAlive())
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(scheduler.stderr()).contains("espalier: leading\n"));
  }

  private String url(String schema) {
    return "mysql://root@127.0.0.1:" + server.port() + "/" + schema;
  }

  private Espalier started(String... arguments) {
    Espalier espalier = Espalier.start(site.directory(), arguments);
    running.add(espalier);
    return espalier;
  }

  @BeforeEach
  void begin() throws SQLException {
    server.sql("drop database if exists groups_owners", "create database groups_owners");
    StringBuilder databases = new StringBuilder();
    for (int host = 1; host <= HOSTS; host++) {
      for (String name : List.of("a", "b")) {
        databases.append(
            "{\"name\": \"d%d.%s\", \"parent\": \"h%d\"}\n".formatted(host, name, host));
      }
    }
    site.write("databases.jsonl", databases.toString());
    tags("east", "east", "west", "west");
    site.config(
        """
        {"bistro_settings": {
           "shard_tags": {"east": 0, "west": 1},
           "nodes": {"levels": ["host", "db"], "node_sources": [
             {"source": "file", "prefs": {"parent_level": "instance", "path": "hosts.jsonl", "refresh_sec": 1}},
             {"source": "file", "prefs": {"parent_level": "host", "path": "databases.jsonl", "refresh_sec": 1}}]},
           "resources": {}},
         "bistro_job->dbs": {"owner": "e2e", "command": ["%s"], "kill_orphan_tasks_after_sec": 1}}
        """
            .formatted(site.file("task.sh")));
  }

  @AfterEach
  void end() {
    running.forEach(Espalier::close);
  }

  /** Gives each host to the group of its tag. */
  private void tags(String... tags) {
    StringBuilder hosts = new StringBuilder();
    for (int host = 1; host <= tags.length; host++) {
      hosts.append("{\"name\": \"h%d\", \"tags\": [\"%s\"]}\n".formatted(host, tags[host - 1]));
    }
    site.write("hosts.jsonl", hosts.toString());
  }

  private void go(String... nodes) {
    for (String node : nodes) {
      site.write("go-" + node, "");
    }
  }

  @Test
  void aSubtreeGoesOverOnceWhileLeadersOfBothGroupsAreKilled() throws Exception {
    Group east = new Group(0, "groups_east");
    Group west = new Group(1, "groups_west");
    await().atMost(PATIENCE).until(() -> site.starts("dbs").size() == 2 * HOSTS);
    go("d1.a", "d4.a");
    await().atMost(PATIENCE).until(() -> east.isDone("d1.a") && west.isDone("d4.a"));

    // d1.b keeps h1 with the east; its leader dies while the subtree waits to go.
    tags("west", "east", "west", "west");
    east.loseLeader();
    east.awaitLeads();
    assertThat(site.starts("dbs")).as("d1.b runs on, on its worker").containsEntry("d1.b", 1);
    assertThat(west.tasks()).doesNotContainKey("d1.b");

    // It goes over now; the one that takes it dies as it comes.
    go("d1.b");
    west.loseLeader();
    west.awaitLeads();
    await("with its statuses").atMost(PATIENCE).until(() -> west.isDone("d1.a", "d1.b"));
    await().atMost(PATIENCE).until(() -> !east.tasks().containsKey("d1.a"));

    // And another one comes back the other way, to a leader that has not led before.
    go("d4.b");
    await().atMost(PATIENCE).until(() -> west.isDone("d4.b"));
    tags("west", "east", "west", "east");
    await().atMost(PATIENCE).until(() -> east.isDone("d4.a", "d4.b"));
    go("d2.a", "d2.b", "d3.a", "d3.b");
    await()
        .atMost(PATIENCE)
        .until(() -> east.isDone("d2.a", "d2.b") && west.isDone("d3.a", "d3.b"));
    assertThat(site.starts("dbs")).hasSize(2 * HOSTS);
    assertThat(site.starts("dbs").values()).as("each task once").containsOnly(1);
    assertThat(site.notes()).noneMatch(note -> note.what().equals("overlap"));
  }
}
