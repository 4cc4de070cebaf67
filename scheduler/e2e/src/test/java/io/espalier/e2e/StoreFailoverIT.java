package io.espalier.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Two real schedulers that elect the leader by a schema of a real MariaDB, without ZooKeeper. */
@Timeout(300)
@ExtendWith(SharedMariaDb.class)
@Tag("slow")
class StoreFailoverIT {
  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final String SCHEMA = "store_failover";

  private final DatabaseServer server;
  private final Site site;
  private final List<Espalier> running = new ArrayList<>();
  private final int[] ports = new int[4];

  StoreFailoverIT(DatabaseServer server, @TempDir Path directory) {
    this.server = server;
    site = new Site(directory).task("task.sh", "sleep 0.4");
  }

  @BeforeEach
  void begin() throws Exception {
    server.sql("drop database if exists " + SCHEMA, "create database " + SCHEMA);
    List<ServerSocket> free = new ArrayList<>();
    for (int i = 0; i < ports.length; i++) {
      ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
      free.add(socket);
      ports[i] = socket.getLocalPort();
    }
    for (ServerSocket socket : free) {
      socket.close();
    }
    site.config(
        """
        {"bistro_settings": {
           "nodes": {"levels": ["n"], "node_sources": [
             {"source": "range_label",
              "prefs": {"parent_level": "instance", "start": 1, "end": 2000, "format": "n{i}"}}]},
           "resources": {"instance": {"c": {"default": 1, "limit": 4}}}},
         "bistro_job->work": {"owner": "me", "command": ["%s"]}}
        """
            .formatted(site.file("task.sh")));
  }

  @AfterEach
  void end() throws IOException {
    running.forEach(Espalier::close);
  }

  private String schema() {
    return "mysql://root@127.0.0.1:" + server.port() + "/" + SCHEMA;
  }

  private Espalier start(String... arguments) {
    Espalier espalier = Espalier.start(site.directory(), arguments);
    running.add(espalier);
    return espalier;
  }

  private Espalier scheduler(int number) {
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
        "127.0.0.1:" + ports[2 * number],
        "--thrift",
        "127.0.0.1:" + ports[2 * number + 1],
        "--status-store",
        schema(),
        "--ha",
        "store");
  }

  private static void awaitSaid(Espalier espalier, String words, int times) {
    await()
        .failFast("it has ended", () -> !espalier.isAlive())
        .atMost(PATIENCE)
        .untilAsserted(
            () ->
                assertThat(espalier.stderr().split(words, -1))
                    .as(espalier.stderr())
                    .hasSizeGreaterThan(times));
  }

  private static void awaitStandby(Espalier standby, Espalier leader) {
    Http http = new Http(standby.url());
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> assertThat(Site.text(http.get("/readyz"), "leader_url")).isEqualTo(leader.url()));
  }

  private void awaitNewStarts() {
    int before = site.starts("work").size();
    await().atMost(PATIENCE).until(() -> site.starts("work").size() > before + 4);
  }

  @Test
  void anotherLeadsWhenTheLeaderIsStoppedKilledOrStepsDown() throws Exception {
    Espalier first = scheduler(0);
    awaitSaid(first, "espalier: leading\n", 1);
    Espalier second = scheduler(1);
    for (String name : List.of("w1", "w2")) {
      start(
          "worker",
          "--shard-id",
          name,
          "--data-dir",
          name,
          "--scheduler",
          "127.0.0.1:" + ports[1] + ",127.0.0.1:" + ports[3]);
    }
    awaitSaid(second, "standing by at the group at status store " + schema(), 1);
    awaitNewStarts();
    awaitStandby(second, first);
    Http standby = new Http(second.url());
    assertThat(Site.text(standby.get("/api/v1/jobs"), "jobs", "0", "name")).isEqualTo("work");

    site.write(
        "work.json", "{\"owner\": \"you\", \"command\": [\"" + site.file("task.sh") + "\"]}");
    Ended planned =
        site.espalier("plan", "work.json", "--job", "work", "--json", "--server", first.url());
    String plan = Site.text(planned.json(), "token");

    // The big red button of one that does not lead; what it stops stays so under the next leader.
    Ended braked = site.espalier("brake", "--reason", "a test", "--server", second.url());
    assertThat(braked.code()).as(braked.stderr()).isZero();
    assertThat(braked.stdout() + braked.stderr()).doesNotContain("not confirmed");

    // Frozen for longer than its proof counts: it wakes up as one of many.
    first.signal("STOP");
    awaitSaid(second, "espalier: leading\n", 1);
    int before = site.starts("work").size();
    first.signal("CONT");
    awaitSaid(first, "leading no more|cannot lead", 1);
    awaitStandby(first, second);
    assertThat(site.starts("work")).as("nothing starts under the brake").hasSize(before);
    Ended released = site.espalier("release", "--server", first.url());
    assertThat(released.code()).as(released.stderr()).isZero();
    awaitNewStarts();

    Ended check = site.espalier("ha-check", "--status-store", schema(), "--drill");
    assertThat(check.stdout()).contains("drill").contains("leads in epoch");
    awaitSaid(first, "espalier: leading\n", 2);
    awaitNewStarts();

    first.signal("KILL");
    first.ended();
    awaitSaid(second, "espalier: leading\n", 2);
    awaitNewStarts();
    Ended applied =
        site.espalier(
            "apply", "work.json", "--job", "work", "--plan", plan, "--server", second.url());
    assertThat(applied.stdout()).as(applied.stderr()).contains("1 jobs are saved");
    assertThat(Set.copyOf(site.starts("work").values()))
        .as("no task was started twice")
        .containsExactly(1);
  }

  @Test
  void aSchedulerWithoutTheFlagIsRefusedWhileTheGroupHasTheStore() throws Exception {
    Espalier first = scheduler(0);
    awaitSaid(first, "espalier: leading\n", 1);

    Ended alone =
        site.espalier(
            "scheduler",
            "--config",
            "site.json",
            "--data-dir",
            "alone",
            "--runner",
            "local",
            "--http",
            "127.0.0.1:0",
            "--status-store",
            schema());

    assertThat(alone.code()).isEqualTo(2);
    assertThat(alone.stderr()).contains("of the group at status store").contains("--take-over");
    assertThat(first.isAlive()).isTrue();
  }
}
