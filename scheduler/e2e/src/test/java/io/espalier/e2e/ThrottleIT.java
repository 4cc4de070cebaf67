package io.espalier.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Running tasks that are told how fast to work, by a scheduler and through a worker. */
@Tag("slow")
class ThrottleIT {
  private static final String CONFIG =
      """
      {"bistro_settings": {
        "nodes": {"levels": ["host"], "node_sources": [{"source": "manual", "prefs": {"h": []}}]},
        "probes": {"lag": {"level": "host", "source": "push", "max_age": "10m",
                           "bad_above": 5, "good_below": 2}},
        "resources": {"host": {"slots": {"limit": 4, "default": 1, "follows": ["lag"]}}}},
       "bistro_job->scrub": {"owner": "e2e", "command": ["./task.sh"],
         "no_output_timeout_sec": 3}}
      """;

  /** Notes each change of the line, and ends when it is paused and then at full speed again. */
  private static final String TASK =
      """
      import os, sys, time
      sys.path.insert(0, SITE)
      import espalier_task
      with espalier_task.Task() as task:
          said, paused = None, 0
          while True:
              now = task.throttle()
              if now != said:
                  said = now
                  with open(SITE + "/said", "a") as out:
                      print(*now, file=out)
              if now[0] == 0:
                  paused += 0.05
              else:
                  print("working", flush=True)
              if paused > 4:
                  open(SITE + "/paused", "w").close()
                  if now[0] == 1:
                      break
              time.sleep(0.05)
      """;

  private static Site site(Path directory) throws IOException {
    Site site =
        new Site(directory)
            .task("task.sh", "exec python3 \"$site/task.py\" \"$@\"\n")
            .config(CONFIG);
    Files.copy(
        Path.of("../../config-examples/python/espalier_task.py"), site.file("espalier_task.py"));
    String here = "\"" + site.file("").toAbsolutePath() + "\"";
    Files.writeString(site.file("task.py"), TASK.replace("SITE", here));
    return site;
  }

  private static void send(Http http, double value) {
    http.put("/api/v1/probes/lag/h", "{\"value\": " + value + "}");
  }

  private static void awaitSaid(Site site, String... lines) {
    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(
            () ->
                assertThat(Files.readAllLines(site.file("said")))
                    .zipSatisfy(
                        List.of(lines), (line, start) -> assertThat(line).startsWith(start)));
  }

  /** A task that pauses longer than it may be silent is not stopped for that. */
  private static void slowsDownPausesAndGoesOn(Site site, String url) {
    Http http = new Http(url);
    send(http, 1);
    await().atMost(Duration.ofSeconds(60)).until(() -> Files.exists(site.file("said")));
    send(http, 9);
    awaitSaid(site, "1.0", "0.5 probe lag is 9");
    assertThat(site.espalier("explain", "scrub", "h", "--server", url).stdout())
        .contains("told to work at 50 %: probe lag is 9");
    send(http, 9);
    awaitSaid(site, "1.0", "0.5 probe lag is 9", "0.25 probe lag is 9");
    send(http, 9);
    awaitSaid(site, "1.0", "0.5 probe lag is 9", "0.25 probe lag is 9", "0.0 probe lag is 9");
    await().atMost(Duration.ofSeconds(60)).until(() -> Files.exists(site.file("paused")));
    await()
        .atMost(Duration.ofSeconds(60))
        .pollInterval(Duration.ofMillis(300))
        .until(
            () -> {
              send(http, 1);
              return Site.text(http.get("/api/v1/jobs/scrub"), "state").equals("succeeded");
            });
  }

  @Test
  void aTaskOfALocalRunnerIsTold(@TempDir Path directory) throws IOException {
    Site site = site(directory);
    try (Espalier daemon = site.daemon()) {
      slowsDownPausesAndGoesOn(site, daemon.url());
    }
  }

  @Test
  void aTaskOfAWorkerIsTold(@TempDir Path directory) throws IOException {
    Site site = site(directory);
    try (Pool pool = new Pool(site, 1)) {
      slowsDownPausesAndGoesOn(site, pool.url());
    }
  }
}
