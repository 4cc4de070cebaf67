package io.espalier.e2e;

import static io.espalier.e2e.Site.at;
import static io.espalier.e2e.Site.number;
import static io.espalier.e2e.Site.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A limit that is lowered below its use ends real tasks, the youngest, and no others. */
class OverLimitIT {
  private static final String WAIT =
      "trap 'echo \"$node is told to end\"; note told; exit 1' TERM\n"
          + "while [ ! -e \"$site/go\" ]; do sleep 0.05; done";

  private static void until(String what, BooleanSupplier reached) {
    await(what).atMost(Duration.ofSeconds(60)).until(reached::getAsBoolean);
  }

  private static Set<String> nodes(Set<TaskProcesses.Task> tasks) {
    Set<String> nodes = new HashSet<>();
    tasks.forEach(task -> nodes.add(task.node()));
    return nodes;
  }

  private static List<Json> killed(Http http) {
    return http.events().stream()
        .filter(event -> text(event, "kind").equals("over_limit_killed"))
        .toList();
  }

  private static void limit(Http http, String what, int limit) {
    http.change("PUT", "/api/v1/limits/" + what, "{\"limit\": " + limit + "}");
  }

  /** What the history says of the first attempt at a task. */
  private static Json first(Http http, String node) {
    return at(http.get("/api/v1/jobs/work/tasks/" + node), "history", "attempts", "0");
  }

  @Test
  void the_youngest_of_a_host_are_ended_and_run_again_when_there_is_room(@TempDir Path directory)
      throws Exception {
    Site site =
        new Site(directory)
            .task("task.sh", WAIT)
            .config(
                """
                {"bistro_settings": {
                  "nodes": {"levels": ["host", "shard"], "node_order": "original", "node_sources": [
                    {"source": "manual", "prefs": {"h1": ["a", "b", "c", "d"], "h2": ["e"]}}]},
                  "resources": {"host": {
                    "slots": {"limit": 2, "default": 1, "kill_over_limit_after_sec": 1}}}},
                 "bistro_job->work": {"owner": "e2e", "command": ["./task.sh"],
                   "backoff": [1, "fail"]}}
                """);
    TaskProcesses processes = new TaskProcesses(directory);
    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      until("the first start", () -> site.starts("work").size() == 3);
      limit(http, "host/slots/h1", 4);
      until("all run", () -> processes.alive().size() >= 5 && site.starts("work").size() == 5);
      Set<TaskProcesses.Task> all = processes.alive();
      limit(http, "host/slots/h1", 2);
      until("the youngest end", () -> nodes(processes.alive()).equals(Set.of("a", "b", "e")));
      assertThat(all).as("the others are the same processes").containsAll(processes.alive());
      until("their ends are known", () -> number(http.get("/api/v1/running"), "total") == 3);

      assertThat(killed(http))
          .extracting(event -> text(event, "data", "node"))
          .containsExactly("d", "c");
      for (Json event : killed(http)) {
        assertThat(at(event, "data", "over_node")).isEqualTo(Json.of("h1"));
        assertThat(number(event, "data", "used")).isEqualTo(4);
        assertThat(number(event, "data", "limit")).isEqualTo(2);
      }
      for (String node : List.of("c", "d")) {
        Json attempt = first(http, node);
        assertThat(text(attempt, "end")).isEqualTo("killed");
        assertThat(text(attempt, "stop_reason")).isEqualTo("over_limit");
        assertThat(text(attempt, "status")).isEqualTo("incomplete_backoff");
        assertThat(text(attempt, "message"))
            .startsWith("killed as one of the youngest: 4 of slots were in use on h1");
        assertThat(http.get("/api/v1/logs?job=work&node=" + node).toString())
            .contains(node + " is told to end");
      }
      assertThat(daemon.stderr()).contains("killed as one of the youngest");

      // Killed is not failed: with one step of back-off they still have it when there is room.
      limit(http, "host/slots/h1", 4);
      until("they run again", () -> nodes(processes.alive()).containsAll(Set.of("c", "d")));
      site.write("go", "");
      until("all is done", () -> number(http.get("/api/v1/jobs/work"), "progress", "done") == 5);
      assertThat(site.starts("work"))
          .containsEntry("a", 1)
          .containsEntry("b", 1)
          .containsEntry("c", 2)
          .containsEntry("d", 2)
          .containsEntry("e", 1);
      assertThat(killed(http)).hasSize(2);
    }
    assertThat(site.notes().stream().filter(note -> note.what().equals("told"))).hasSize(2);
  }

  @Tag("slow")
  @Test
  void the_youngest_of_a_worker_are_ended_and_the_other_worker_goes_on(@TempDir Path directory)
      throws Exception {
    Site site =
        new Site(directory)
            .task("task.sh", WAIT)
            .config(
                """
                {"bistro_settings": {
                  "nodes": {"levels": ["shard"], "node_sources": [
                    {"source": "manual", "prefs": {"a": [], "b": [], "c": [], "d": []}}]},
                  "resources": {"worker": {
                    "slots": {"limit": 2, "default": 1, "kill_over_limit_after_sec": 1}}}},
                 "bistro_job->work": {"owner": "e2e", "command": ["./task.sh"],
                   "backoff": [1, "fail"]}}
                """);
    TaskProcesses processes = new TaskProcesses(directory);
    try (Pool pool = new Pool(site, 2)) {
      until("all run", () -> site.starts("work").size() == 4 && processes.alive().size() == 4);
      Http http = pool.http();
      Set<TaskProcesses.Task> all = processes.alive();
      limit(http, "worker/slots/w1", 0);
      until("two end", () -> processes.alive().size() == 2);
      Set<String> ended = nodes(all);
      ended.removeAll(nodes(processes.alive()));
      assertThat(all).as("the others are the same processes").containsAll(processes.alive());
      until("their ends are known", () -> number(http.get("/api/v1/running"), "total") == 2);
      assertThat(killed(http))
          .hasSize(2)
          .allSatisfy(event -> assertThat(text(event, "data", "over_node")).isEqualTo("w1"));
      for (String node : ended) {
        Json attempt = first(http, node);
        assertThat(text(attempt, "worker")).isEqualTo("w1");
        assertThat(text(attempt, "stop_reason")).isEqualTo("over_limit");
        assertThat(http.get("/api/v1/logs?job=work&node=" + node).toString())
            .contains(node + " is told to end");
      }
      limit(http, "worker/slots/w2", 4);
      until("they run on the other", () -> pool.running().getOrDefault("w2", 0L) == 4);
      site.write("go", "");
      until("all is done", () -> number(http.get("/api/v1/jobs/work"), "progress", "done") == 4);
      assertThat(killed(http)).hasSize(2);
      site.starts("work")
          .forEach((node, n) -> assertThat(n).as(node).isEqualTo(ended.contains(node) ? 2 : 1));
    }
  }
}
