package io.espalier.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.testkit.database.DatabaseServer;
import io.espalier.testkit.database.SharedMariaDb;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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

  private final DatabaseServer server;
  private final Site site;

  /** By the number of the scheduler: shard 0 has 0 and 1, shard 1 has 2 and 3. */
  private final List<Integer> thriftPorts = Ports.free(4);

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
    server.createSchemas("ha_subtree_owners", "ha_subtrees_0", "ha_subtrees_1");
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
  void end() {
    site.close();
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

  private Espalier scheduler(int number) {
    int shard = number / 2;
    return site.scheduler(
        "s" + number,
        "--thrift",
        "127.0.0.1:" + thriftPorts.get(number),
        "--shard",
        shard + "/2",
        "--status-store",
        server.address("ha_subtrees_" + shard),
        "--ha",
        "store",
        "--subtree-owners",
        server.address("ha_subtree_owners"));
  }

  private Espalier leader(int number) {
    Espalier leader = scheduler(number);
    leader.awaitLeading();
    return leader;
  }

  private Espalier standby(int number) {
    Espalier standby = scheduler(number);
    standby.awaitSaid("standing by at the group");
    return standby;
  }

  private void worker(int shard) {
    List<Integer> ports = thriftPorts.subList(2 * shard, 2 * shard + 2);
    Espalier unused =
        site.worker(
            "w" + shard, "--scheduler", "127.0.0.1:%d,127.0.0.1:%d".formatted(ports.toArray()));
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
    await().atMost(PATIENCE).until(() -> site.isDone(west, "later", "d1.a"));

    // The group that gives loses its leader while a task keeps the subtree there.
    tag("east");
    awaitClosing(west);
    west.signal("KILL").ended();
    westStandby.awaitLeading();
    Espalier third = standby(2);
    awaitClosing(westStandby);
    assertThat(site.tasks(east, "dbs")).doesNotContainKey("d1.b");

    // Nobody has it: one has let go of it, and nobody of the group that is to have it runs.
    eastStandby.signal("STOP");
    east.signal("STOP");
    site.write("go-d1.b", "");
    await().atMost(PATIENCE).until(() -> "1".equals(server.ask(RELEASED)));
    assertThat(site.tasks(westStandby, "dbs")).isEmpty();

    // Both groups lose their leader; that of the giver is frozen and wakes up too late.
    westStandby.signal("STOP");
    east.signal("KILL").ended();
    eastStandby.signal("CONT");
    third.awaitLeading();
    eastStandby.awaitLeading();
    westStandby.signal("CONT");
    await().atMost(PATIENCE).until(() -> site.isDone(eastStandby, "later", "d1.b"));
    assertThat(site.isDone(eastStandby, "dbs", "d1.a")).isTrue();
    assertThat(site.tasks(third, "dbs")).isEmpty();

    site.write("go-d2.a", "");
    await().atMost(PATIENCE).until(() -> site.isDone(eastStandby, "later", "d2.a"));
    for (String job : List.of("dbs", "later")) {
      assertThat(site.starts(job).keySet()).containsExactly("d1.a", "d1.b", "d2.a");
      assertThat(Set.copyOf(site.starts(job).values())).as("no task starts twice").containsOnly(1);
    }
    assertThat(site.notes())
        .as("never two at a time")
        .noneMatch(note -> note.what().equals("overlap"));
  }
}
