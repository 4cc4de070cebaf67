package io.espalier.e2e;

import static io.espalier.e2e.Site.number;
import static io.espalier.e2e.Site.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import io.espalier.e2e.Espalier.Ended;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One bad host of twelve, with real tasks, and a scheduler that is killed. */
class QuarantineIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int HOSTS = 12;
  private static final int DISKS = 10;

  private static Site site(Path directory) {
    StringBuilder hosts = new StringBuilder();
    for (int host = 0; host < HOSTS; host++) {
      hosts.append(host == 0 ? "" : ", ").append("\"h%02d\": [".formatted(host));
      for (int disk = 0; disk < DISKS; disk++) {
        hosts.append(disk == 0 ? "" : ", ").append("\"h%02d-%d\"".formatted(host, disk));
      }
      hosts.append(']');
    }
    return new Site(directory)
        .task("task.sh", "case $node in h07-*) echo disk error >&2; exit 3;; esac")
        .config(
            """
            {"bistro_settings": {
              "nodes": {"levels": ["host", "disk"], "node_sources": [
                {"source": "manual", "prefs": {HOSTS}}]},
              "resources": {"host": {"slots": {"limit": 1, "default": 1}}}},
             "bistro_job->scrub": {"owner": "e2e", "command": ["./task.sh"],
               "backoff": [3600, "repeat"], "quarantine": "auto"}}
            """
                .replace("HOSTS", hosts));
  }

  private static boolean isThrough(Http http) {
    return number(http.get("/api/v1/jobs/scrub"), "progress", "done") == (HOSTS - 1) * DISKS;
  }

  @Test
  void a_bad_host_is_closed_over_a_kill_and_until_it_is_lifted(@TempDir Path directory)
      throws Exception {
    Site site = site(directory);
    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      await()
          .atMost(PATIENCE)
          .until(
              () ->
                  !((Json.Arr) Site.at(http.get("/api/v1/quarantines"), "quarantines"))
                      .items()
                      .isEmpty());
      daemon.signal("KILL");
      assertThat(daemon.ended().code()).isEqualTo(128 + 9);
    }
    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      await().atMost(PATIENCE).until(() -> isThrough(http));
      Json quarantine = Site.at(http.get("/api/v1/quarantines"), "quarantines", "0");
      assertThat(text(quarantine, "words")).isEqualTo("host h07 for job scrub");
      assertThat(text(quarantine, "reason")).startsWith("100 % of the failures of scrub are under");
      long tried =
          site.starts("scrub").keySet().stream().filter(node -> node.startsWith("h07")).count();
      assertThat(tried).as("some of its tasks were spared").isLessThan(DISKS);
      String[] server = {"--server", daemon.url()};
      Ended listed = site.espalier("quarantines", server[0], server[1]);
      assertThat(listed.stdout()).contains("host h07", "scrub", "closed");
      site.task("task.sh", "true");
      Ended lifted =
          site.espalier(
              "lift", "h07", "--job", "scrub", "--reason", "new disk", server[0], server[1]);
      assertThat(lifted.code()).as(lifted.stderr()).isZero();
      await()
          .atMost(PATIENCE)
          .until(
              () ->
                  number(http.get("/api/v1/jobs/scrub"), "progress", "done")
                      == HOSTS * DISKS - tried);
      assertThat(site.espalier("events", "--json", server[0], server[1]).stdout())
          .contains("quarantine_lifted", "new disk");
    }
  }
}
