package io.espalier.e2e;

import static io.espalier.e2e.Site.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.e2e.Espalier.Ended;
import io.espalier.testkit.database.DatabaseServer;
import io.espalier.testkit.database.SharedMariaDb;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Two real schedulers hand subtrees over through a schema of a real MariaDB. */
@Tag("slow")
@Timeout(240)
@ExtendWith(SharedMariaDb.class)
class SubtreesIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String SCHEMA = "moving_subtrees";
  private static final int HOSTS = 6;

  private final DatabaseServer server;
  private final Site site;

  /** The scheduler to which the tag of each host gives it. */
  private final Map<String, Integer> shards = new TreeMap<>();

  SubtreesIT(DatabaseServer server, @TempDir Path directory) {
    this.server = server;
    site =
        new Site(directory)
            .task("task.sh", "while [ ! -e \"$site/go-$node\" ]; do sleep 0.1; done");
  }

  @BeforeEach
  void begin() throws SQLException {
    server.createSchemas(SCHEMA);
    StringBuilder databases = new StringBuilder();
    for (int host = 1; host <= HOSTS; host++) {
      shards.put("h" + host, host % 2);
      for (String name : List.of("a", "b")) {
        databases.append(
            "{\"name\": \"d%d.%s\", \"parent\": \"h%d\"}\n".formatted(host, name, host));
      }
    }
    site.write("databases.jsonl", databases.toString());
    tag("h1", 1);
    site.config(
        """
        {"bistro_settings": {
           "shard_tags": {"east": 0, "west": 1},
           "nodes": {"levels": ["host", "db"], "node_sources": [
             {"source": "file", "prefs": {"parent_level": "instance", "path": "hosts.jsonl", "refresh_sec": 1}},
             {"source": "file", "prefs": {"parent_level": "host", "path": "databases.jsonl", "refresh_sec": 1}}]},
           "resources": {}},
         "bistro_job->dbs": {"owner": "e2e", "command": ["./task.sh"], "kill_orphan_tasks_after_sec": 1}}
        """);
  }

  @AfterEach
  void end() {
    site.close();
  }

  private void tag(String host, int shard) {
    shards.put(host, shard);
    StringBuilder hosts = new StringBuilder();
    shards.forEach(
        (name, of) ->
            hosts.append(
                "{\"name\": \"%s\", \"tags\": [\"%s\"]}\n"
                    .formatted(name, of == 0 ? "east" : "west")));
    site.write("hosts.jsonl", hosts.toString());
  }

  private void go(String... nodes) {
    for (String node : nodes) {
      site.write("go-" + node, "");
    }
  }

  private Espalier sharing(int shard) {
    return site.daemon("--shard", shard + "/2", "--subtree-owners", server.address(SCHEMA));
  }

  private Espalier sharingWithWorkers(int shard) {
    return site.scheduler(
        "s" + shard,
        "--shard",
        shard + "/2",
        "--subtree-owners",
        server.address(SCHEMA),
        "--thrift",
        "127.0.0.1:0",
        "--heartbeat-ms",
        "700",
        "--lease-ms",
        "6000");
  }

  private Espalier worker(String name, Espalier of) {
    return site.worker(name, "--scheduler", of.forWorkers());
  }

  private boolean isDone(Espalier at, String node) {
    return site.isDone(at, "dbs", node);
  }

  private String explained(Espalier by, String node) {
    return site.espalier("explain", "dbs", node, "--server", by.url()).stdout();
  }

  @Test
  void aSubtreeGoesOverWithItsStatusesOnceNoTaskRunsThere() {
    Espalier east = sharing(0);
    Espalier west = sharing(1);
    await().atMost(PATIENCE).until(() -> site.starts("dbs").size() == 2 * HOSTS);
    go("d1.a", "d2.a", "d2.b", "d3.a");
    await().atMost(PATIENCE).until(() -> isDone(west, "d1.a") && isDone(east, "d2.b"));

    // Nothing runs below h2, so it goes at once; d1.b keeps h1 where it is.
    tag("h1", 0);
    tag("h2", 1);
    await().atMost(PATIENCE).until(() -> isDone(west, "d2.a") && isDone(west, "d2.b"));
    await().atMost(PATIENCE).until(() -> !site.tasks(east, "dbs").containsKey("d2.a"));
    assertThat(site.tasks(east, "dbs")).doesNotContainKey("d1.a");
    assertThat(site.starts("dbs").values()).containsOnly(1);

    // Neither a kill of the one before nor one of the next loses anything.
    go("d1.b");
    await().atMost(PATIENCE).until(() -> isDone(east, "d1.a") && isDone(east, "d1.b"));
    west.signal("KILL").ended();
    tag("h2", 0);
    tag("h3", 0);
    Espalier again = sharing(1);
    go("d3.b");
    await().atMost(PATIENCE).until(() -> isDone(east, "d2.a") && isDone(east, "d3.b"));
    east.signal("KILL").ended();
    Espalier next = sharing(0);
    await().atMost(PATIENCE).until(() -> isDone(next, "d3.b") && isDone(next, "d1.b"));
    go("d4.a", "d4.b", "d5.a", "d5.b", "d6.a", "d6.b");
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                site.tasks(next, "dbs").size() + site.tasks(again, "dbs").size() == 2 * HOSTS
                    && isDone(again, "d5.b"));
    Map<String, Integer> starts = site.starts("dbs");
    List.of("d1.a", "d1.b", "d2.a", "d2.b", "d3.a")
        .forEach(node -> assertThat(starts).containsEntry(node, 1));

    // It would take everything back that the hash gives it.
    next.signal("TERM").ended();
    Ended forgetful = site.daemon("--shard", "0/2").ended();
    assertThat(forgetful.code()).isEqualTo(2);
    assertThat(forgetful.stderr()).contains("give --subtree-owners " + server.address(SCHEMA));
  }

  @Test
  void aSubtreeGoesOverOnlyWhenNoWorkerOfTheOneBeforeCanRunItsTasks() {
    site.task(
        "task.sh",
        """
        exec 9>"$site/lock-$node"
        flock -n 9 || note overlap
        echo '{"progress": {"cursor": "half of '$node'"}}' >>"$2"
        case $3 in *'"cursor":"half of '$node'"'*) note resumed ;; esac
        while [ ! -e "$site/go-$node" ]; do sleep 0.1; done
        """);
    Espalier east = sharingWithWorkers(0);
    Espalier west = sharingWithWorkers(1);
    Espalier unused = worker("e", east);
    Espalier hung = worker("w", west);
    await().atMost(PATIENCE).until(() -> site.starts("dbs").size() == 2 * HOSTS);
    go("d1.a");
    await().atMost(PATIENCE).until(() -> isDone(west, "d1.a"));
    await("its checkpoint is kept")
        .atMost(PATIENCE)
        .until(() -> String.valueOf(site.tasks(west, "dbs").get("d1.b")).contains("half of"));

    // The task goes on, and its scheduler hears no more of it: only the end of its lease ends it.
    hung.signal("STOP");
    tag("h1", 0);
    await().atMost(PATIENCE).until(() -> site.starts("dbs").getOrDefault("d1.b", 0) == 2);
    go("d1.b");
    await().atMost(PATIENCE).until(() -> isDone(east, "d1.a") && isDone(east, "d1.b"));
    assertThat(site.starts("dbs")).containsEntry("d1.a", 1).containsEntry("d1.b", 2);
    assertThat(site.notes())
        .as("never two at a time")
        .noneMatch(note -> note.what().equals("overlap"));
    assertThat(site.notes())
        .as("from its checkpoint")
        .anyMatch(note -> note.what().equals("resumed") && note.node().equals("d1.b"));
  }

  @Test
  void withoutSharedOwnersASubtreeThatItsTagsGiveElsewhereIsClosed() {
    for (int host = 1; host <= HOSTS; host++) {
      tag("h" + host, 1);
      go("d" + host + ".a", "d" + host + ".b");
    }
    Espalier east = site.daemon("--shard", "0/2");
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                site.espalier("problems", "--server", east.url())
                    .stdout()
                    .contains("without --subtree-owners"));
    // Tasks that had started before may end; none starts again.
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                site.tasks(east, "dbs").values().stream()
                    .noneMatch(task -> text(task, "status").equals("running")));
    site.espalier("rerun", "dbs", "--all", "--server", east.url());
    Set<String> nodes = site.tasks(east, "dbs").keySet();
    assertThat(nodes).isNotEmpty();
    assertThat(nodes)
        .allSatisfy(node -> assertThat(explained(east, node)).contains("without --subtree-owners"));
    assertThat(site.starts("dbs").values()).allMatch(starts -> starts == 1);
  }
}
