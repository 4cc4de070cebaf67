package io.espalier.e2e;

import static io.espalier.e2e.Site.at;
import static io.espalier.e2e.Site.number;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What operators change outlives the scheduler, and ends when they said. */
class SteeringIT {
  private static void until(BooleanSupplier reached) {
    await().atMost(Duration.ofSeconds(30)).until(reached::getAsBoolean);
  }

  @Test
  void a_scheduler_started_paused_starts_nothing_before_the_brake_is_released(
      @TempDir Path directory) throws Exception {
    Site site =
        new Site(directory)
            .task("task.sh", "true")
            .config(
                """
                {"bistro_settings": {
                  "nodes": {"levels": ["host"], "node_sources": [
                    {"source": "manual", "prefs": {"h1": [], "h2": []}}]},
                  "resources": {}},
                 "bistro_job->j": {"owner": "e2e", "command": ["./task.sh"]}}
                """);
    try (Espalier daemon = site.daemon("--paused")) {
      Http http = new Http(daemon.url());
      until(() -> http.response("/api/v1/jobs/j").statusCode() == 200);
      Json.Obj explained = http.get("/api/v1/jobs/j/tasks/h1/explain");
      assertThat(at(explained, "reasons", "0", "message").toString())
          .contains("started with --paused");
      daemon.signal("KILL").ended();
    }
    assertThat(site.starts("j")).isEmpty();

    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      until(() -> http.response("/api/v1/jobs/j").statusCode() == 200);
      assertThat(at(http.get("/api/v1/brakes"), "brakes", "0", "reason"))
          .as("as durable as any brake")
          .isEqualTo(Json.of("started with --paused"));
      assertThat(site.starts("j")).isEmpty();
      http.post("/api/v1/brakes/release", "{}");
      until(() -> number(http.get("/api/v1/jobs/j"), "progress", "done") == 2);
    }
  }

  @Test
  void a_request_that_comes_again_after_kill_9_gets_its_answer_and_changes_nothing(
      @TempDir Path directory) throws Exception {
    Site site =
        new Site(directory)
            .task("task.sh", "true")
            .config(
                """
                {"bistro_settings": {
                  "nodes": {"levels": ["host"], "node_sources": [
                    {"source": "manual", "prefs": {"h1": [], "h2": []}}]},
                  "resources": {}},
                 "bistro_job->j": {"owner": "e2e", "command": ["./task.sh"]}}
                """);
    String rerun = "{\"selector\": {\"nodes\": [\"h1\"]}, \"expect\": 1}";
    HttpResponse<String> first;
    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      until(() -> number(http.get("/api/v1/jobs/j"), "progress", "done") == 2);
      first = http.keyed("k1", "/api/v1/jobs/j/rerun", rerun);
      daemon.signal("KILL").ended();
    }
    assertThat(first.statusCode()).isEqualTo(200);
    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      until(() -> http.response("/api/v1/jobs/j").statusCode() == 200);
      HttpResponse<String> again = http.keyed("k1", "/api/v1/jobs/j/rerun", rerun);
      assertThat(again.body()).isEqualTo(first.body());
      assertThat(again.headers().firstValue("Idempotency-Replayed")).contains("true");
      assertThat(http.keyed("k1", "/api/v1/jobs/j/rerun", "{}").statusCode()).isEqualTo(422);
      assertThat(reruns(http)).isEqualTo(1);
      until(() -> number(http.get("/api/v1/jobs/j"), "progress", "done") == 2);
      assertThat(http.keyed("k2", "/api/v1/jobs/j/rerun", rerun).statusCode()).isEqualTo(200);
      assertThat(reruns(http)).isEqualTo(2);
    }
  }

  private static long reruns(Http http) {
    return http.events().stream()
        .filter(event -> at(event, "kind").equals(Json.of("rerun")))
        .count();
  }

  @Test
  void limits_pauses_and_tasks_to_run_again_survive_kill_9(@TempDir Path directory)
      throws Exception {
    Site site =
        new Site(directory)
            .task("task.sh", "while [ ! -e \"$site/go\" ]; do sleep 0.1; done")
            .config(
                """
                {"bistro_settings": {
                  "nodes": {"levels": ["host", "shard"], "node_order": "original", "node_sources": [
                    {"source": "manual", "prefs": {"h1": ["a", "b", "c"], "h2": ["d", "e"]}}]},
                  "resources": {"host": {"slots": {"limit": 1, "default": 1}}}},
                 "bistro_job->first": {"owner": "e2e", "command": ["./task.sh"]},
                 "bistro_job->second": {"owner": "e2e", "command": ["./task.sh"],
                   "depends_on": ["first"], "resources": {"slots": 0}}}
                """);
    TaskProcesses processes = new TaskProcesses(directory);
    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      until(() -> site.starts("first").size() == 2);
      http.change("PUT", "/api/v1/limits/host/slots/h1", "{\"limit\": 3, \"reason\": \"more\"}");
      until(() -> site.starts("first").size() == 4);
      http.change("PUT", "/api/v1/limits/host/slots", "{\"limit\": 0}");
      http.post("/api/v1/jobs/second/pause", "{\"reason\": \"wait\", \"expires_in_seconds\": 900}");
      site.write("go", "");
      until(() -> number(http.get("/api/v1/jobs/first"), "progress", "done") == 4);
      Json.Obj rerun =
          http.change(
              "POST",
              "/api/v1/jobs/first/rerun",
              "{\"selector\": {\"nodes\": [\"d\"]}, \"expect\": 1}");
      assertThat(number(rerun, "changed")).isEqualTo(1);
      daemon.signal("KILL").ended();
    }
    until(() -> processes.alive().isEmpty());
    assertThat(site.starts("second")).isEmpty();

    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      until(() -> http.response("/api/v1/jobs/first").statusCode() == 200);
      Json.Obj limits = http.get("/api/v1/limits");
      assertThat(number(limits, "overrides", "0", "limit")).isZero();
      assertThat(at(limits, "overrides", "1", "node")).isEqualTo(Json.of("h1"));
      Json.Obj explained = http.get("/api/v1/jobs/first/tasks/d/explain");
      assertThat(at(explained, "status")).isEqualTo(Json.of("unstarted"));
      assertThat(at(explained, "reasons", "0", "message").toString())
          .contains("the limit of 0 is an override of the configured 1 for all of level host");
      http.change("DELETE", "/api/v1/limits/host/slots", "");
      until(() -> number(http.get("/api/v1/jobs/first"), "progress", "done") == 5);
      assertThat(site.starts("first").get("d")).isEqualTo(2);
      assertThat(site.starts("first").get("a")).isEqualTo(1);
      assertThat(site.starts("second")).isEmpty();
      http.post("/api/v1/jobs/second/pause", "{\"expires_in_seconds\": 0.5}");
      until(() -> number(http.get("/api/v1/jobs/second"), "progress", "done") == 5);
    }
  }
}
