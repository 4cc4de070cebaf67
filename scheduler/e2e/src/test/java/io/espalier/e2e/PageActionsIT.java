package io.espalier.e2e;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static io.espalier.e2e.PagesIT.encoded;
import static io.espalier.e2e.PagesIT.named;
import static io.espalier.e2e.Site.at;
import static io.espalier.e2e.Site.number;
import static io.espalier.e2e.Site.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import io.espalier.core.json.Json;
import io.espalier.e2e.Chromium.Look;
import io.espalier.e2e.Chromium.Window;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Everything that the pages can do to a scheduler, done by pressing their buttons. */
@SuppressWarnings("NullAway.Init") // set before the tests
@Tag("slow")
class PageActionsIT {
  static Chromium chromium;
  Orchard orchard;
  Http http;
  Window window;
  Page page;

  @BeforeAll
  static void start() {
    chromium = Chromium.start();
  }

  @AfterAll
  static void stop() {
    if (chromium != null) {
      chromium.close();
    }
  }

  @BeforeEach
  void plant(@TempDir Path directory) {
    orchard = Orchard.in(directory);
    http = orchard.http();
    window = chromium.open(orchard.url(), Look.DESK);
    page = window.page();
  }

  @AfterEach
  void fell() {
    window.close();
    orchard.close();
  }

  private void press(String button) {
    page.locator("main").getByRole(AriaRole.BUTTON, exactly(button)).first().click();
  }

  private static Locator.GetByRoleOptions exactly(String name) {
    return new Locator.GetByRoleOptions().setName(name).setExact(true);
  }

  private Locator dialog() {
    return page.getByRole(AriaRole.DIALOG);
  }

  /** Presses the button that does it, and waits for the news. */
  private void confirm(String button, String news) {
    dialog().getByRole(AriaRole.BUTTON, exactly(button)).click();
    assertThat(page.locator(".toasts")).containsText(news);
    assertThat(dialog()).hasCount(0);
  }

  private void until(String path, Json expected, String... member) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(at(http.get(path), member)).isEqualTo(expected));
  }

  @Test
  void a_job_is_paused_for_a_reason_and_goes_on() {
    window.visit("#/jobs/report");
    press("Pause");
    assertThat(dialog()).containsText("Nothing more of it is started");
    dialog().getByLabel("Reason").fill("the <i>month</i> is not closed");
    dialog().getByLabel("How long").selectOption("3600");
    window.picture("dialog-pause");
    assertThat(window.barriers()).isEmpty();
    confirm("Pause", "report is paused");
    assertThat(page.locator(".notice")).containsText("the <i>month</i> is not closed");
    until("/api/v1/jobs/report", Json.of(true), "paused");
    window.visit("#/");
    page.getByRole(AriaRole.BUTTON, named("Paused")).click();
    assertThat(page.locator(".job")).hasCount(1);
    window.visit("#/jobs/report");
    press("Resume");
    confirm("Resume", "report goes on");
    assertThat(page.locator(".notice")).hasCount(0);
    until("/api/v1/jobs/report", Json.of(false), "paused");
    assertThat(window.complaints()).isEmpty();
  }

  @Test
  void escape_leaves_a_question_unanswered_and_the_focus_where_it_was() {
    window.visit("#/jobs/report");
    press("Pause");
    assertThat(dialog().getByLabel("How long")).isFocused();
    page.keyboard().press("Escape");
    assertThat(dialog()).hasCount(0);
    assertThat(page.getByRole(AriaRole.BUTTON, named("Pause")).first()).isFocused();
    assertThat(at(http.get("/api/v1/jobs/report"), "paused")).isEqualTo(Json.of(false));
  }

  @Test
  void failures_are_forgiven_and_tasks_are_rerun_after_they_were_counted() {
    window.visit("#/jobs/scrub");
    press("Forgive");
    assertThat(dialog().locator(".preview")).containsText("8 tasks");
    confirm("Forgive", "8 tasks forgiven");

    window.visit("#/jobs/check");
    press("Rerun");
    assertThat(dialog().locator(".preview")).containsText("0 tasks");
    assertThat(dialog().getByRole(AriaRole.BUTTON, exactly("Rerun"))).isDisabled();
    dialog().getByLabel("Which").selectOption("done");
    dialog().getByLabel("Only nodes that begin with").fill("r1-");
    assertThat(dialog().locator(".preview")).containsText("6 tasks");
    window.picture("dialog-rerun");
    confirm("Rerun", "6 tasks will run again");
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> number(http.get("/api/v1/jobs/check/tasks/r1-h1%3Av1"), "history", "ended") == 2);

    window.visit("#/jobs/check/task/r1-h1%3Av1");
    assertThat(page.locator(".sub")).containsText("1 attempt since it began again, 2 in all");
    assertThat(page.locator("tr.again")).hasCount(1);

    // Some that are chosen by hand.
    window.visit("#/jobs/check/tasks");
    page.getByLabel("choose r2-h1:v1").check();
    page.getByLabel("choose r2-h1:v2").check();
    page.locator(".toolbar").getByRole(AriaRole.BUTTON, exactly("Rerun")).click();
    assertThat(dialog().locator(".preview")).containsText("2 tasks");
    confirm("Rerun", "2 tasks will run again");
    assertThat(window.complaints()).isEmpty();
  }

  @Test
  void causes_of_failure_lead_to_their_tasks() {
    window.visit("#/jobs/scrub");
    Locator group = page.locator(".groups li").filter(has("no such volume"));
    assertThat(group).containsText("4");
    window.picture("job-failures");
    group.getByText("Show tasks").click();
    assertThat(page.locator("tbody tr")).hasCount(4);
    assertThat(page.locator("tbody tr").first()).containsText("no such volume");
  }

  private static Locator.FilterOptions has(String text) {
    return new Locator.FilterOptions().setHasText(text);
  }

  @Test
  void a_running_task_gets_more_time_and_is_killed_and_its_job_stopped() {
    String node = orchard.runningNode();
    String path = "/api/v1/jobs/backup/tasks/" + encoded(node);
    window.visit("#/jobs/backup/task/" + encoded(node));
    long limit = number(http.get(path), "running", "timeout_at_ms");
    press("Extend");
    dialog().getByLabel("Minutes").fill("20");
    confirm("Extend", "20 minutes more");
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> number(http.get(path), "running", "timeout_at_ms") >= limit + 1_200_000);
    press("Kill");
    dialog().getByLabel("Reason").fill("it is stuck");
    confirm("Kill", "will be signalled");
    // Another task that takes its slot is listed in a table, too.
    assertThat(page.locator("table").filter(has("What went wrong"))).containsText("killed");
    assertThat(page.locator("h1 ~ .badges .status")).not().hasText("running");

    window.visit("#/jobs/backup");
    press("Stop");
    confirm("Stop", "backup is stopped");
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> number(http.get("/api/v1/jobs/backup"), "progress", "running") == 0);
    assertThat(page.locator(".notice")).containsText("Stopped");
    assertThat(window.complaints()).isEmpty();
  }

  @Test
  void a_task_that_ignores_its_kill_is_shown_as_stopping() {
    orchard.site().script("stubborn.sh", "trap '' TERM\nwhile :; do sleep 0.2; done\n");
    http.put(
        "/api/v1/jobs/stubborn",
        "{\"owner\": \"me\", \"command\": [\"./stubborn.sh\"], \"resources\": {\"slots\": 0,"
            + " \"network\": 0}}");
    until("/api/v1/jobs/stubborn", Json.of(15), "progress", "running");
    window.visit("#/jobs/stubborn/task/" + encoded("r1-h1:v2"));
    assertThat(page.locator("main")).not().containsText("Stopping");
    press("Kill");
    dialog().getByLabel("Reason").fill("it is stuck");
    confirm("Kill", "will be signalled");
    assertThat(page.locator(".facts div").filter(has("Stopping"))).containsText("it is stuck");
    assertThat(window.complaints()).isEmpty();
  }

  @Test
  void a_page_follows_what_happens_without_being_asked() {
    String node = orchard.runningNode();
    window.visit("#/jobs/backup/task/" + encoded(node));
    assertThat(page.locator(".logs")).containsText("copying");
    orchard.letGo();
    assertThat(page.locator(".logs")).containsText("copied");
    assertThat(page.locator("h1 ~ .badges .status")).hasText("done");
    window.visit("#/");
    for (String job : new String[] {"backup", "report"}) {
      assertThat(page.locator(".job:has(a[title='" + job + "']) .badge")).hasText("succeeded");
    }
  }

  @Test
  void a_configuration_is_edited_checked_compared_saved_and_rolled_back() {
    window.visit("#/jobs/check/config");
    press("Edit");
    Locator area = page.getByRole(AriaRole.TEXTBOX, named("Configuration"));
    String before = area.inputValue();
    area.fill("{");
    assertThat(page.locator("#config-check")).containsText("not JSON");
    area.fill(before.replace("\"owner\"", "\"ownr\""));
    assertThat(page.locator("#config-check")).containsText("owner");
    assertThat(page.getByRole(AriaRole.BUTTON, named("Save"))).isDisabled();
    window.picture("job-config-wrong");
    area.fill(before.replace("on call", "the night shift"));
    assertThat(page.locator(".diff .add")).containsText("the night shift");
    assertThat(page.locator(".diff .del")).containsText("on call");
    assertThat(page.locator("#config-check")).containsText("no problems");
    window.picture("job-config-diff");
    assertThat(window.barriers()).isEmpty();
    press("Save …");
    assertThat(dialog()).containsText("0 tasks new, 0 gone.");
    dialog().getByLabel("Reason").fill("they took over");
    confirm("Save", "check is saved");
    assertThat(page.locator(".title .sub")).containsText("the night shift");
    until("/api/v1/jobs/check", Json.of("the night shift"), "owner");

    // Once more, but somebody else is faster.
    press("Edit");
    area.fill(area.inputValue().replace("night", "day"));
    http.put(
        "/api/v1/jobs/check",
        "{\"owner\": \"somebody else\", \"command\": [\"./quick.sh\"],"
            + " \"resources\": {\"slots\": 0, \"network\": 0}}");
    assertThat(page.locator("#config-check")).containsText("no problems");
    press("Save …");
    dialog().getByRole(AriaRole.BUTTON, exactly("Save")).click();
    assertThat(dialog()).containsText("Somebody else has saved this job");
    page.keyboard().press("Escape");
    press("Discard");

    window.visit("#/jobs/check/history");
    assertThat(page.locator(".versions > li")).hasCount(3);
    assertThat(page.locator(".versions > li").last()).containsText("Version 0");
    assertThat(page.locator(".versions")).containsText("they took over");
    assertThat(page.locator(".versions")).not().containsText("version_id");
    press("Roll back");
    assertThat(dialog().locator(".diff")).containsText("the night shift");
    confirm("Roll back", "check is as in version");
    until("/api/v1/jobs/check", Json.of("the night shift"), "owner");
    window.picture("job-versions");

    window.visit("#/jobs/check/config");
    press("Delete");
    assertThat(dialog()).containsText("tasks new, ");
    assertThat(dialog()).containsText("stored statuses would stay behind");
    window.picture("job-delete");
    page.keyboard().press("Escape");

    for (int priority = 1; priority <= 20; priority++) {
      http.put(
          "/api/v1/jobs/check",
          "{\"owner\": \"us\", \"command\": [\"./quick.sh\"], \"priority\": " + priority + "}");
    }
    window.visit("#/jobs/check/history");
    assertThat(page.locator(".versions > li")).hasCount(20);
    assertThat(page.locator(".versions > li").last()).containsText("What it changed");
    press("Show more");
    assertThat(page.locator(".versions > li").last()).containsText("Version 0");
    assertThat(page.locator(".versions > li").last()).containsText("The job");
    assertThat(window.complaints()).isEmpty();
  }

  private void create(String name, String config) {
    page.locator("#new-name").fill(name);
    page.getByRole(AriaRole.TEXTBOX, named("Configuration")).fill(config);
    assertThat(page.locator("#config-check")).containsText("no problems");
    press("Create …");
  }

  @Test
  void a_job_is_created_once_and_never_over_another() {
    String config =
        "{\"owner\": \"me\", \"command\": [\"./quick.sh\"], \"resources\": {\"slots\": 0,"
            + " \"network\": 0}}";
    window.visit("#/");
    page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("New job")).click();
    assertThat(page.getByRole(AriaRole.BUTTON, named("Create"))).isDisabled();
    page.locator("#new-name").fill("fresh");
    page.getByRole(AriaRole.TEXTBOX, named("Configuration")).fill("{\"ownr\": \"me\"}");
    assertThat(page.locator("#config-check")).containsText("did you mean \"owner\"?");
    assertThat(page.getByRole(AriaRole.BUTTON, named("Create"))).isDisabled();
    window.picture("new-job-wrong");
    assertThat(window.barriers()).isEmpty();

    create("check", config);
    assertThat(dialog().locator(".preview")).containsText("tasks new");
    dialog().getByRole(AriaRole.BUTTON, exactly("Create")).click();
    assertThat(dialog()).containsText("There is a job called check already");
    page.keyboard().press("Escape");
    assertThat(at(http.get("/api/v1/jobs/check"), "owner")).isEqualTo(Json.of("on call"));

    create("fresh", config);
    assertThat(dialog().locator(".preview")).containsText("15 tasks new");
    window.picture("new-job");
    assertThat(window.barriers()).isEmpty();
    dialog().getByLabel("Reason").fill("a second look");
    confirm("Create", "fresh is created");
    assertThat(page.getByRole(AriaRole.HEADING, named("fresh"))).isVisible();
    assertThat(text(http.get("/api/v1/jobs/fresh/history"), "versions", "0", "reason"))
        .isEqualTo("a second look");

    // The answer was lost, and it is asked again.
    http.put("/api/v1/jobs/twin", config);
    until("/api/v1/jobs/twin", Json.of("me"), "owner");
    window.visit("#/new");
    create("twin", config);
    confirm("Create", "twin is created");
    assertThat(number(http.get("/api/v1/jobs/twin"), "version")).isEqualTo(1);
    assertThat(window.complaints()).isEmpty();
  }

  @Test
  void tasks_are_found_by_a_part_of_their_name_counted_and_sorted() {
    window.visit("#/jobs/scrub/tasks");
    assertThat(page.locator(".toolbar")).containsText("15 tasks");
    Locator rows = page.locator("tbody tr");
    assertThat(rows).hasCount(15);
    page.getByLabel("Part of the node").fill("h1:v2");
    assertThat(rows).hasCount(2);
    assertThat(page.locator(".toolbar")).containsText("2 tasks");
    page.getByLabel("Part of the node").fill("");
    page.getByLabel("Sort").selectOption("node");
    assertThat(rows.first()).containsText("ñandú");
    // The latest attempt, with its worker and how long it took.
    assertThat(rows.first()).containsText("this scheduler");
    assertThat(rows.first().locator("td.num").last()).containsText(Pattern.compile("m?s$"));
    window.visit("#/workers");
    page.locator("tbody a").click();
    assertThat(page.locator("main")).containsText("Tasks on it");
    assertThat(page.locator("tbody").first()).containsText("backup");
    assertThat(window.barriers()).isEmpty();
    assertThat(window.complaints()).isEmpty();
  }

  @Test
  void limits_are_raised_and_taken_back_for_a_level_and_for_a_node() {
    window.visit("#/limits");
    assertThat(page.locator("main")).containsText("Every limit is as configured");
    page.getByLabel("Override slots on host").click();
    dialog().getByLabel("Limit").fill("2");
    dialog().getByLabel("Reason").fill("a quiet night");
    confirm("Set", "The limit of slots on host is 2");
    assertThat(page.locator("table").first()).containsText("a quiet night");
    window.picture("limits-overrides");
    // Two on each of five hosts, though the racks have four slots each.
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> number(http.get("/api/v1/jobs/backup"), "progress", "running") == 10);
    press("Remove");
    confirm("Remove the override", "counts again");
    assertThat(page.locator("main")).containsText("Every limit is as configured");

    window.visit("#/tree?node=host%2Fr1-h1");
    page.locator(".node").getByLabel("Override slots").click();
    dialog().getByLabel("Limit").fill("0");
    confirm("Set", "The limit of slots on r1-h1 is 0");
    assertThat(page.locator(".node")).containsText("override of 1");
    assertThat(text(http.get("/api/v1/limits"), "overrides", "0", "node")).isEqualTo("r1-h1");
    window.picture("tree-node");
    assertThat(window.barriers()).isEmpty();
    assertThat(window.complaints()).isEmpty();
  }

  @Test
  void the_tree_is_walked_zoomed_and_explains_its_nodes() {
    window.visit("#/tree");
    Locator tree = page.getByRole(AriaRole.TREE);
    assertThat(tree.getByRole(AriaRole.TREEITEM)).hasCount(24);
    tree.getByRole(AriaRole.TREEITEM).first().focus();
    page.keyboard().press("ArrowDown");
    page.keyboard().press("ArrowRight");
    page.keyboard().press("Enter");
    assertThat(page.locator(".node h2")).hasText("r2");
    assertThat(page.locator(".node h2")).isFocused();
    assertThat(page.locator(".node")).containsText("network");
    page.keyboard().press("Escape");
    assertThat(page.locator(".node")).hasCount(0);
    tree.getByRole(AriaRole.TREEITEM, new Locator.GetByRoleOptions().setName("r1, rack"))
        .dblclick();
    assertThat(tree.getByRole(AriaRole.TREEITEM)).hasCount(9);
    press("Whole tree");
    for (String colour : new String[] {"failed", "waiting", "running", "done"}) {
      page.getByLabel("Colour").selectOption(colour);
      assertThat(tree.getByRole(AriaRole.TREEITEM)).hasCount(24);
      window.picture("tree-" + colour);
    }
    page.getByText("As a table").click();
    assertThat(page.locator("table tbody tr").first()).containsText(" %");
    page.getByLabel("Find a node").fill("ñan");
    page.locator(".found button").first().click();
    assertThat(page.locator(".node h2")).hasText("ñandú/ø:v1");
    window.picture("tree-leaf");
    page.locator(".node").getByText("Explain").first().click();
    assertThat(page.locator("h1")).hasText("ñandú/ø:v1");

    http.post(
        "/api/v1/quarantines",
        "{\"node\": \"r1-h1\", \"level\": \"host\", \"reason\": \"disk errors\"}");
    window.visit("#/tree?node=volume%2Fr1-h1%3Av1");
    assertThat(page.locator(".node .notice")).containsText("Closed with r1-h1");
    assertThat(page.locator(".node .notice")).containsText("disk errors");
    assertThat(tree.locator(".is-closed")).hasCount(1);
    assertThat(tree.locator(".is-closed")).containsText("quarantined");
    window.picture("tree-closed");
    assertThat(window.barriers()).isEmpty();
    assertThat(window.complaints()).isEmpty();
  }

  @Test
  void a_waiting_task_shows_who_is_in_its_way() {
    window.visit("#/jobs/backup/task/" + encoded(orchard.waitingNode()));
    assertThat(page.locator(".rootpath > li")).hasCount(4);
    assertThat(page.locator(".rootpath > .blocks")).containsText("slots");
    assertThat(page.locator(".rootpath > .blocks table")).containsText("backup");
    window.picture("task-explained");
    assertThat(window.complaints()).isEmpty();
  }
}
