package io.espalier.e2e;

import static io.espalier.e2e.Site.at;
import static io.espalier.e2e.Site.number;
import static io.espalier.e2e.Site.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What real tasks count, over deaths of schedulers and workers (docs/writing-tasks.md#counters).
 */
@Tag("slow")
class CountersIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final String CONFIG =
      """
      {"bistro_settings": {
         "nodes": {"levels": ["host", "db"], "node_sources": [
           {"source": "manual", "prefs": {"h": ["d"]}}]},
         "resources": {}},
       "bistro_job->work": {"owner": "e2e", "command": ["./task.sh"], "backoff": [1], "set": "s"}}
      """;

  /** The first attempt never ends by itself; the second counts what cannot be used, too. */
  private static final String TASK =
      """
      if [ $ESPALIER_TASK_ATTEMPT = 1 ]; then
        echo '{"count":{"rows":10}}' >>"$2"
        while [ ! -e "$site/more" ]; do sleep 0.1; done
        echo '{"count":{"rows":5,"bytes":9007199254740992}}' >>"$2"
        exec sleep 1000
      fi
      echo '{"count":{"rows":-1}}' >>"$2"
      echo '{"count":{"rows":9007199254740993}}' >>"$2"
      echo '{"count":{"rows":1e999999999}}' >>"$2"
      echo '{"count":{"rows":"ten"}}' >>"$2"
      { printf '{"count":{"rows":1'; seq -f ',"n%.0f":1' 1 10000 | tr -d '\\n'; echo '}}'; } >>"$2"
      { printf '{"count":{"'; head -c 50000 /dev/zero | tr '\\0' a; echo '":1}}'; } >>"$2"
      echo '{"count":{"rows":7}}' >>"$2"
      """;

  @Test
  void nothing_counts_twice_when_schedulers_and_workers_are_killed(@TempDir Path directory) {
    Site site = new Site(directory).task("task.sh", TASK).config(CONFIG);
    // The first attempt outlives the scheduler's restart, however slow the machine is.
    try (Pool pool = new Pool(site, 1, 20_000)) {
      awaitRows(pool, 10);
      pool.stopScheduler("KILL");
      pool.startScheduler();
      awaitRows(pool, 10);
      site.write("more", "");
      awaitRows(pool, 15);
      pool.worker("w1").signal("KILL").ended();
      pool.startWorker("w2");
      await()
          .atMost(PATIENCE)
          .until(() -> text(pool.http().get("/api/v1/jobs/work"), "state").equals("succeeded"));
      assertCounted(pool, site);
      pool.stopScheduler("KILL");
      pool.startScheduler();
      awaitRows(pool, 22);
      assertCounted(pool, site);
    }
  }

  private static void assertCounted(Pool pool, Site site) {
    Http http = pool.http();
    assertThat(rows(http.get("/api/v1/jobs/work"))).isEqualTo(22);
    assertThat(rows(http.get("/api/v1/sets/s"))).isEqualTo(22);
    assertThat(number(http.get("/api/v1/jobs/work/sums?under=h"), "counters", "rows"))
        .isEqualTo(22);
    Json.Obj history = (Json.Obj) at(http.get("/api/v1/jobs/work/tasks/d"), "history");
    assertThat(((Json.Arr) at(history, "attempts")).items())
        .extracting(attempt -> number(attempt, "counters", "rows"))
        .containsExactly(15L, 7L);
    assertThat(number(history, "counters", "rows")).isEqualTo(22);
    Espalier.Ended report = site.espalier("report", "work", "--server", pool.url());
    assertThat(report.code()).as(report.stderr()).isZero();
    assertThat(report.stdout())
        .contains("count.bytes,count.rows")
        .containsPattern("d,done,2,2,.*,9007199254740992,22\r\n");
    assertThat(http.get("/api/v1/logs?job=work&stream=statuses&limit=1000").toString())
        .contains("progress_refused")
        .contains("count has");
  }

  private static void awaitRows(Pool pool, long rows) {
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> assertThat(rows(pool.http().get("/api/v1/jobs/work"))).isEqualTo(rows));
  }

  private static long rows(Json.Obj jobOrSet) {
    for (Json counter :
        ((Json.Arr) Objects.requireNonNull(jobOrSet.get("counters"), "no counters")).items()) {
      if (text(counter, "name").equals("rows")) {
        return number(counter, "total");
      }
    }
    return 0;
  }
}
