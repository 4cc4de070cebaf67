package io.espalier.e2e;

import static io.espalier.e2e.Site.at;
import static io.espalier.e2e.Site.number;
import static io.espalier.e2e.Site.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import io.espalier.e2e.Espalier.Ended;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A daemon that follows its configuration, and the commands that talk to it. */
class DaemonIT {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Two hosts of three shards, one slot each; the rest of the settings and the jobs follow. */
  private static String settings(String more) {
    return """
    "bistro_settings": {
      "nodes": {"levels": ["host", "shard"], "node_sources": [
        {"source": "manual", "prefs": {"h1": ["a", "b", "c"], "h2": ["d", "e", "f"]}}]},
      "resources": {"host": {"slots": {"limit": 1, "default": 1}}}%s}
    """
        .formatted(more);
  }

  private static String config(String... parts) {
    return "{" + String.join(",\n", parts) + "}\n";
  }

  private static void until(BooleanSupplier reached) {
    await().atMost(PATIENCE).until(reached::getAsBoolean);
  }

  @Test
  void an_edit_takes_effect_while_it_runs_and_an_invalid_one_leaves_the_last_good_in_force(
      @TempDir Path directory) throws Exception {
    String slow = "\"bistro_job->slow\": {\"owner\": \"e2e\", \"command\": [\"./slow.sh\"]";
    String quick = "\"bistro_job->quick\": {\"owner\": \"e2e\", \"command\": [\"./quick.sh\"]";
    String free = ", \"resources\": {\"slots\": 0}}";
    Site site =
        new Site(directory)
            .task("slow.sh", "sleep 60")
            .task("quick.sh", "")
            .config(config(settings(""), slow + "}"));
    TaskProcesses processes = new TaskProcesses(directory);
    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      until(() -> site.starts("slow").size() == 2);

      // A new job.
      long edited = System.nanoTime();
      site.config(config(settings(""), slow + "}", quick + free));
      until(() -> site.starts("quick").size() == 6);
      // About a second to notice; this is no measurement, only far below any period of refreshes.
      assertThat(Duration.ofNanos(System.nanoTime() - edited)).isLessThan(Duration.ofSeconds(15));
      until(() -> number(http.get("/api/v1/jobs/quick"), "progress", "done") == 6);

      // Broken: shown, and nothing changes.
      site.config("{\"bistro_settings\": {\"nodes\": [");
      until(() -> !((Json.Arr) at(http.get("/api/v1/problems"), "problems")).items().isEmpty());
      assertThat(at(http.get("/api/v1/problems"), "config_in_force")).isEqualTo(Json.of(true));
      assertThat(number(http.get("/api/v1/problems"), "problems", "0", "line")).isOne();
      assertThat(http.data("errors", "").toString()).contains("configuration");
      assertThat(((Json.Arr) at(http.get("/api/v1/jobs"), "jobs")).items()).hasSize(2);
      assertThat(http.response("/healthz").statusCode()).isEqualTo(200);

      // One invalid job does not stop the others, nor the edit.
      site.config(
          config(
              settings(""),
              slow + "}",
              quick + free,
              "\"bistro_job->more\": {\"owner\": \"e2e\", \"command\": [\"./quick.sh\"]" + free,
              "\"bistro_job->wrong\": {\"owner\": 5, \"priorty\": 1}"));
      until(() -> site.starts("more").size() == 6);
      until(() -> http.response("/api/v1/jobs/wrong").statusCode() == 200);
      assertThat(at(http.get("/api/v1/jobs/wrong"), "valid")).isEqualTo(Json.of(false));
      assertThat(at(http.get("/api/v1/jobs/wrong"), "problems").toString())
          .contains("priorty", "priority");
      assertThat(http.data("errors", "")).isEqualTo(Json.Obj.EMPTY);

      // Disabled: what runs goes on, since nothing says that orphans are killed.
      site.config(config(settings(""), slow + ", \"enabled\": false}", quick + free));
      until(() -> at(http.get("/api/v1/jobs/slow"), "enabled").equals(Json.of(false)));
      assertThat(processes.alive()).hasSize(2);

      // Now it says so.
      site.config(
          config(
              settings(", \"kill_orphan_tasks_after_sec\": 0"),
              slow + ", \"enabled\": false}",
              quick + free));
      until(() -> processes.alive().isEmpty());
      assertThat(site.starts("slow")).hasSize(2);

      // A job that is gone is gone from the answers as well, and can come back to what was done.
      site.config(config(settings(""), slow + ", \"enabled\": false}"));
      until(() -> http.response("/api/v1/jobs/quick").statusCode() == 404);
      site.config(config(settings(""), slow + ", \"enabled\": false}", quick + free));
      until(() -> http.response("/api/v1/jobs/quick").statusCode() == 200);
      until(() -> number(http.get("/api/v1/jobs/quick"), "progress", "done") == 6);
      assertThat(site.starts("quick")).allSatisfy((node, count) -> assertThat(count).isOne());

      // More room: the limit counts from now on.
      site.config(
          config(settings("").replace("\"limit\": 1", "\"limit\": 2"), slow + "}", quick + free));
      until(() -> processes.alive().size() == 4);
    }
    until(() -> processes.alive().isEmpty());
  }

  @Test
  void orphans_of_a_deleted_job_and_of_a_removed_node_are_killed_when_their_time_has_come(
      @TempDir Path directory) throws Exception {
    String one = "\"bistro_job->one\": {\"owner\": \"e2e\", \"command\": [\"./slow.sh\"]}";
    String two =
        "\"bistro_job->two\": {\"owner\": \"e2e\", \"command\": [\"./slow.sh\"],"
            + " \"resources\": {\"slots\": 0}, \"filters\": {\"shard\": {\"whitelist\": [\"f\"]}}}";
    String killing = settings(", \"kill_orphan_tasks_after_sec\": 0.2");
    Site site = new Site(directory).task("slow.sh", "sleep 60").config(config(killing, one, two));
    TaskProcesses processes = new TaskProcesses(directory);
    try (Espalier daemon = site.daemon()) {
      daemon.url();
      until(() -> site.starts("one").size() == 2 && site.starts("two").size() == 1);
      site.config(config(killing.replace(", \"f\"]", "]"), one, two));
      until(() -> processes.alive().stream().noneMatch(t -> t.job().equals("two")));
      assertThat(processes.alive()).extracting(TaskProcesses.Task::job).contains("one");
      site.config(config(killing));
      until(() -> processes.alive().isEmpty());
    }
  }

  @Test
  void the_modern_api_health_and_metrics_answer(@TempDir Path directory) throws Exception {
    Site site =
        new Site(directory)
            .task("slow.sh", "sleep 60")
            .config(
                config(
                    settings(""),
                    "\"bistro_job->slow\": {\"owner\": \"e2e\", \"command\": [\"./slow.sh\"]}"));
    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      until(() -> site.starts("slow").size() == 2);
      until(() -> number(http.get("/api/v1/running"), "total") == 2);
      assertThat(text(http.get("/healthz"), "status")).isEqualTo("up");
      assertThat(http.response("/readyz").statusCode()).isEqualTo(200);
      assertThat(http.response("/metrics").body())
          .contains("espalier_job_tasks{espalier_job=\"slow\",state=\"running\"} 2.0")
          .contains("espalier_status_commits_total");
      assertThat(http.response("/api/v1/openapi.yaml").body()).startsWith("openapi:");
      String waiting = site.starts("slow").containsKey("a") ? "b" : "a";
      Json explain = http.get("/api/v1/jobs/slow/tasks/" + waiting + "/explain");
      assertThat(at(explain, "startable")).isEqualTo(Json.of(false));
      assertThat(text(explain, "reasons", "0", "kind")).isEqualTo("resource");
      assertThat(text(explain, "reasons", "0", "node")).isEqualTo("h1");
      assertThat(number(explain, "reasons", "0", "free")).isZero();
      HttpResponse<String> unknown = http.response("/api/v1/jobs/nosuch");
      assertThat(unknown.statusCode()).isEqualTo(404);
      assertThat(unknown.headers().firstValue("content-type").orElse(""))
          .startsWith("application/problem+json");
      assertThat(text(Espalier.parsed(unknown.body()), "detail")).contains("nosuch");
    }
  }

  @Test
  void the_commands_work_against_a_daemon(@TempDir Path directory) throws Exception {
    Site site =
        new Site(directory)
            .task("slow.sh", "echo hello from $node; [ -e \"$site/fast\" ] || sleep 60")
            .task("doomed.sh", "note end; echo failed >\"$2\"; exit")
            .config(
                config(
                    settings(""),
                    "\"bistro_job->slow\": {\"owner\": \"e2e\", \"command\": [\"./slow.sh\"]}",
                    "\"bistro_job->doomed\": {\"owner\": \"e2e\", \"command\": [\"./doomed.sh\"],"
                        + " \"level_for_tasks\": \"instance\"}"));
    try (Espalier daemon = site.daemon()) {
      String url = daemon.url();
      Http http = new Http(url);
      until(() -> site.starts("slow").size() == 2);
      until(() -> number(http.get("/api/v1/jobs/doomed"), "progress", "failed") == 1);
      String running =
          site.starts("slow").containsKey("a")
              ? "a"
              : site.starts("slow").containsKey("b") ? "b" : "c";

      Ended jobs = ask(site, url, "jobs");
      assertThat(jobs.code()).as(jobs.stderr()).isZero();
      assertThat(jobs.stdout().lines().toList().get(0)).startsWith("JOB ").contains("RUNNING");
      assertThat(jobs.stdout()).containsPattern("slow +shard +running +0 +6 +0 +2 +4 +0 +0");
      Json listed = ask(site, url, "jobs", "--json").json();
      assertThat(((Json.Arr) at(listed, "jobs")).items()).hasSize(2);

      assertThat(ask(site, url, "tasks", "slow", "--status", "running", "--json").json().toString())
          .contains("\"" + running + "\"");
      assertThat(ask(site, url, "tasks", "slow").stdout().lines()).hasSize(7);
      assertThat(ask(site, url, "explain", "slow", running).stdout()).contains("running");
      assertThat(ask(site, url, "logs", "slow", running).stdout())
          .contains("hello from " + running);

      Ended paused = ask(site, url, "pause", "slow", "--reason", "maintenance");
      assertThat(paused.code()).as(paused.stderr()).isZero();
      until(() -> at(http.get("/api/v1/jobs/slow"), "paused").equals(Json.of(true)));
      assertThat(text(http.get("/api/v1/jobs/slow"), "pause_reason")).isEqualTo("maintenance");
      assertThat(ask(site, url, "jobs").stdout()).containsPattern("slow +shard +paused");
      assertThat(ask(site, url, "kill", "slow", running).code()).isZero();
      until(() -> number(http.get("/api/v1/running"), "total") == 1);
      // The slot is free, and nobody takes it.
      assertThat(site.starts("slow")).hasSize(2);
      Ended notRunning = ask(site, url, "kill", "slow", running);
      assertThat(notRunning.code()).isEqualTo(1);
      assertThat(notRunning.stderr()).startsWith("espalier: ").hasLineCount(1);

      site.write("fast", "");
      assertThat(ask(site, url, "resume", "slow").code()).isZero();
      until(() -> site.starts("slow").size() >= 3);

      assertThat(ask(site, url, "forgive", "doomed").stdout()).contains("doomed: 1 task");
      until(() -> site.starts("doomed").values().stream().mapToInt(i -> i).sum() == 2);

      Ended unknown = ask(site, url, "forgive", "nosuch");
      assertThat(unknown.code()).isEqualTo(1);
      assertThat(unknown.stderr()).contains("nosuch").hasLineCount(1);
      assertThat(ask(site, url, "explain", "slow", "nosuch").code()).isEqualTo(1);
      assertThat(ask(site, url, "events").stdout()).contains("job_paused").contains("maintenance");
      assertThat(ask(site, url, "running").code()).isZero();

      // A second scheduler on the same directory, and commands that want it for themselves.
      Ended second =
          site.espalier(
              "scheduler", "--config", "site.json", "--runner", "local", "--http", "127.0.0.1:0");
      assertThat(second.code()).isEqualTo(2);
      assertThat(second.stderr())
          .startsWith("espalier: ")
          .contains(".espalier/site")
          .hasLineCount(1);
      Ended offline = site.espalier("jobs", "--data-dir", ".espalier/site");
      assertThat(offline.code()).isEqualTo(2);
      assertThat(offline.stderr()).startsWith("espalier: ").hasLineCount(1);

      // A port in use: refused before any task is started.
      Ended port =
          site.espalier(
              "run",
              "site.json",
              "--data-dir",
              "other",
              "--http",
              url.substring("http://".length()));
      assertThat(port.code()).isEqualTo(2);
      assertThat(port.stderr()).contains("port is in use").hasLineCount(1);
      assertThat(site.starts("doomed").values().stream().mapToInt(i -> i).sum()).isEqualTo(2);

      assertThat(daemon.signal("TERM").ended().code()).isZero();
      Ended unreachable = ask(site, url, "jobs");
      assertThat(unreachable.code()).isEqualTo(3);
      assertThat(unreachable.stderr()).contains(url).hasLineCount(1);
    }
  }

  private static Ended ask(Site site, String url, String... command) {
    List<String> arguments = new ArrayList<>(List.of(command));
    arguments.addAll(List.of("--server", url));
    return site.espalier(arguments.toArray(String[]::new));
  }
}
