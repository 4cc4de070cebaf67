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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two groups of real schedulers, each with a standby, hand a subtree over while their leaders die.
 */
@Tag("slow")
@Timeout(300)
@ExtendWith(SharedMariaDb.class)
class SubtreesHaIT {
  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final String RELEASED =
      "select count(*) from ha_subtree_owners.espalier_subtree"
          + " where name = 'h1' and owner = 0 and not taken";
  private static final String LEADING = "espalier: leading\n";

  private final DatabaseServer server;
  private final Site site;
  private final List<Espalier> running = new ArrayList<>();

  /** By the number of the scheduler: shard 0 has 0 and 1, shard 1 has 2 and 3. */
  private final int[] thriftPorts = new int[4];

  SubtreesHaIT(DatabaseServer server, @TempDir Path directory) {
    this.server = server;
    site =
        new Site(directory)
            .task(
                "task.sh",
                """
                exec 9>"$site/lock-$node"
                flock -n 9 || note overlap
                while [ ! -e "$site/go-$node" ]; do sleep 0.1; done
                """)
            .task("later.sh", "");
  }

  @BeforeEach
  void begin() throws Exception {
    for (String schema : List.of("ha_subtree_owners", "ha_subtrees_0", "ha_subtrees_1")) {
      server.sql("drop database if exists " + schema, "create database " + schema);
    }
    List<ServerSocket> free = new ArrayList<>();
    for (int i = 0; i < thriftPorts.length; i++) {
      ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
      free.add(socket);
      thriftPorts[i] = socket.getLocalPort();
    }
    for (ServerSocket socket : free) {
      socket.close();
    }
    // A host goes there first if its hash gives it to the other scheduler.
    tag("west");
    site.write(
        "databases.jsonl",
        """
        {"name": "d1.a", "parent": "h1"}
        {"name": "d1.b", "parent": "h1"}
        {"name": "d2.a", "parent": "h2"}
        """);
    site.config(
        """
        {"bistro_settings": {
           "shard_tags": {"east": 0, "west": 1},
           "nodes": {"levels": ["host", "db"], "node_sources": [
             {"source": "file", "prefs": {"parent_level": "instance", "path": "hosts.jsonl", "refresh_sec": 1}},
             {"source": "file", "prefs": {"parent_level": "host", "path": "databases.jsonl", "refresh_sec": 1}}]},
           "resources": {}},
         "bistro_job->dbs": {"owner": "e2e", "command": ["%s"], "kill_orphan_tasks_after_sec": 1},
         "bistro_job->later": {"owner": "e2e", "command": ["%s"], "depends_on": ["dbs"]}}
        """
            .formatted(site.file("task.sh"), site.file("later.sh")));
  }

  @AfterEach
  void end() throws IOException {
    running.forEach(Espalier::close);
  }

  private void tag(String ofH1) {
    site.write(
        "hosts.jsonl",
        """
        {"name": "h1", "tags": ["%s"]}
        {"name": "h2", "tags": ["east"]}
        """
            .formatted(ofH1));
  }

  private String schema(String name) {
    return "mysql://root@127.0.0.1:" + server.port() + "/" + name;
  }

  private Espalier start(String... arguments) {
    Espalier espalier = Espalier.start(site.directory(), arguments);
    running.add(espalier);
    return espalier;
  }

  private Espalier scheduler(int number) {
    int shard = number / 2;
    return start(
        "scheduler",
        "--config",
        "site.json",
        "--data-dir",
        "s" + number,
        "--runner",
        "remote",
        "--instance-node-name",
        "here",
        "--http",
        "127.0.0.1:0",
        "--thrift",
        "127.0.0.1:" + thriftPorts[number],
        "--shard",
        shard + "/2",
        "--status-store",
        schema("ha_subtrees_" + shard),
        "--ha",
        "store",
        "--subtree-owners",
        schema("ha_subtree_owners"));
  }

  private Espalier leader(int number) {
    Espalier leader = scheduler(number);
    awaitSaid(leader, LEADING);
    return leader;
  }

  private Espalier standby(int number) {
    Espalier standby = scheduler(number);
    awaitSaid(standby, "standing by at the group");
    return standby;
  }

  private void worker(int shard) {
    int first = thriftPorts[2 * shard];
    int second = thriftPorts[2 * shard + 1];
    Espalier unused =
        start(
            "worker",
            "--shard-id",
            "w" + shard,
            "--data-dir",
            "w" + shard,
            "--scheduler",
            "127.0.0.1:" + first + ",127.0.0.1:" + second);
  }

  private static void awaitSaid(Espalier espalier, String words) {
    await()
        .failFast("it has ended", () -> !espalier.isAlive())
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(espalier.stderr()).contains(words));
  }

  private Map<String, Json.Obj> tasks(Espalier of, String job) {
    Ended tasks = site.espalier("tasks", job, "--json", "--server", of.url());
    assertThat(tasks.code()).as(tasks.stderr()).isZero();
    return Site.byNode(tasks.json());
  }

  private boolean isDone(Espalier at, String job, String node) {
    Json.Obj task = tasks(at, job).get(node);
    return task != null && Site.text(task, "status").equals("done");
  }

  /** Waits until a scheduler has closed h1, which it is to hand over. */
  private void awaitClosing(Espalier by) {
    await("h1 is to be handed over")
        .atMost(PATIENCE)
        .untilAsserted(
            () ->
                assertThat(site.espalier("explain", "later", "d1.b", "--server", by.url()).stdout())
                    .contains("is handed over when no task runs there"));
  }

  @Test
  void aSubtreeGoesOverOnceWhileTheLeadersOfBothGroupsDie() {
    Espalier east = leader(0);
    Espalier west = leader(2);
    Espalier eastStandby = standby(1);
    Espalier westStandby = standby(3);
    worker(0);
    worker(1);
    await().atMost(PATIENCE).until(() -> site.starts("dbs").size() == 3);
    site.write("go-d1.a", "");
    await().atMost(PATIENCE).until(() -> isDone(west, "later", "d1.a"));

    // The group that gives loses its leader while a task keeps the subtree there.
    tag("east");
    awaitClosing(west);
    west.signal("KILL").ended();
    awaitSaid(westStandby, LEADING);
    Espalier third = standby(2);
    awaitClosing(westStandby);
    assertThat(tasks(east, "dbs")).doesNotContainKey("d1.b");

    // Nobody has it: one has let go of it, and nobody of the group that is to have it runs.
    eastStandby.signal("STOP");
    east.signal("STOP");
    site.write("go-d1.b", "");
    await().atMost(PATIENCE).until(() -> "1".equals(server.ask(RELEASED)));
    assertThat(tasks(westStandby, "dbs")).isEmpty();

    // Both groups lose their leader; that of the giver is frozen and wakes up too late.
    westStandby.signal("STOP");
    east.signal("KILL").ended();
    eastStandby.signal("CONT");
    awaitSaid(third, LEADING);
    await()
        .atMost(PATIENCE)
        .until(() -> eastStandby.isAlive() && eastStandby.stderr().contains(LEADING));
    westStandby.signal("CONT");
    await().atMost(PATIENCE).until(() -> isDone(eastStandby, "later", "d1.b"));
    assertThat(isDone(eastStandby, "dbs", "d1.a")).isTrue();
    assertThat(tasks(third, "dbs")).isEmpty();

    site.write("go-d2.a", "");
    await().atMost(PATIENCE).until(() -> isDone(eastStandby, "later", "d2.a"));
    for (String job : List.of("dbs", "later")) {
      assertThat(site.starts(job).keySet()).containsExactly("d1.a", "d1.b", "d2.a");
      assertThat(Set.copyOf(site.starts(job).values())).as("no task starts twice").containsOnly(1);
    }
    assertThat(site.notes())
        .as("never two at a time")
        .noneMatch(note -> note.what().equals("overlap"));
  }
}
