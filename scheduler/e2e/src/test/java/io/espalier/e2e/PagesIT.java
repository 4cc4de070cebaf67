package io.espalier.e2e;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.microsoft.playwright.CDPSession;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.BoundingBox;
import io.espalier.e2e.Chromium.Look;
import io.espalier.e2e.Chromium.Window;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
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

/** Looks at every page in a browser, over a real server with real tasks. */
@SuppressWarnings("NullAway.Init") // set before all tests
class PagesIT {
  @TempDir static Path directory;
  static Chromium chromium;
  static Orchard orchard;

  @BeforeAll
  static void plant() {
    chromium = Chromium.start();
    orchard = Orchard.in(directory);
  }

  @AfterAll
  static void fell() {
    if (chromium != null) {
      chromium.close();
    }
    if (orchard != null) {
      orchard.close();
    }
  }

  /** A page: its name in the pictures, its place, and a text that is there when it is complete. */
  record Place(String name, String hash, String shows) {}

  private static final List<Place> PLACES =
      List.of(
          new Place("overview", "#/", "storage team"),
          new Place("new-job", "#/new", "Create"),
          new Place("job", "#/jobs/scrub", "Subtrees by jobs"),
          new Place("job-tasks", "#/jobs/scrub/tasks", "r1-h1:v2"),
          new Place("job-config", "#/jobs/scrub/config", "./flaky.sh"),
          new Place("job-history", "#/jobs/scrub/history", "No versions yet"),
          new Place("job-output", "#/jobs/scrub/output", "checksum mismatch"),
          new Place("job-invalid", "#/jobs/wrong", "did you mean"),
          new Place("task-failed", "#/jobs/scrub/task/r1-h1%3Av2", "checksum mismatch"),
          new Place("task-running", "#/jobs/backup/task/RUNNING", "a retry was needed"),
          new Place("task-waiting", "#/jobs/backup/task/WAITING", "needs 1 of"),
          new Place("tree", "#/tree", "Tree"),
          new Place("grid", "#/tree?view=grid", "r2"),
          new Place("workers", "#/workers", "pause jobs instead"),
          new Place("worker", "#/workers/SHARD", "What happened to it"),
          new Place("limits", "#/limits", "Limits"),
          new Place("problems", "#/problems", "priorty"),
          new Place("events", "#/events", "Details"),
          new Place("audit", "#/audit", "Audit"),
          new Place("settings", "#/settings", "In force"),
          new Place("nowhere", "#/nowhere", "There is no such page"));

  private static String hash(Place place) {
    return place
        .hash()
        .replace("SHARD", encoded(orchard.worker()))
        .replace("RUNNING", encoded(orchard.runningNode()))
        .replace("WAITING", encoded(orchard.waitingNode()));
  }

  static String encoded(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
  }

  @Test
  void every_page_is_complete_and_without_barriers() {
    assertAllPagesComplete(Look.DESK);
  }

  static Stream<Look> otherLooks() {
    return Stream.of(Look.NIGHT, Look.PHONE, Look.TABLET, Look.WIDE, Look.WALL);
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("otherLooks")
  void every_page_is_complete_in_each_look(Look look) {
    assertAllPagesComplete(look);
  }

  private void assertAllPagesComplete(Look look) {
    try (Window window = chromium.open(orchard.url(), look)) {
      for (Place place : PLACES) {
        Page page = window.visit(hash(place));
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
  void a_cell_of_the_grid_leads_to_the_tree_and_a_name_below_it() {
    try (Window window = chromium.open(orchard.url(), Look.DESK)) {
      Page page = window.visit("#/jobs/scrub");
      assertThat(page.locator(".hour svg")).isVisible();
      page.locator(".subtrees button").first().click();
      assertThat(page.locator(".subtrees tbody tr")).hasCount(2);
      page.getByRole(AriaRole.LINK, named("scrub below r1-h1: ")).click();
      assertThat(page.locator(".node h2")).hasText("r1-h1");
      assertThat(window.complaints()).isEmpty();
    }
  }

  @Test
  void events_are_shown_by_kind_and_a_task_is_found_by_node_and_job() {
    try (Window window = chromium.open(orchard.url(), Look.DESK)) {
      Page page = window.visit("#/events?job=scrub");
      page.getByRole(AriaRole.BUTTON, named("Ends of tasks")).click();
      assertThat(page.locator("tr.hurt", having("checksum mismatch")).first()).isVisible();
      assertThat(page.locator("tbody")).not().containsText("task started");
      page.getByRole(AriaRole.BUTTON, named("Workers")).click();
      assertThat(page.locator("main")).containsText("No such events");
      window.visit("#/events");
      page.locator("#of-node").fill("r1-h1:v2");
      page.keyboard().press("Enter");
      assertThat(page.getByRole(AriaRole.BUTTON, named("Node r1-h1:v2"))).isVisible();
      assertThat(page.locator("tbody tr").first()).containsText("r1-h1:v2");
      assertThat(page.locator("tbody tr", without("r1-h1:v2"))).hasCount(0);
      page.keyboard().press("Control+k");
      page.locator(".finder input").fill("r1-h1:v2 scrub");
      page.getByRole(AriaRole.LINK, named("r1-h1:v2 task of scrub")).click();
      assertThat(page.locator("h1")).hasText("r1-h1:v2");
      assertThat(window.complaints()).isEmpty();
    }
  }

  private static Page.LocatorOptions without(String text) {
    return new Page.LocatorOptions().setHasNotText(text);
  }

  @Test
  void a_fold_of_a_difference_hides_more_than_the_one_line_that_it_takes() {
    try (Window window = chromium.open(orchard.url(), Look.DESK)) {
      window.visit("#/");
      assertThat(folded(window, "a\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n"))
          .isEqualTo(" a| b| c| d|-e|+E");
      assertThat(folded(window, "a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\ne\nF\n"))
          .isEqualTo("...| c| d| e|-f|+F");
    }
  }

  private static Object folded(Window window, String before, String after) {
    return window
        .page()
        .evaluate(
            """
            async (texts) => {
              const { diff, folded } = await import(new URL('ui/diff.js', document.baseURI).href);
              return folded(diff(...texts)).map((l) => l === null ? '...' : l.join('')).join('|');
            }
            """,
            List.of(before, after));
  }

  /** Work of the main thread, not time: a busy machine makes it no more. */
  @Tag("slow")
  @Test
  void an_idle_page_rests_and_is_small() {
    try (Window window = chromium.open(orchard.url(), Look.DESK)) {
      Page page = window.visit("#/");
      assertThat(page.locator(".job")).hasCount(7);
      CDPSession browser = page.context().newCDPSession(page);
      JsonObject threads = new JsonObject();
      threads.addProperty("timeDomain", "threadTicks");
      browser.send("Performance.enable", threads);
      browser.send("HeapProfiler.collectGarbage");
      double before = metric(browser, "TaskDuration");
      page.waitForTimeout(10_000);
      assertThat(metric(browser, "TaskDuration") - before).as("seconds of work").isLessThan(0.2);
      assertThat(metric(browser, "JSHeapUsedSize")).as("bytes").isLessThan(10_000_000);
    }
  }

  private static double metric(CDPSession browser, String name) {
    for (JsonElement metric :
        browser.send("Performance.getMetrics").get("metrics").getAsJsonArray()) {
      if (metric.getAsJsonObject().get("name").getAsString().equals(name)) {
        return metric.getAsJsonObject().get("value").getAsDouble();
      }
    }
    throw new AssertionError("the browser does not measure " + name);
  }

  @Test
  void on_a_phone_what_a_node_is_lies_over_the_bottom_and_the_tree_stays_in_sight() {
    try (Window window = chromium.open(orchard.url(), Look.PHONE)) {
      Page page = window.visit("#/tree");
      Locator cell = page.getByRole(AriaRole.TREEITEM, named("r1-h1, host"));
      cell.click();
      assertThat(page.locator(".node")).containsText("Tasks below");
      BoundingBox sheet = page.locator(".node").boundingBox();
      assertThat(sheet.y + sheet.height).isEqualTo(Look.PHONE.height());
      BoundingBox chosen = cell.boundingBox();
      assertThat(chosen.y).isPositive();
      assertThat(chosen.y + chosen.height).as("not under the panel").isLessThanOrEqualTo(sheet.y);
      window.picture("tree-sheet");
      assertThat(window.barriers()).isEmpty();
      assertThat(window.isTooWide()).isFalse();
    }
  }

  @Test
  void names_are_text_whatever_they_are() {
    try (Window window = chromium.open(orchard.url(), Look.DESK)) {
      Page page = window.visit("#/");
      assertThat(page.getByRole(AriaRole.LINK, named(Orchard.EVIL))).isVisible();
      assertThat(page.locator("main img")).hasCount(0);
      page.getByRole(AriaRole.LINK, named(Orchard.LONG)).click();
      assertThat(page.locator("h1")).hasText(Orchard.LONG);
      for (String node : List.of("ñandú/ø:v1", "r3 with spaces & <b>tags</b>", "r3?q=1#x")) {
        window.visit("#/jobs/check/tasks");
        page.getByRole(AriaRole.LINK, named(node)).click();
        assertThat(page.locator("h1")).hasText(node);
        assertThat(page.locator("main")).containsText("exited, code 0");
      }
      assertThat(window.complaints()).isEmpty();
    }
  }

  @Test
  void the_overview_is_filtered_sorted_and_remembers_it_in_its_address() {
    try (Window window = chromium.open(orchard.url(), Look.DESK)) {
      Page page = window.visit("#/");
      assertThat(page.locator(".job")).hasCount(7);
      assertThat(page.locator(".job").first()).containsText("invalid");
      page.getByLabel("Filter jobs").fill("storage");
      assertThat(page.locator(".job")).hasCount(2);
      page.getByRole(AriaRole.BUTTON, named("Need attention")).click();
      assertThat(page.locator(".job")).hasCount(1);
      assertThat(page.locator(".job")).containsText("scrub");
      page.reload();
      assertThat(page.locator(".job")).hasCount(1);
      page.getByLabel("Filter jobs").fill("nothing like it");
      assertThat(page.locator("main")).containsText("No job matches");
      page.getByRole(AriaRole.BUTTON, named("Show all")).click();
      page.getByLabel("Sort").selectOption("name");
      assertThat(page.locator(".job").nth(2)).containsText("backup");
      assertThat(window.complaints()).isEmpty();
    }
  }

  @Test
  void everything_can_be_reached_with_the_keys() {
    try (Window window = chromium.open(orchard.url(), Look.DESK)) {
      Page page = window.visit("#/?sort=name");
      assertThat(page.locator(".job")).hasCount(7);
      page.keyboard().press("/");
      assertThat(page.getByLabel("Filter jobs")).isFocused();
      page.keyboard().press("Escape");
      page.keyboard().press("j");
      page.keyboard().press("j");
      page.keyboard().press("k");
      page.keyboard().press("j");
      page.keyboard().press("j");
      page.keyboard().press("Enter");
      assertThat(page.locator("h1")).hasText("backup");
      assertThat(page.locator("h1")).isFocused();
      assertThat(page.locator(".tabs")).isVisible();
      page.keyboard().press("2");
      assertThat(page.locator("table")).containsText("r1-h1:v1");
      page.keyboard().press("u");
      assertThat(page.locator("h1")).hasText("Jobs");
      for (String[] key :
          new String[][] {
            {"t", "Tree"},
            {"w", "Workers"},
            {"l", "Limits"},
            {"p", "Problems"},
            {"e", "Events"},
            {"a", "Audit"},
            {"s", "Settings"},
            {"o", "Jobs"}
          }) {
        page.keyboard().press("g");
        page.keyboard().press(key[0]);
        assertThat(page.locator("h1")).hasText(key[1]);
        assertThat(page.locator("h1")).isFocused();
      }
      page.keyboard().press("?");
      assertThat(page.getByRole(AriaRole.DIALOG)).containsText("to the filter");
      window.picture("keys");
      assertThat(window.barriers()).isEmpty();
      page.keyboard().press("Escape");
      assertThat(page.getByRole(AriaRole.DIALOG)).hasCount(0);
      assertThat(window.complaints()).isEmpty();
    }
  }

  @Test
  void a_job_says_what_it_is_for_and_links_to_more_about_it() {
    try (Window window = chromium.open(orchard.url(), Look.DESK)) {
      Page page = window.visit("#/jobs/scrub");
      assertThat(page.locator("main")).containsText("Compares <b>checksums</b>.");
      Locator link = page.locator("main").getByText("Run book");
      assertThat(link).hasAttribute("href", "https://wiki.example/scrub");
      assertThat(link).hasAttribute("rel", "noopener noreferrer");
      page.locator("main").getByText("team=storage").click();
      assertThat(page.locator("main")).containsText("scrub");
      assertThat(page.locator("main").getByText("backup")).hasCount(0);
    }
  }

  @Test
  void a_job_of_which_nothing_has_started_says_what_its_tasks_wait_for() {
    try (Window window = chromium.open(orchard.url(), Look.DESK)) {
      Page page = window.visit("#/jobs/report");
      assertThat(page.getByLabel("Progress")).containsText("15 wait for jobs");
    }
  }

  /** The choice above the tasks of a job; the page of the job has a panel "What waits for what". */
  private static Locator waitsFor(Page page) {
    return page.getByRole(AriaRole.COMBOBOX, named("Waits for"));
  }

  @Test
  void tasks_are_listed_by_what_they_wait_for() {
    try (Window window = chromium.open(orchard.url(), Look.DESK)) {
      Page page = window.visit("#/jobs/scrub/tasks");
      assertThat(page.locator("optgroup").first().locator("option")).hasCount(6);
      assertThat(page.locator("optgroup").last()).containsText("was not running");
      waitsFor(page).selectOption("backoff");
      assertThat(page.locator("tbody tr")).hasCount(4);
      assertThat(page.locator(".toolbar")).containsText("4 tasks");
      window.visit("#/jobs/backup");
      page.getByRole(AriaRole.LINK, named("Show tasks")).first().click();
      assertThat(waitsFor(page)).hasValue("resource");
      assertThat(page.locator("tbody tr")).hasCount(10);
      assertThat(window.barriers()).isEmpty();
      assertThat(window.complaints()).isEmpty();
    }
  }

  @Test
  void a_failed_task_says_first_why() {
    try (Window window = chromium.open(orchard.url(), Look.DESK)) {
      Page page = window.visit("#/jobs/scrub/task/r1-h1%3Av2");
      assertThat(page.locator(".cause")).containsText("checksum mismatch in block 7133");
      assertThat(page.locator(".cause")).containsText("exit 3");
      // Nothing is in its way: where it could run need not be read.
      assertThat(page.locator("details .rootpath")).isHidden();
      assertThat(page.locator("main h2").first()).hasText("Output");
      page.navigate(orchard.url() + "/#/jobs/scrub/output?regex=block+%5Cd%2B");
      assertThat(page.locator(".line")).hasCount(4);
      assertThat(page.locator(".line").first()).containsText("checksum mismatch");
      page.getByLabel("Regular expression").fill("no such line");
      assertThat(page.locator(".logs")).containsText("No line matches");
      assertThat(window.complaints()).isEmpty();
    }
  }

  @Test
  void output_that_cannot_be_read_is_not_taken_for_none() {
    try (Window window = chromium.open(orchard.url(), Look.DESK)) {
      Page page = window.page();
      page.route(
          "**/api/v1/logs?*",
          route -> {
            boolean streams =
                String.valueOf(route.request().headerValue("accept")).contains("event-stream");
            route.fulfill(
                new Route.FulfillOptions()
                    .setContentType(streams ? "text/event-stream" : "application/json")
                    .setBody(
                        streams
                            ? "event: missing\ndata: {\"missing\":[\"w1: lost\",\"w2: lost\"]}\n\n"
                            : "{\"lines\":[],\"next\":\"\",\"missing\":[\"w1: lost\"]}"));
          });
      window.visit("#/jobs/scrub/task/r1-h1%3Av2");
      assertThat(page.locator(".logs")).containsText("Nothing that can be read now");
      page.getByText("The output on 2 workers cannot be read now").click();
      assertThat(page.locator("details.notice li")).containsText(new String[] {"w1", "w2: lost"});
      page.navigate(orchard.url() + "/#/jobs/scrub/output");
      assertThat(page.locator("details.notice")).containsText("w1: lost");
      assertThat(window.complaints()).isEmpty();
    }
  }

  @Test
  void anything_is_found_from_anywhere_and_coming_back_leads_to_where_one_was() {
    try (Window window = chromium.open(orchard.url(), Look.DESK)) {
      Page page = window.visit("#/workers");
      page.keyboard().press("Control+k");
      page.getByRole(AriaRole.DIALOG).getByLabel("Job, node, task or worker").fill("crub");
      assertThat(page.locator(".hits li")).hasCount(1);
      page.keyboard().press("Enter");
      assertThat(page.locator("h1")).hasText("scrub");
      page.setViewportSize(1000, 400);
      window.visit("#/jobs/scrub/tasks");
      assertThat(page.locator("tbody tr")).hasCount(15);
      page.waitForFunction("() => { scrollTo(0, 300); return scrollY === 300; }");
      page.locator("tbody a").nth(9).click();
      assertThat(page.locator(".title .sub")).containsText("on level volume");
      page.waitForFunction("() => scrollY === 0");
      page.goBack();
      // Answers that arrive late move the list, and the browser moves with it.
      assertThat(page.locator("tbody a").nth(9)).isInViewport();
      assertThat(window.complaints()).isEmpty();
    }
  }

  @Test
  void what_was_edited_and_not_saved_stays_in_the_tab() {
    try (Window window = chromium.open(orchard.url(), Look.DESK)) {
      Page page = window.visit("#/jobs/check/config");
      page.getByRole(AriaRole.BUTTON, named("Edit")).click();
      Locator area = page.getByRole(AriaRole.TEXTBOX, named("Configuration"));
      area.fill("{\n  \"owner\": \"me\",\n  \"comand\": []\n}");
      assertThat(page.locator("#config-check")).containsText("line 3");
      window.visit("#/tree");
      page.goBack();
      assertThat(area).hasValue(Pattern.compile("comand"));
      page.reload();
      assertThat(area).hasValue(Pattern.compile("comand"));
      page.getByRole(AriaRole.BUTTON, named("Discard")).click();
      assertThat(page.locator("main pre").first()).containsText("on call");
      assertThat(window.complaints()).isEmpty();
    }
  }

  @Test
  void the_page_says_which_scheduler_it_is_in_which_zone_and_since_when_nobody_answers() {
    try (Window window = chromium.open(orchard.url(), Look.DESK)) {
      Page page = window.visit("#/jobs/report");
      String name = String.valueOf(page.locator(".which").textContent());
      assertThat(page).hasTitle("report · " + name + " · Espalier");
      page.getByRole(AriaRole.BUTTON, named("Pause")).first().click();
      assertThat(page.getByRole(AriaRole.DIALOG)).containsText("Pause report on " + name);
      page.getByText("The same from the command line").click();
      assertThat(page.locator(".cli code"))
          .hasText("espalier pause report --server " + orchard.url());
      page.keyboard().press("Escape");
      page.evaluate("() => localStorage.setItem('espalier.zone', 'UTC')");
      page.reload();
      assertThat(page.locator("footer")).containsText("Times: UTC");
      page.context().setOffline(true);
      page.keyboard().press("r");
      assertThat(page.locator(".no-answer")).containsText("No answer since");
      assertThat(page.locator("h1")).hasText("report");
      assertThat(window.barriers()).isEmpty();
      page.context().setOffline(false);
      assertThat(page.locator(".no-answer")).hasCount(0);
    }
  }

  @Test
  void the_theme_is_the_systems_until_another_is_chosen() {
    try (Window window = chromium.open(orchard.url(), Look.NIGHT)) {
      Page page = window.visit("#/");
      String dark = background(page);
      page.keyboard().press("d");
      page.keyboard().press("d");
      assertThat(page.locator("html")).hasAttribute("data-theme", "light");
      assertThat(background(page)).isNotEqualTo(dark);
      page.reload();
      assertThat(page.locator("html")).hasAttribute("data-theme", "light");
    }
  }

  private static String background(Page page) {
    return String.valueOf(page.evaluate("() => getComputedStyle(document.body).backgroundColor"));
  }

  private static Page.LocatorOptions having(String text) {
    return new Page.LocatorOptions().setHasText(text);
  }

  static Page.GetByRoleOptions named(String name) {
    return new Page.GetByRoleOptions().setName(name);
  }
}
