package io.espalier.e2e;

import static io.espalier.e2e.Site.number;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import io.espalier.e2e.Espalier.Ended;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Brakes with real tasks, and a scheduler that is killed. */
class BrakeIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int TASKS = 12;

  private static Site site(Path directory) {
    return new Site(directory)
        .task("task.sh", "while [ ! -e \"$site/go\" ]; do sleep 0.05; done")
        .config(
            """
            {"bistro_settings": {
              "nodes": {"levels": ["host"], "node_sources": [{"source": "range_label",
                "prefs": {"parent_level": "instance", "start": 1, "end": TASKS, "format": "h{i}"}}]},
              "resources": {"instance": {"slots": {"limit": 4, "default": 1}}}},
             "bistro_job->scrub": {"owner": "e2e", "set": "upkeep", "command": ["./task.sh"]}}
            """
                .replace("TASKS", String.valueOf(TASKS)));
  }

  private static Ended espalier(Site site, Espalier daemon, String... command) {
    List<String> all = new ArrayList<>(List.of(command));
    all.addAll(List.of("--server", daemon.url()));
    Ended ended = site.espalier(all.toArray(String[]::new));
    assertThat(ended.code()).as(ended.stderr()).isZero();
    return ended;
  }

  @Tag("slow")
  @Test
  void a_worker_that_hangs_is_listed_after_a_second_until_it_has_confirmed(
      @TempDir Path directory) {
    Site site = site(directory);
    try (Pool pool = new Pool(site, 1, 60_000)) {
      Http http = pool.http();
      await().atMost(PATIENCE).until(() -> site.starts("scrub").size() == 4);
      pool.worker("w1").signal("STOP");
      Ended set = site.espalier("brake", "--reason", "the network is down", "--server", pool.url());
      assertThat(set.code()).as(set.stderr()).isZero();
      assertThat(set.stdout()).contains("not confirmed by w1:");
      assertThat(unconfirmed(http)).contains("\"w1\"");
      assertThat(site.espalier("jobs", "--server", pool.url()).stdout())
          .contains("not confirmed by w1");
      pool.worker("w1").signal("CONT");
      await().atMost(PATIENCE).until(() -> unconfirmed(http).equals("null"));
      site.write("go", "");
      await().atMost(PATIENCE).until(() -> progress(http, "done") == 4);
      assertThat(site.starts("scrub")).as("nothing has started").hasSize(4);
      Ended again = site.espalier("brake", "--server", pool.url());
      assertThat(again.stdout()).startsWith("nothing starts").doesNotContain("not confirmed");
      assertThat(site.espalier("release", "--server", pool.url()).code()).isZero();
      await().atMost(PATIENCE).until(() -> progress(http, "done") == TASKS);
      assertThat(site.starts("scrub").values()).as("each ran once").containsOnly(1);
    }
  }

  private static String unconfirmed(Http http) {
    Json.Arr brakes = (Json.Arr) Site.at(http.get("/api/v1/brakes"), "brakes");
    return String.valueOf(((Json.Obj) brakes.items().get(0)).get("unconfirmed_workers"));
  }

  private static long progress(Http http, String what) {
    return number(http.get("/api/v1/jobs/scrub"), "progress", what);
  }

  @Test
  void what_runs_goes_on_and_nothing_starts_over_a_kill_until_the_release(@TempDir Path directory)
      throws Exception {
    Site site = site(directory);
    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      await().atMost(PATIENCE).until(() -> site.starts("scrub").size() == 4);
      espalier(site, daemon, "brake", "--reason", "the network is down");
      espalier(site, daemon, "brake", "--set", "upkeep", "--factor", "0.5");
      site.write("go", "");
      await().atMost(PATIENCE).until(() -> progress(http, "done") == 4);
      assertThat(progress(http, "running")).isZero();
      assertThat(http.response("/metrics").body())
          .contains("espalier_brakes{target=\"all\"} 1.0")
          .contains("espalier_brakes{target=\"set\"} 1.0")
          .contains("espalier_brakes{target=\"node\"} 0.0");
      daemon.signal("KILL");
      assertThat(daemon.ended().code()).isEqualTo(128 + 9);
    }
    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      await().atMost(PATIENCE).until(() -> progress(http, "done") == 4);
      assertThat(espalier(site, daemon, "explain", "scrub", "h12").stdout())
          .contains("the network is down");
      assertThat(site.starts("scrub")).as("nothing has started").hasSize(4);
      espalier(site, daemon, "release", "--set", "upkeep");
      espalier(site, daemon, "release", "--reason", "it is back");
      await().atMost(PATIENCE).until(() -> progress(http, "done") == TASKS);
      assertThat(site.starts("scrub").values()).as("each ran once").containsOnly(1);
      String ofTheSet = espalier(site, daemon, "events", "--set", "upkeep", "--json").stdout();
      assertThat(ofTheSet).contains("brake_set", "brake_released", "\"set\":\"upkeep\"");
      assertThat(ofTheSet).as("of everything, not of the set").doesNotContain("it is back");
      assertThat(((Json.Arr) Site.at(http.get("/api/v1/brakes"), "brakes")).items()).isEmpty();
    }
  }
}
