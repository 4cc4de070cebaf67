package io.espalier.e2e;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static io.espalier.e2e.PagesIT.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import io.espalier.core.json.Json;
import io.espalier.e2e.Chromium.Look;
import io.espalier.e2e.Chromium.Window;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What the pages say about queues, nodes that are kept free, and jobs that a rule, a cap or a rate
 * holds, over a real server with real tasks.
 */
@SuppressWarnings("NullAway.Init") // set before all tests
@Tag("slow")
class SharingPagesIT {
  private static final String CONFIG =
      """
      {
        "bistro_settings": {
          "scheduler": "fair_share", "priority_half_life_sec": 300,
          "nodes": {"levels": ["host", "db"], "node_sources": [{"source": "manual", "prefs": {
            "h1": ["h1-a", "h1-b", "h1-c"], "h2": ["h2-a", "h2-b", "h2-c"],
            "h3": ["h3-a", "h3-b", "h3-c"], "h4": ["h4-a", "h4-b", "h4-c"]}}]},
          "resources": {"host": {"slots": {"limit": 3, "default": 1}}},
          "node_resources_override": [{"level": "host", "regex": "^h[34]$", "limits": {"slots": 3}},
            {"level": "host", "attribute": "size", "resource": "slots"},
            {"level": "host", "name": "h4", "limits": {"slots": 5}}],
          "queues": {"etl": {"priority_factor": 0.5, "max_slots": {"slots": 4}}, "web": {}, "adhoc": {"priority_factor": 2}},
          "backoff": [600, "fail"]
        },
        "bistro_job->load": {"owner": "data", "queue": "etl", "command": ["./hold.sh"]},
        "bistro_job->serve": {"owner": "web", "queue": "web", "command": ["./hold.sh"]},
        "bistro_job->first": {"owner": "data", "level_for_tasks": "instance", "resources": {"slots": 0}, "command": ["./full.sh"]},
        "bistro_job->heavy": {"owner": "analysts", "queue": "adhoc", "level_for_tasks": "host", "resources": {"slots": 3},
          "filters": {"host": {"whitelist": ["h1"]}}, "reserve_after_sec": 1,
          "run_only_after_all_nodes_are_done_for": ["first"], "command": ["./hold.sh"]},
        "bistro_job->import": {"owner": "data", "queue": "etl", "resources": {"slots": 0}, "fail_job_when": {"failed_tasks": 2},
          "max_concurrent": 1, "command": ["./bad.sh"]},
        "bistro_job->huge": {"owner": "analysts", "queue": "adhoc", "resources": {"slots": 9}, "command": ["./hold.sh"]},
        "bistro_job->drip": {"owner": "web", "queue": "web", "resources": {"slots": 0}, "start_rate": {"per_second": 0.001, "burst": 1},
          "command": ["./quick.sh"]},
        "bistro_job->upgrade": {"owner": "web", "queue": "web", "resources": {"slots": 0}, "command": ["./bad.sh"],
          "rollout": {"stages": [2, "100%"], "fail_when": {"failed_percent": 10, "min_samples": 2}}},
        "bistro_job->stream": {"owner": "web", "resources": {"slots": 0}, "succeed_job_when": "never", "command": ["./quick.sh"]}
      }
      """;

  @TempDir static Path directory;
  static Chromium chromium;
  static Espalier daemon;
  static Http http;

  @BeforeAll
  static void plant() {
    chromium = Chromium.start();
    Site site =
        new Site(directory)
            // Holds its slots until the daemon ends.
            .script("hold.sh", "while [ ! -e \"$site/go\" ]; do sleep 0.2; done\n")
            // Done when no host has a free slot that the light jobs want: only then the heavy one
            // comes.
            .script(
                "full.sh", "while [ ! -e \"$site/full\" ]; do sleep 0.1; done; echo done >\"$2\"\n")
            .script(
                "bad.sh",
                "echo '{\"result\": \"failed\", \"data\": {\"exception\": \"no such table\"}}' >\"$2\"\n")
            .script("quick.sh", "echo done >\"$2\"\n")
            .config(CONFIG);
    daemon = site.daemon();
    http = new Http(daemon.url());
    wait(() -> http.response("/readyz").statusCode() == 200);
    wait(() -> Site.number(http.get("/api/v1/nodes/host/h1"), "resources", "0", "used") == 3);
    site.write("full", "");
    wait(() -> http.get("/api/v1/nodes/host/h1").get("reserved") != null);
    wait(() -> Site.text(http.get("/api/v1/jobs/import"), "state").equals("failed"));
    wait(() -> Site.text(http.get("/api/v1/jobs/upgrade"), "state").equals("halted"));
    wait(() -> Site.number(http.get("/api/v1/jobs/stream"), "progress", "done") == 12);
  }

  private static void wait(Callable<Boolean> until) {
    await().atMost(Duration.ofSeconds(60)).until(until);
  }

  @AfterAll
  static void fell() {
    if (chromium != null) {
      chromium.close();
    }
    if (daemon != null) {
      daemon.close();
    }
  }

  record Place(String name, String hash, String shows) {}

  private static final List<Place> PLACES =
      List.of(
          new Place("queues", "#/queues", "at its cap"),
          new Place("limits-of-nodes", "#/limits", "whose name matches ^h[34]$"),
          new Place("tree-kept", "#/tree?node=host/h1", "its task on h1 has been waiting"),
          new Place("job-failed-by-rule", "#/jobs/import", "another try"),
          new Place("job-open", "#/jobs/stream", "never ends"),
          new Place("job-rated", "#/jobs/drip", "start_rate"),
          new Place(
              "job-halted",
              "#/jobs/upgrade",
              "Halted stage 1 of 2 (2): 2 of 2 tasks failed, 10 % allowed"),
          new Place("job-never", "#/jobs/huge", "they can never start"),
          new Place("task-phase", "#/jobs/import/task/h1-a", "the job has failed"));

  static Stream<Look> looks() {
    return Stream.of(Look.DESK, Look.NIGHT, Look.PHONE, Look.TABLET);
  }

  @ParameterizedTest
  @MethodSource("looks")
  void every_page_is_complete_and_without_barriers(Look look) {
    try (Window window = chromium.open(daemon.url(), look)) {
      for (Place place : PLACES) {
        Page page = window.visit(place.hash());
        assertThat(page.locator("main")).containsText(place.shows());
        page.waitForFunction("() => !document.querySelector('.waiting')");
        window.picture(place.name());
        assertThat(window.barriers()).as(place.name() + " " + look.name()).isEmpty();
        assertThat(window.isTooWide()).as(place.name() + " is too wide").isFalse();
      }
      assertThat(window.complaints()).isEmpty();
    }
  }

  @Test
  void queues_are_shown_with_what_is_due_what_they_have_and_what_keeps_them() {
    try (Window window = chromium.open(daemon.url(), Look.DESK)) {
      Page page = window.visit("#/");
      page.keyboard().press("g");
      page.keyboard().press("q");
      assertThat(page.locator("h1")).hasText("Queues");
      assertThat(page.locator("main")).containsText("Use counts half as much after 5 min");
      assertThat(page.locator("table.queues tbody tr")).hasCount(4);
      page.getByLabel("Filter queues").fill("etl");
      assertThat(page.locator("table.queues tbody tr")).hasCount(1);
      assertThat(page.locator("table.queues tbody tr")).containsText("4 / 4");
      assertThat(page.locator("table.queues tbody tr")).containsText("factor 0.5");
      page.locator("table.queues")
          .getByRole(
              AriaRole.LINK,
              new com.microsoft.playwright.Locator.GetByRoleOptions().setName("load"))
          .click();
      assertThat(page.locator("h1")).hasText("load");
      page.getByRole(AriaRole.LINK, named("etl")).click();
      assertThat(page.locator("h1")).hasText("Queues");
      assertThat(page.locator("table.queues tbody tr")).hasCount(1);
      assertThat(window.complaints()).isEmpty();
    }
  }

  @Test
  void a_limit_of_its_own_is_in_the_answers_about_nodes() {
    Json.Obj nodes = http.get("/api/v1/nodes?level=host");
    assertThat(Site.number(nodes, "nodes", "3", "limits", "slots")).isEqualTo(5);
    assertThat(((Json.Obj) Site.at(nodes, "nodes", "0")).get("limits")).isNull();
    Json hosts = Site.at(http.data("nodes", ""), "results", "host");
    assertThat(Site.at(hosts, "h4", "resources", "slots").toString())
        .isEqualTo("{\"default\":1,\"limit\":3,\"override\":5}");
    assertThat(Site.at(hosts, "h1", "resources", "slots").toString())
        .isEqualTo("{\"default\":1,\"limit\":3}");
  }

  @Test
  void a_job_that_is_over_says_so_of_its_tasks() {
    assertThat(Site.text(http.get("/api/v1/jobs/import"), "state")).isEqualTo("failed");
    assertThat(
            Site.text(
                http.get("/api/v1/jobs/import/tasks?status=unstarted&limit=1"),
                "tasks",
                "0",
                "phase"))
        .isEqualTo("cancelled");
    assertThat(Site.text(http.get("/api/v1/jobs/stream"), "state")).isEqualTo("open");
    assertThat(Site.text(http.get("/api/v1/jobs/stream/tasks/h1-a"), "phase"))
        .isEqualTo("succeeded");
  }

  @Test
  void a_node_that_is_kept_free_says_for_whom() {
    Json.Obj node = http.get("/api/v1/nodes/host/h1");
    assertThat(Site.text(node, "reserved", "job")).isEqualTo("heavy");
    assertThat(Site.number(node, "reserved", "idle_slots")).isZero();
    try (Window window = chromium.open(daemon.url(), Look.DESK)) {
      Page page = window.visit("#/tree");
      assertThat(page.locator(".cell.is-kept")).hasCount(1);
      page.locator("section[aria-labelledby=h-kept]").getByText("h1").first().click();
      assertThat(page.locator(".node")).containsText("Kept free for heavy since");
      assertThat(page.locator(".node")).containsText("Nothing is free yet.");
      assertThat(window.complaints()).isEmpty();
    }
  }
}
