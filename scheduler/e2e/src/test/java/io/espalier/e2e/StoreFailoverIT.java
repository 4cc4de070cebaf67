package io.espalier.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.e2e.Espalier.Ended;
import io.espalier.testkit.database.DatabaseServer;
import io.espalier.testkit.database.SharedMariaDb;
import java.nio.file.Path;
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
  private static final String SCHEMA = "store_failover";

  private final DatabaseServer server;
  private final Site site;
  private final List<Integer> ports = Ports.free(2);

  StoreFailoverIT(DatabaseServer server, @TempDir Path directory) {
    this.server = server;
    site = new Site(directory).task("task.sh", "sleep 0.4");
  }

  @BeforeEach
  void begin() throws Exception {
    server.createSchemas(SCHEMA);
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
  void end() {
    site.close();
  }

  private String schema() {
    return server.address(SCHEMA);
  }

  private Espalier scheduler(int number) {
    return site.scheduler(
        "s" + number,
        "--thrift",
        "127.0.0.1:" + ports.get(number),
        "--status-store",
        schema(),
        "--ha",
        "store");
  }

  @Test
  void anotherLeadsWhenTheLeaderIsStoppedKilledOrStepsDown() throws Exception {
    Espalier first = scheduler(0);
    first.awaitLeading();
    Espalier second = scheduler(1);
    for (String name : List.of("w1", "w2")) {
      site.worker(name, "--scheduler", "127.0.0.1:%d,127.0.0.1:%d".formatted(ports.toArray()));
    }
    second.awaitSaid("standing by at the group at status store " + schema());
    site.awaitNewStarts("work");
    second.awaitLeader(first);
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
    second.awaitLeading();
    int before = site.starts("work").size();
    first.signal("CONT");
    first.awaitSaid("leading no more|cannot lead");
    first.awaitLeader(second);
    assertThat(site.starts("work")).as("nothing starts under the brake").hasSize(before);
    Ended released = site.espalier("release", "--server", first.url());
    assertThat(released.code()).as(released.stderr()).isZero();
    site.awaitNewStarts("work");

    Ended check = site.espalier("ha-check", "--status-store", schema(), "--drill");
    assertThat(check.stdout()).contains("drill").contains("leads in epoch");
    first.awaitSaid(Espalier.LEADING, 2);
    site.awaitNewStarts("work");

    first.signal("KILL");
    first.ended();
    second.awaitSaid(Espalier.LEADING, 2);
    site.awaitNewStarts("work");
    Ended applied =
        site.espalier(
            "apply", "work.json", "--job", "work", "--plan", plan, "--server", second.url());
    assertThat(applied.stdout()).as(applied.stderr()).contains("1 job is saved");
    assertThat(Set.copyOf(site.starts("work").values()))
        .as("no task was started twice")
        .containsExactly(1);
  }

  @Test
  void aSchedulerWithoutTheFlagIsRefusedWhileTheGroupHasTheStore() throws Exception {
    Espalier first = scheduler(0);
    first.awaitLeading();

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
