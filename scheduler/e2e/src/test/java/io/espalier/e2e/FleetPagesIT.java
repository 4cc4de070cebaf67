package io.espalier.e2e;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static io.espalier.e2e.Site.at;
import static io.espalier.e2e.Site.number;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import io.espalier.core.json.Json;
import io.espalier.e2e.Chromium.Look;
import io.espalier.e2e.Chromium.Window;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The page over several schedulers: two real ones that differ, and one that is not there. */
@SuppressWarnings("NullAway.Init") // set before all tests
@Tag("slow")
class FleetPagesIT {
  private static final String CONFIG =
      """
      {
        "bistro_settings": {"nodes": {"levels": ["volume"], "node_sources": [
          {"source": "manual", "prefs": {"%1$s-v1": [], "%1$s-v2": [], "%1$s-v3": []}}]},
          "resources": {"volume": {"copies": {"default": 0, "limit": 1}}},
          "node_resources_override": [
            {"level": "volume", "name": "host2-v1", "limits": {"copies": 0}},
            {"level": "volume", "name": "host2-v3", "limits": {"copies": 0}}]},
        "bistro_job->backup": {"owner": "storage team", "command": ["./quick.sh"], "priority": %2$d},
        "bistro_job->check": {"owner": "on call", "command": ["./quick.sh"]},
        "bistro_job->copy": {"owner": "on call", "resources": {"copies": 1}, "command": ["./quick.sh"]}
      }
      """;

  @TempDir static Path directory;
  static Chromium chromium;
  static final List<Espalier> processes = new ArrayList<>();
  static final List<Http> schedulers = new ArrayList<>();
  static String url;

  @BeforeAll
  static void start() throws IOException {
    chromium = Chromium.start();
    List<String> list = new ArrayList<>(List.of("http://127.0.0.1:1"));
    for (int i = 1; i <= 2; i++) {
      Site site =
          new Site(Files.createDirectory(directory.resolve("host" + i)))
              .script("quick.sh", "echo \"copied $1\"; echo done >\"$2\"\n")
              .config(CONFIG.formatted("host" + i, i));
      processes.add(site.daemon());
    }
    for (Espalier daemon : processes) {
      list.add(daemon.url());
      schedulers.add(new Http(daemon.url()));
    }
    for (Http http : schedulers) {
      await()
          .atMost(Duration.ofSeconds(60))
          .until(
              () ->
                  http.response("/readyz").statusCode() == 200
                      && number(http.get("/api/v1/jobs/backup"), "progress", "done") == 3);
    }
    Espalier ui =
        Espalier.start(
            directory,
            "ui",
            "--schedulers",
            String.join(",", list),
            "--http",
            "127.0.0.1:0",
            "--poll-ms",
            "500");
    processes.add(ui);
    url = ui.url();
    Http fleet = new Http(url);
    await()
        .atMost(Duration.ofSeconds(60))
        .until(
            () -> {
              Json overview = fleet.get("/api/v1/fleet/overview");
              return number(overview, "schedulers", "states", "answered") == 2
                  && number(overview, "schedulers", "states", "dead") == 1
                  && number(overview, "jobs_hindered") == 1;
            });
  }

  @AfterAll
  static void stop() {
    processes.forEach(Espalier::close);
    if (chromium != null) {
      chromium.close();
    }
  }

  /** A page: its name in the pictures, its place, and a text that is there when it is complete. */
  record Place(String name, String hash, String shows) {}

  private static final List<Place> PLACES =
      List.of(
          new Place("fleet-overview", "#/", "storage team"),
          new Place("fleet-job", "#/jobs/backup", "2 kinds"),
          new Place("fleet-schedulers", "#/schedulers", "dead"),
          new Place("fleet-problems", "#/problems", "127.0.0.1"),
          new Place("fleet-logs", "#/logs?job=backup", "copied host1-v1"),
          new Place("fleet-actions", "#/actions", "Actions"));

  static Stream<Look> looks() {
    return Stream.of(Look.DESK, Look.NIGHT, Look.PHONE, Look.TABLET, Look.WIDE);
  }

  @ParameterizedTest
  @MethodSource("looks")
  void every_page_is_complete_and_without_barriers(Look look) {
    try (Window window = chromium.open(url, look)) {
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
  void everything_can_be_reached_with_the_keys() {
    try (Window window = chromium.open(url, Look.DESK)) {
      Page page = window.visit("#/?sort=name");
      assertThat(page.locator(".job")).hasCount(3);
      page.keyboard().press("/");
      assertThat(page.getByLabel("Filter jobs")).isFocused();
      page.keyboard().press("Escape");
      for (String key : List.of("j", "j", "Enter")) {
        page.keyboard().press(key);
      }
      assertThat(page.locator("h1")).hasText("check");
      page.keyboard().press("u");
      assertThat(page.locator("h1")).hasText("All schedulers");
      page.keyboard().press("g");
      page.keyboard().press("s");
      assertThat(page.locator("h1")).hasText("Schedulers");
      page.keyboard().press("?");
      assertThat(page.getByRole(AriaRole.DIALOG)).containsText("to the filter");
      assertThat(window.barriers()).isEmpty();
      page.keyboard().press("Escape");
      page.keyboard().press("Control+k");
      page.locator(".finder input").fill("host1-v1 backup");
      page.getByRole(AriaRole.LINK, containing("host1-v1 task of backup")).click();
      assertThat(page).hasURL(Pattern.compile("/s/"));
      assertThat(page.locator("h1")).hasText("host1-v1");
      assertThat(window.complaints()).isEmpty();
    }
  }

  @Test
  void jobs_of_one_kind_of_trouble_are_shown_alone() {
    try (Window window = chromium.open(url, Look.DESK)) {
      Page page = window.visit("#/");
      assertThat(page.locator(".job")).hasCount(3);
      page.getByRole(AriaRole.BUTTON, containing("Other settings")).click();
      assertThat(page.locator(".job")).hasCount(1);
      page.reload();
      assertThat(page.locator(".job")).hasCount(1);
      assertThat(page.locator(".job")).containsText("backup");
      assertThat(window.complaints()).isEmpty();
    }
  }

  @Test
  void tasks_that_can_never_start_lead_to_the_scheduler_that_has_them() {
    try (Window window = chromium.open(url, Look.DESK)) {
      Page page = window.visit("#/");
      Locator panel = page.locator("section[aria-labelledby=h-hindered]");
      assertThat(panel).containsText("2 tasks on 1 scheduler");
      assertThat(panel)
          .containsText("it needs 1 of copies, which the limit does not allow on 2 nodes");
      page.getByRole(AriaRole.BUTTON, containing("Stuck")).click();
      assertThat(page.locator(".job")).hasCount(1);
      assertThat(page.locator(".job")).containsText("2 can never start");
      panel.locator(".where a").click();
      assertThat(page).hasURL(Pattern.compile("/s/.*#/jobs/copy"));
      assertThat(page.locator("main")).containsText("can never start");
      assertThat(window.complaints()).isEmpty();
    }
  }

  @Test
  void one_kind_of_a_job_is_rerun_without_the_other() {
    try (Window window = chromium.open(url, Look.DESK)) {
      Page page = window.visit("#/jobs/backup");
      page.getByRole(AriaRole.BUTTON, containing("Kind 2: storage team")).click();
      assertThat(page.locator(".sub")).containsText("on 1 scheduler");
      assertThat(page.locator("main")).containsText("No task has failed.");
      page.locator("main").getByRole(AriaRole.BUTTON, exactly("Rerun")).first().click();
      Locator dialog = page.getByRole(AriaRole.DIALOG);
      dialog.getByLabel("Which").selectOption("done");
      assertThat(dialog).containsText("3 tasks on 1 scheduler.");
      dialog.getByRole(AriaRole.BUTTON, exactly("Rerun")).click();
      assertThat(page.locator("main")).containsText("3 tasks changed");
      assertThat(window.complaints()).isEmpty();
    }
  }

  private static Page.GetByRoleOptions containing(String name) {
    return new Page.GetByRoleOptions().setName(name);
  }

  @Test
  void a_job_is_paused_everywhere_and_looked_at_where_it_runs() {
    try (Window window = chromium.open(url, Look.DESK)) {
      Page page = window.visit("#/jobs/check");
      page.locator("main").getByRole(AriaRole.BUTTON, exactly("Pause")).first().click();
      Locator dialog = page.getByRole(AriaRole.DIALOG);
      assertThat(dialog).containsText("3 schedulers will be told; 1 of them does not answer now");
      dialog.getByLabel("Reason").fill("disks are replaced");
      dialog.getByText("The same from the command line").click();
      assertThat(dialog.locator(".cli code"))
          .hasText(
              "curl --fail-with-body --header 'Content-Type: application/json' --data"
                  + " '{\"reason\":\"disks are replaced\",\"expect_hosts\":3}' "
                  + url
                  + "/api/v1/fleet/jobs/check/pause");
      window.picture("fleet-dialog");
      assertThat(window.barriers()).isEmpty();
      dialog.getByRole(AriaRole.BUTTON, exactly("Pause")).click();
      assertThat(page.locator("main")).containsText("2 of 3 did it; 1 unreachable");
      window.picture("fleet-action");
      assertThat(window.barriers()).isEmpty();
      for (Http http : schedulers) {
        assertThat(at(http.get("/api/v1/jobs/check"), "paused")).isEqualTo(Json.of(true));
      }
      window.visit("#/jobs/check");
      page.locator("main td a.name, main th a.name").first().click();
      assertThat(page.locator("h1")).hasText("check");
      assertThat(page.locator("main")).containsText("disks are replaced");
      assertThat(page.url()).contains("/s/");
      assertThat(window.complaints()).isEmpty();
    }
  }

  private static Locator.GetByRoleOptions exactly(String name) {
    return new Locator.GetByRoleOptions().setName(name).setExact(true);
  }
}
