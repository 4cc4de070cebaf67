package io.espalier.e2e;

import static io.espalier.e2e.Site.number;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;

/** A daemon with jobs in every state, names of all kinds included: what the pages are shown. */
final class Orchard implements AutoCloseable {
  static final String LONG =
      "a-very-long-name-of-a-job-that-somebody-generated-from-a-template-with-many-parts-"
          + "2026-11-21T15-51-00Z-eu-west-1-production-canary-retry-42";

  /** A name that would be an image and a script if a page took it for HTML. */
  static final String EVIL = "<img src=x onerror=alert(1)>";

  private static final String CONFIG =
      """
      {
        "bistro_settings": {
          "nodes": {"levels": ["rack", "host", "volume"], "node_sources": [
            {"source": "manual", "prefs": {
              "r1": ["r1-h1", "r1-h2"], "r2": ["r2-h1", "r2-h2"], "رف-٣": ["מארח-日本語"],
              "r1-h1": ["r1-h1:v1", "r1-h1:v2", "r1-h1:v3"], "r1-h2": ["r1-h2:v1", "r1-h2:v2", "r1-h2:v3"],
              "r2-h1": ["r2-h1:v1", "r2-h1:v2", "r2-h1:v3"], "r2-h2": ["r2-h2:v1", "r2-h2:v2", "r2-h2:v3"],
              "מארח-日本語": ["ñandú/ø:v1", "r3 with spaces & <b>tags</b>", "r3?q=1#x"]}}]},
          "resources": {
            "rack": {"network": {"limit": 4, "default": 1}},
            "host": {"slots": {"limit": 1, "default": 1}}},
          "backoff": [600, "fail"]
        },
        "bistro_job->backup": {"owner": "storage team", "command": ["./hold.sh"], "priority": 5, "timeout_sec": 3600},
        "bistro_job->scrub": {"owner": "storage team", "description": "Compares <b>checksums</b>.",
          "labels": {"team": "storage"}, "links": {"Run book": "https://wiki.example/scrub"},
          "command": ["./flaky.sh"], "priority": 3, "resources": {"slots": 0, "network": 0}},
        "bistro_job->check": {"owner": "on call", "command": ["./quick.sh"], "resources": {"slots": 0, "network": 0}},
        "bistro_job->report": {"owner": "équipe données", "command": ["./quick.sh"], "depends_on": ["backup"], "resources": {"slots": 0, "network": 0}},
        "bistro_job->LONG": {"owner": "generator", "command": ["./quick.sh"], "enabled": false},
        "bistro_job->wrong": {"owner": 5, "priorty": 1},
        "bistro_job->EVIL": {"owner": "<b>me</b>", "command": ["./quick.sh"]}
      }
      """;

  private final Site site;
  private final Espalier daemon;
  private final Http http;

  private Orchard(Site site, Espalier daemon) {
    this.site = site;
    this.daemon = daemon;
    this.http = new Http(daemon.url());
  }

  /** Starts it and waits until its jobs are where they stay. */
  static Orchard in(Path directory, String... more) {
    Site site = site(directory);
    Orchard orchard = new Orchard(site, site.daemon(more));
    orchard.settle();
    return orchard;
  }

  static Site site(Path directory) {
    return new Site(directory)
        // Holds its slots until the test lets it go.
        .script(
            "hold.sh",
            """
            echo "copying $1"
            echo "a retry was needed" >&2
            while [ ! -e "$site/go" ]; do sleep 0.2; done
            echo "copied $1"
            echo done >"$2"
            """)
        .script(
            "flaky.sh",
            """
            case $1 in
              *v2) echo "checksum mismatch in block 7133" >&2; exit 3 ;;
              *v3) echo '{"result": "failed", "data": {"exception": "no such volume"}}' >"$2" ;;
              *) echo done >"$2" ;;
            esac
            """)
        .script("quick.sh", "echo ok; echo done >\"$2\"\n")
        .config(CONFIG.replace("LONG", LONG).replace("EVIL", EVIL));
  }

  private void settle() {
    await()
        .atMost(Duration.ofSeconds(60))
        .until(
            () ->
                http.response("/readyz").statusCode() == 200
                    && number(http.get("/api/v1/jobs/check"), "progress", "done") == 15
                    && number(http.get("/api/v1/jobs/scrub"), "progress", "failed") == 4
                    && number(http.get("/api/v1/jobs/scrub"), "progress", "ready") == 0
                    && number(http.get("/api/v1/jobs/scrub"), "progress", "running") == 0
                    && number(http.get("/api/v1/jobs/backup"), "progress", "running") == 5);
  }

  /** A node on which a task of {@code backup} runs; which ones do is chosen at random. */
  String runningNode() {
    return Site.text(http.get("/api/v1/running?job=backup"), "running", "0", "node");
  }

  /** One on which it has to wait. */
  String waitingNode() {
    return Site.text(
        http.get("/api/v1/jobs/backup/tasks?status=unstarted&limit=1"), "tasks", "0", "node");
  }

  /** The worker that the scheduler itself is. */
  String worker() {
    return Site.text(http.get("/api/v1/workers"), "workers", "0", "shard");
  }

  /** Lets the tasks of {@code backup} end. */
  void letGo() {
    site.write("go", "");
  }

  Site site() {
    return site;
  }

  Http http() {
    return http;
  }

  String url() {
    return http.url();
  }

  @Override
  public void close() {
    daemon.close();
  }
}
