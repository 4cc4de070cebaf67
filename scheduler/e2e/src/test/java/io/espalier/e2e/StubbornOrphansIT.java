package io.espalier.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tasks that ignore TERM and should not run any more are ended all the same, and it is told. */
@Tag("slow")
class StubbornOrphansIT {
  private static final String NODES =
      "{\"h1\": {\"children\": [\"a\"]}, \"h2\": {\"children\": []}}";

  private static void until(BooleanSupplier reached) {
    await().atMost(Duration.ofSeconds(60)).until(reached::getAsBoolean);
  }

  private static String config(String nodes) {
    return """
        {"bistro_settings": {
           "nodes": {"levels": ["host", "shard"], "node_sources": [
             {"source": "manual", "prefs": %s}]},
           "resources": {}, "kill_orphan_tasks_after_sec": 0,
           "kill_subprocess": {"method": "term"}},
         "bistro_job->deaf": {"owner": "e2e", "command": ["./deaf.sh"]}}
        """
        .formatted(nodes);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        // An ancestor is disabled.
        "{\"h1\": {\"children\": [\"a\"], \"disabled\": true}, \"h2\": {\"children\": []}}",
        // The node is gone.
        "{\"h1\": {\"children\": []}, \"h2\": {\"children\": []}}"
      })
  void a_task_that_ignores_TERM_is_killed_when_its_node_may_not_run_it(
      String withoutIt, @TempDir Path directory) throws Exception {
    Site site =
        new Site(directory)
            .task("deaf.sh", "trap '' TERM\nnote deaf\nwhile :; do sleep 0.2; done")
            .config(config(NODES));
    TaskProcesses processes = new TaskProcesses(directory);
    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      until(() -> site.notes().stream().anyMatch(note -> note.what().equals("deaf")));
      site.config(config(withoutIt));
      until(() -> processes.alive().isEmpty());
      until(() -> methods(http).contains("kill"));
      assertThat(methods(http)).startsWith("term", "term", "kill");
      until(() -> http.get("/api/v1/running").toString().contains("\"total\":0"));
      assertThat(http.get("/api/v1/problems").toString()).doesNotContain("orphan");
    }
  }

  /** How orphans were killed, in order. */
  private static List<String> methods(Http http) {
    List<String> methods = new ArrayList<>();
    for (Json event : http.events()) {
      if (Site.text(event, "kind").equals("orphan_killed")) {
        methods.add(Site.text(event, "data", "method"));
      }
    }
    return methods;
  }
}
