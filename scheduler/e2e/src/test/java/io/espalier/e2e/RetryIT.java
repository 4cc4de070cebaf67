package io.espalier.e2e;

import static io.espalier.e2e.Site.at;
import static io.espalier.e2e.Site.number;
import static io.espalier.e2e.Site.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Retries that look at progress, with real tasks (docs/design/features.md#retries). */
class RetryIT {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private static String config(String retry) {
    return """
    {"bistro_settings": {
      "nodes": {"levels": ["db"], "node_sources": [{"source": "manual", "prefs": {"d": []}}]},
      "resources": {}},
     "bistro_job->copy": {"owner": "e2e", "command": ["./copy.sh"], "retry": RETRY}}
    """
        .replace("RETRY", retry);
  }

  /** Each attempt notes the checkpoint that it is handed. */
  private static final String BEGIN =
      """
      echo "$3" | grep -o '"checkpoint":{[^}]*}' >>"$site/handed" || echo none >>"$site/handed"
      """;

  @Test
  void killed_at_60_percent_the_next_attempt_gets_the_cursor_and_it_counts_as_partial(
      @TempDir Path directory) throws Exception {
    Site site =
        new Site(directory)
            .task(
                "copy.sh",
                BEGIN
                    + """
                    if [ $ESPALIER_TASK_ATTEMPT = 1 ]; then
                      echo '{"progress":{"done":60,"total":100,"cursor":"pk=60"}}' >>"$2"
                      exec sleep 1000
                    elif [ $ESPALIER_TASK_ATTEMPT = 2 ]; then
                      echo '{"progress":{"done":70,"total":100,"cursor":"pk=70"}}' >>"$2"
                      kill -9 $$
                    elif [ $ESPALIER_TASK_ATTEMPT = 3 ]; then
                      exit 1
                    fi
                    """)
            .config(config("{\"no_progress_backoff_sec\": [1]}"));
    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      String task = "/api/v1/jobs/copy/tasks/d";
      await()
          .atMost(PATIENCE)
          .until(() -> http.get(task).toString().contains("\"cursor\":\"pk=60\""));
      http.change("POST", task + "/kill", "{}");
      await().atMost(PATIENCE).until(() -> text(http.get(task), "status").equals("done"));
      Json.Obj ended = http.get(task);
      assertThat(number(ended, "attempts")).isEqualTo(4);
      assertThat(((Json.Arr) at(ended, "history", "attempts")).items())
          .extracting(each -> at(each, "made_progress"))
          .containsExactly(Json.of(true), Json.of(true), Json.of(false), Json.of(false));
      assertThat(((Json.Arr) at(ended, "history", "attempts")).items())
          .extracting(each -> ((Json.Obj) each).get("backoff_sec"))
          .containsExactly(null, null, Json.of(1), null);
    }
    List<String> handed = Files.readAllLines(site.file("handed"));
    assertThat(handed).hasSize(4);
    assertThat(handed.get(0)).isEqualTo("none");
    assertThat(handed.get(1)).contains("\"cursor\":\"pk=60\"").contains("\"done\":60");
    assertThat(handed.get(2)).contains("\"cursor\":\"pk=70\"");
    assertThat(handed.get(3)).contains("\"cursor\":\"pk=70\"");
  }

  @Test
  void explain_says_the_wait_and_a_kill_of_the_scheduler_forgets_no_count(@TempDir Path directory) {
    Site site =
        new Site(directory)
            .task("copy.sh", "echo error_backoff >\"$2\"; exit 1")
            .config(config("{\"no_progress_backoff_sec\": [0, 900]}"));
    String why = "/api/v1/jobs/copy/tasks/d/explain";
    String expected = "(900 s after 2nd failure without progress)";
    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      await().atMost(PATIENCE).until(() -> http.get(why).toString().contains(expected));
      daemon.signal("KILL").ended();
    }
    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      await().atMost(PATIENCE).until(() -> http.get(why).toString().contains(expected));
      Json.Obj task = http.get("/api/v1/jobs/copy/tasks/d");
      assertThat(number(task, "retries", "successive_no_progress")).isEqualTo(2);
      assertThat(number(task, "attempts")).isEqualTo(2);
    }
    assertThat(site.starts("copy").values()).containsExactly(2);
  }
}
