package io.espalier.e2e;

import static io.espalier.e2e.Site.at;
import static io.espalier.e2e.Site.number;
import static io.espalier.e2e.Site.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import io.espalier.e2e.Espalier.Ended;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Trees that are not as usual, with real processes: one that empties, one of 64 levels. */
class TreeIT {
  private static final String NODES = "{\"h1\": [\"a\", \"b\", \"c\"], \"h2\": [\"d\"]}";
  private static final int LEVELS = 64;
  private static final int RESOURCES = 1_000;

  private static void until(String what, BooleanSupplier reached) {
    await(what).atMost(Duration.ofSeconds(60)).until(reached::getAsBoolean);
  }

  private static String refilled(String nodes) {
    return """
        {"bistro_settings": {
           "nodes": {"levels": ["host", "shard"], "node_order": "original", "node_sources": [
             {"source": "manual", "prefs": %s}]},
           "resources": {"host": {"slots": {"limit": 2, "default": 1}}}},
         "bistro_job->work": {"owner": "e2e", "command": ["./task.sh"]}}
        """
        .formatted(nodes);
  }

  @Test
  void a_tree_that_empties_and_refills_while_tasks_run_starts_none_of_them_twice(
      @TempDir Path directory) throws Exception {
    Site site =
        new Site(directory)
            .task(
                "task.sh",
                "while [ ! -e \"$site/go\" ] && [ ! -e \"$site/go.$node\" ]; do sleep 0.05; done")
            .config(refilled(NODES));
    TaskProcesses processes = new TaskProcesses(directory);
    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      until("three run", () -> site.starts("work").size() == 3 && processes.alive().size() == 3);
      Set<TaskProcesses.Task> before = processes.alive();

      site.config(refilled("{}"));
      until("no node is left", () -> tasks(http) == 0);
      assertThat(processes.alive()).as("nobody asked for orphans to be killed").isEqualTo(before);
      assertThat(http.response("/api/v1/jobs/work/tasks/a/explain").statusCode()).isEqualTo(404);
      // One of them ends while there is no tree.
      site.write("go.a", "");
      until("it is known", () -> number(http.get("/api/v1/running"), "total") == 2);

      site.config(refilled(NODES));
      until("the nodes are back", () -> tasks(http) == 4);
      until("the next one starts", () -> site.starts("work").containsKey("c"));
      assertThat(processes.alive()).containsAll(withoutA(before)).hasSize(3);
      site.write("go", "");
      until("all is done", () -> number(http.get("/api/v1/jobs/work"), "progress", "done") == 4);
      assertThat(number(http.get("/api/v1/running"), "total")).isZero();
      assertThat(text(http.get("/api/v1/jobs/work/tasks/a"), "status")).isEqualTo("done");
    }
    assertThat(site.starts("work")).hasSize(4).allSatisfy((node, n) -> assertThat(n).isOne());
  }

  private static long tasks(Http http) {
    return number(http.get("/api/v1/jobs/work"), "progress", "total");
  }

  private static Set<TaskProcesses.Task> withoutA(Set<TaskProcesses.Task> all) {
    return all.stream().filter(task -> !task.node().equals("a")).collect(Collectors.toSet());
  }

  /** A chain of nodes that ends in four, with resources all over it, and everything that caps. */
  private static String great() {
    List<String> levels = new ArrayList<>();
    List<String> sources = new ArrayList<>();
    List<String> resources = new ArrayList<>();
    for (int level = 1; level <= LEVELS; level++) {
      levels.add("\"l" + level + "\"");
      sources.add(
          """
          {"source": "range_label", "prefs": {
             "parent_level": "%s", "start": 1, "end": %d, "format": "l%d_{i}"}}
          """
              .formatted(
                  level == 1 ? "instance" : "l" + (level - 1), level < LEVELS ? 1 : 4, level));
      List<String> ofLevel = new ArrayList<>();
      for (int r = level; r <= RESOURCES; r += LEVELS) {
        ofLevel.add("\"r%d\": {\"limit\": %d, \"default\": 1}".formatted(r, 3 + r % 3));
      }
      resources.add("\"l%d\": {%s}".formatted(level, String.join(", ", ofLevel)));
    }
    return """
        {"bistro_settings": {
           "nodes": {"levels": [%s], "node_sources": [%s]},
           "resources": {%s, "instance": {"all": {"limit": 5, "default": 1}}},
           "scheduler": "fair_share",
           "queues": {"q1": {"max_slots": {"all": 2}}, "q2": {"max_fraction": {"r1": 0.9}}},
           "start_rates": {"l7": {"per_second": 200, "burst": 4}}},
         "bistro_job->capped": {"owner": "e2e", "command": ["./task.sh"], "queue": "q1",
            "max_concurrent": 1, "start_rate": {"per_second": 50, "burst": 1}},
         "bistro_job->heavy": {"owner": "e2e", "command": ["./task.sh"], "queue": "q2",
            "resources": {"r1": 3, "all": 3}, "reserve_after_sec": 0.1},
         "bistro_job->light": {"owner": "e2e", "command": ["./task.sh"]},
         "bistro_job->never": {"owner": "e2e", "command": ["./task.sh"],
            "resources": {"r1000": 9}}}
        """
        .formatted(
            String.join(", ", levels), String.join(", ", sources), String.join(", ", resources));
  }

  @Test
  void sixty_four_levels_and_a_thousand_resources_go_with_caps_rates_queues_and_reservations(
      @TempDir Path directory) throws Exception {
    Site site = new Site(directory).task("task.sh", "sleep 0.05").config(great());
    Ended valid = site.espalier("validate", "site.json");
    assertThat(valid.code()).as(valid.stdout() + valid.stderr()).isZero();
    TaskProcesses processes = new TaskProcesses(directory);
    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      until("ready", () -> http.response("/readyz").statusCode() == 200);
      for (String job : List.of("capped", "heavy", "light")) {
        until(job, () -> number(http.get("/api/v1/jobs/" + job), "progress", "done") == 4);
        assertThat(site.starts(job)).hasSize(4).allSatisfy((node, n) -> assertThat(n).isOne());
      }
      Json.Obj why = http.get("/api/v1/jobs/never/tasks/l64_1/explain");
      assertThat(at(why, "startable")).isEqualTo(Json.of(false));
      assertThat(((Json.Arr) at(why, "reasons")).items()).hasSize(1);
      assertThat(text(why, "reasons", "0", "message"))
          .contains("needs 9 of r1000", "it can never start while the limit is 4");
      assertThat(((Json.Arr) at(why, "path")).items()).hasSize(LEVELS + 1);
      long resources =
          IntStream.rangeClosed(0, LEVELS)
              .mapToLong(
                  i ->
                      ((Json.Arr) at(why, "path", Integer.toString(i), "resources")).items().size())
              .sum();
      assertThat(resources).isEqualTo(RESOURCES + 1);
    }
    assertThat(processes.alive()).isEmpty();
    assertThat(site.starts("never")).isEmpty();
    int together = 0;
    for (Site.Note note : site.notes()) {
      together += note.job().equals("capped") ? note.what().equals("start") ? 1 : -1 : 0;
      assertThat(together).as("of a job that may run once at a time").isBetween(0, 1);
    }
  }
}
