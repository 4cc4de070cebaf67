package io.espalier.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.e2e.Espalier.Ended;
import io.espalier.testkit.database.DatabaseServer;
import io.espalier.testkit.database.SharedMariaDb;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Two real schedulers that are started with one schema of a real MariaDB, and no election. */
@Tag("slow")
@Timeout(240)
@ExtendWith(SharedMariaDb.class)
class OneStoreIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String SCHEMA = "one_store";

  private final DatabaseServer server;
  private final Site site;

  OneStoreIT(DatabaseServer server, @TempDir Path directory) {
    this.server = server;
    site = new Site(directory).task("task.sh", "sleep 600");
  }

  @BeforeEach
  void begin() throws SQLException {
    server.createSchemas(SCHEMA);
    site.config(
        """
        {"bistro_settings": {
           "nodes": {"levels": ["host"], "node_sources": [
             {"source": "range_label",
              "prefs": {"parent_level": "instance", "start": 1, "end": 3, "format": "h{i}"}}]},
           "resources": {}},
         "bistro_job->j": {"owner": "e2e", "command": ["%s"]}}
        """
            .formatted(site.file("task.sh")));
  }

  @AfterEach
  void end() {
    site.close();
  }

  private String[] scheduler(String name, String runner, String... more) {
    return Site.with(
        more,
        "scheduler",
        "--config",
        "site.json",
        "--runner",
        runner,
        "--data-dir",
        name,
        "--http",
        "127.0.0.1:0",
        "--status-store",
        server.address(SCHEMA));
  }

  @Test
  void theSecondIsRefusedAndStartsNothingUntilTheFirstHasEnded() throws Exception {
    Espalier first = site.start(scheduler("first", "local"));
    await().atMost(PATIENCE).until(() -> site.starts("j").size() == 3);

    Ended second = site.espalier(scheduler("second", "local"));

    assertThat(second.code()).isEqualTo(2);
    assertThat(second.stderr())
        .contains("belongs to the scheduler on host")
        .contains("data directory " + site.file("first"))
        .contains("--take-over");
    assertThat(site.starts("j").values()).containsOnly(1);
    assertThat(first.isAlive()).isTrue();
    // Also after a kill: nobody can know from elsewhere that it is dead. On its own directory it
    // is.
    first.signal("KILL").ended();
    assertThat(site.espalier(scheduler("second", "local")).code()).isEqualTo(2);
    Espalier again = site.start(scheduler("first", "local"));
    again.url();
    await()
        .atMost(PATIENCE)
        .until(() -> site.starts("j").values().stream().allMatch(count -> count == 2));
    assertThat(again.signal("TERM").ended().code()).isZero();

    site.start(scheduler("second", "local")).url();
    await()
        .atMost(PATIENCE)
        .until(() -> site.starts("j").values().stream().allMatch(count -> count == 3));
  }

  @Test
  void aWaitForTheStoreEndsAtOnceWhenItIsToldTo() {
    Espalier first = site.start(scheduler("first", "simulated"));
    first.url();
    first.signal("STOP");
    Espalier second = site.start(scheduler("second", "simulated", "--take-over"));
    await()
        .atMost(PATIENCE)
        .until(() -> second.stderr().contains("is taken when its row has not changed"));

    Ended ended = second.signal("TERM").ended();

    assertThat(ended.code()).isZero();
    assertThat(ended.stderr()).contains("stopped while it waited");
  }

  @Test
  void localTasksOfAStoppedSchedulerEndBeforeAnotherMayTakeTheStore() {
    site.task("task.sh", "echo $$ >>\"$site/pids\"\nsleep 600");
    Espalier first = site.start(scheduler("first", "local", "--store-proof-ms", "3000"));
    await().atMost(PATIENCE).until(() -> running().size() == 3);
    List<String> tasks = running();

    first.signal("STOP");

    // Another one would wait for 3 s and 60 s more.
    await().atMost(PATIENCE).until(() -> running().isEmpty());
    // It is still the owner, and its tasks have not failed: they were lost.
    first.signal("CONT");
    await().atMost(PATIENCE).until(() -> site.starts("j").values().stream().allMatch(n -> n == 2));
    assertThat(running()).hasSize(3).doesNotContainAnyElementsOf(tasks);
  }

  /** The pids of tasks that run; a dead child of a stopped process stays as a zombie. */
  private List<String> running() {
    try {
      return Files.exists(site.file("pids"))
          ? Files.readAllLines(site.file("pids")).stream().filter(OneStoreIT::runs).toList()
          : List.of();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean runs(String pid) {
    try {
      return !Files.readString(Path.of("/proc", pid, "stat")).contains(") Z ");
    } catch (IOException e) {
      return false; // It is gone.
    }
  }

  @Test
  void aJobWhoseStoredStatusesAreDamagedStartsNothingAndTheOthersGoOn() throws Exception {
    String config =
        """
        {"bistro_settings": {
           "nodes": {"levels": ["host"], "node_sources": [
             {"source": "range_label",
              "prefs": {"parent_level": "instance", "start": 1, "end": COUNT, "format": "h{i}"}}]},
           "resources": {}},
         "bistro_job->bad": {"owner": "e2e", "command": ["TASK"]},
         "bistro_job->good": {"owner": "e2e", "command": ["TASK"]}}
        """
            .replace("TASK", site.task("short.sh", "").file("short.sh").toString());
    site.config(config.replace("COUNT", "2"));
    Espalier first = site.start(scheduler("first", "local"));
    await()
        .atMost(PATIENCE)
        .until(() -> site.starts("good").size() + site.starts("bad").size() == 4);
    await().atMost(PATIENCE).until(() -> done(first, "bad") + done(first, "good") == 4);
    assertThat(first.signal("TERM").ended().code()).isZero();
    server.sql(
        "update "
            + SCHEMA
            + ".espalier_status set bits = 5 where node = 'h1' and job ="
            + (" (select id from " + SCHEMA + ".espalier_job where name = 'bad')"));
    site.config(config.replace("COUNT", "3"));

    Espalier again = site.start(scheduler("first", "local"));

    await().atMost(PATIENCE).until(() -> site.starts("good").containsKey("h3"));
    assertThat(site.starts("bad")).containsOnlyKeys("h1", "h2");
    assertThat(site.starts("good").values()).containsOnly(1);
    assertThat(new Http(again.url()).get("/api/v1/problems").toString())
        .contains("job bad starts nothing: what is stored of its tasks cannot be read")
        .contains("node h1");
  }

  private static long done(Espalier scheduler, String job) {
    return Site.number(new Http(scheduler.url()).get("/api/v1/jobs/" + job), "progress", "done");
  }

  @Test
  void aStoppedOneIsOutwaitedOnlyWhenThatIsWantedAndEndsWhenItGoesOn() throws Exception {
    Espalier first = site.start(scheduler("first", "simulated", "--store-proof-ms", "3000"));
    first.url();
    first.signal("STOP");

    assertThat(site.espalier(scheduler("second", "simulated")).code()).isEqualTo(2);
    Espalier second = site.start(scheduler("second", "simulated", "--take-over"));
    second.url();
    assertThat(second.stderr()).contains("is taken when its row has not changed for 3 s");

    first.signal("CONT");
    Ended ended = first.ended();
    assertThat(ended.code()).isEqualTo(1);
    // By its next look at the row, or by a write, whatever comes first.
    assertThat(ended.stderr())
        .containsPattern("was taken over by the scheduler on host|belongs to scheduler epoch 2");
    assertThat(second.isAlive()).isTrue();
  }
}
