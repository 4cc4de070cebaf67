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

/** Tasks that use the helper for Python, under a real scheduler. */
class PythonTaskIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final String CONFIG =
      """
      {"bistro_settings": {
        "nodes": {"levels": ["db"], "node_sources": [{"source": "manual", "prefs": {"d": []}}]},
        "resources": {}, "backoff": [1]},
       "bistro_job->copy": {"owner": "e2e", "command": ["./copy.sh"], "config": {"rows": 9},
         "timeout_sec": 300}}
      """;

  private static final String TASK =
      """
      import espalier_task
      with espalier_task.Task() as task:
          assert (task.node, task.job) == ("d", "copy")
          assert 0 < task.seconds_left() <= 300
          with open("SITE/seen", "a") as seen:
              print(task.attempt, task.checkpoint.get("cursor"), task.previous, file=seen)
          task.count(rows=4)
          if task.attempt == 1:
              task.progress(done=4, total=task.config["rows"], cursor="pk=4")
              raise ValueError("no \\u00fcmlaut")
          if task.attempt == 2:
              task.progress(done=8, total=9, cursor="pk=8")
              task.incomplete(why="later")
      """;

  @Test
  void anAttemptGoesOnFromTheCheckpointOfTheOneBefore(@TempDir Path directory) throws Exception {
    Site site =
        new Site(directory)
            .task("copy.sh", "exec python3 \"$site/copy.py\" \"$@\"\n")
            .config(CONFIG);
    Path helper = Path.of("../../config-examples/python");
    Files.copy(helper.resolve("espalier_task.py"), site.file("espalier_task.py"));
    Files.writeString(
        site.file("copy.py"), TASK.replace("SITE", site.file("").toAbsolutePath().toString()));
    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      String task = "/api/v1/jobs/copy/tasks/d";
      await().atMost(PATIENCE).until(() -> text(http.get(task), "status").equals("done"));
      Json.Obj ended = http.get(task);
      assertThat(number(ended, "attempts")).isEqualTo(3);
      assertThat(((Json.Arr) at(ended, "history", "attempts")).items())
          .extracting(each -> at(each, "made_progress"))
          .containsExactly(Json.of(true), Json.of(true), Json.of(false));
      assertThat(ended.toString()).contains("no \u00fcmlaut").contains("\"rows\":12");
    }
    assertThat(Files.readAllLines(site.file("seen")))
        .isEqualTo(
            List.of(
                "1 None {}",
                "2 pk=4 {'exception': 'ValueError: no \u00fcmlaut'}",
                "3 pk=8 {'why': 'later'}"));
  }
}
