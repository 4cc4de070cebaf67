package io.espalier.e2e;

import static io.espalier.e2e.Site.number;
import static io.espalier.e2e.Site.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import io.espalier.e2e.Espalier.Ended;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A roll-out over real tasks, some of which fail, and a scheduler that is killed. */
class RolloutIT {
  private static final int HOSTS = 4;
  private static final int TASKS = HOSTS * 10;

  private static Site site(Path directory) {
    return new Site(directory)
        .task("task.sh", "[ ! -e \"$site/bad\" ] || { echo cannot upgrade >&2; exit 3; }")
        .config(
            """
            {"bistro_settings": {
              "nodes": {"levels": ["host", "disk"], "node_sources": [
                {"source": "range_label",
                 "prefs": {"parent_level": "instance", "start": 1, "end": 4, "format": "h{i}"}},
                {"source": "range_label",
                 "prefs": {"parent_level": "host", "start": 1, "end": 10,
                           "format": "{parent}-{i}"}}]},
              "resources": {"host": {"slots": {"limit": 4, "default": 1}}}},
             "bistro_job->upgrade": {"owner": "e2e", "command": ["./task.sh"],
               "backoff": [1, "repeat"],
               "rollout": {"stages": [1, 5, "100%"], "spread": "host", "approve": true,
                 "fail_when": {"failed_percent": 10, "min_samples": 2}}}}
            """);
  }

  private static void until(String what, BooleanSupplier reached) {
    await(what).atMost(Duration.ofSeconds(60)).until(reached::getAsBoolean);
  }

  /** Waits until the roll-out is there, and returns it. */
  private static Json.Obj rollout(Http http, int stage, String phase) {
    until(
        "stage " + stage + " is " + phase,
        () -> {
          Json.Obj job = http.get("/api/v1/jobs/upgrade");
          return job.get("rollout") != null
              && number(job, "rollout", "stage") == stage
              && text(job, "rollout", "phase").equals(phase);
        });
    return http.get("/api/v1/jobs/upgrade");
  }

  private static Set<String> hosts(Set<String> nodes) {
    return nodes.stream()
        .map(node -> node.substring(0, node.indexOf('-')))
        .collect(Collectors.toSet());
  }

  private static void espalier(Site site, Espalier daemon, String verb, String reason) {
    Ended ended = site.espalier(verb, "upgrade", "--reason", reason, "--server", daemon.url());
    assertThat(ended.code()).as(ended.stderr()).isZero();
  }

  @Test
  void failures_of_a_stage_halt_it_over_a_kill_until_somebody_acts(@TempDir Path directory)
      throws Exception {
    Site site = site(directory);
    TaskProcesses processes = new TaskProcesses(directory);
    Set<String> tried;
    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      rollout(http, 1, "waiting");
      assertThat(site.starts("upgrade")).as("a person opens the second stage").hasSize(1);
      site.write("bad", "");
      espalier(site, daemon, "promote", "the first one is fine");
      rollout(http, 2, "halted");
      until("what runs has ended", () -> processes.alive().isEmpty());
      assertThat(text(http.get("/api/v1/jobs/upgrade"), "state")).isEqualTo("halted");
      assertThat(http.response("/metrics").body())
          .contains("espalier_rollouts{phase=\"halted\"} 1.0");
      tried = new TreeSet<>(site.starts("upgrade").keySet());
      assertThat(tried).hasSizeBetween(3, 5);
      daemon.signal("KILL");
      assertThat(daemon.ended().code()).isEqualTo(128 + 9);
    }
    int starts = site.notes().size();
    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      Json.Obj halted = rollout(http, 2, "halted");
      assertThat(text(halted, "rollout", "reason")).contains("failed, 10 % allowed");
      Ended why =
          site.espalier("explain", "upgrade", tried.iterator().next(), "--server", daemon.url());
      assertThat(why.stdout()).contains("stage 2 of 3 (5): ", "failed, 10 % allowed");
      assertThat(site.notes()).as("it starts nothing").hasSize(starts);

      // With the cause gone, the stage goes on; its tasks are spread over the hosts.
      Files.delete(site.file("bad"));
      espalier(site, daemon, "resume", "mended");
      rollout(http, 2, "waiting");
      Set<String> second = site.starts("upgrade").keySet();
      assertThat(second).hasSize(5).containsAll(tried);
      assertThat(hosts(second)).hasSize(HOSTS);
      espalier(site, daemon, "promote", "the others are fine");
      until(
          "all is done",
          () -> number(http.get("/api/v1/jobs/upgrade"), "progress", "done") == TASKS);
      rollout(http, 3, "passed");
      assertThat(text(http.get("/api/v1/jobs/upgrade"), "state")).isEqualTo("succeeded");
    }
    assertThat(site.starts("upgrade")).hasSize(TASKS);
    Set<String> again =
        site.starts("upgrade").entrySet().stream()
            .filter(each -> each.getValue() > 1)
            .map(Map.Entry::getKey)
            .collect(Collectors.toSet());
    assertThat(tried).as("only what has failed runs again").containsAll(again);
  }
}
