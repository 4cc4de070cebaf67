package io.espalier.e2e;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import io.espalier.e2e.Chromium.Look;
import io.espalier.e2e.Chromium.Window;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What-ifs asked in the page, simulated by a child of a real scheduler. */
@SuppressWarnings("NullAway.Init") // set before all tests
@Tag("slow")
class WhatIfIT {
  static Chromium chromium;
  static Orchard orchard;

  @BeforeAll
  static void plant(@TempDir Path directory) {
    chromium = Chromium.start();
    orchard = Orchard.in(directory);
  }

  @AfterAll
  static void fell() {
    if (orchard != null) {
      orchard.close();
    }
    if (chromium != null) {
      chromium.close();
    }
  }

  private static void simulate(Page page) {
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Simulate").setExact(true))
        .click();
  }

  private static void limit(Page page, String node, String limit) {
    page.getByLabel("Limit", new Page.GetByLabelOptions().setExact(true))
        .selectOption("host.slots");
    page.getByLabel("Node").fill(node);
    page.getByLabel("New limit").fill(limit);
  }

  @Test
  void a_change_is_simulated_and_compared() {
    for (Look look : List.of(Look.DESK, Look.NIGHT, Look.PHONE, Look.WIDE)) {
      try (Window window = chromium.open(orchard.url(), look)) {
        Page page = window.visit("#/jobs/backup/what-if");
        limit(page, "", "2");
        page.getByLabel("A task takes, in seconds").fill("60");
        simulate(page);
        Locator outcome = page.locator("section[aria-labelledby=h-outcome]");
        assertThat(outcome).containsText("sooner");
        assertThat(outcome).containsText("Tasks left");
        assertThat(outcome.locator("tbody tr").first()).containsText("backup");
        assertThat(outcome.locator("polyline")).hasCount(4);
        assertThat(page.locator(".cli code"))
            .containsText("espalier simulate --set host.slots=2 --horizon 7d --assume 60s");
        window.picture("what-if");
        assertThat(window.isTooWide()).as(look.name()).isFalse();
        assertThat(window.barriers()).as(look.name()).isEmpty();
        assertThat(window.complaints()).as(look.name()).isEmpty();
      }
    }
  }

  @Test
  void what_cannot_be_simulated_is_told_on_the_page() {
    try (Window window = chromium.open(orchard.url(), Look.DESK)) {
      Page page = window.visit("#/jobs/backup/what-if");
      Locator failure = page.locator(".failure");
      simulate(page);
      assertThat(failure)
          .containsText(
              Pattern.compile("no task has ended yet of .*backup.*: give \"assume_seconds\""));
      limit(page, "r1-h9", "2");
      simulate(page);
      assertThat(failure).containsText("there is no node \"r1-h9\"; did you mean");
      limit(page, "", "-1");
      simulate(page);
      assertThat(failure).containsText("a limit is a whole number from 0");
      page.getByLabel("On", new Page.GetByLabelOptions().setExact(true)).fill("all");
      page.getByLabel("Left of the limits").fill("150");
      limit(page, "", "1");
      simulate(page);
      assertThat(failure).containsText("from 0 (nothing starts) to below 1");
      window.picture("what-if-refused");
      assertThat(window.barriers()).isEmpty();
      assertThat(window.complaints()).isEmpty();
    }
  }

  @Test
  void a_paused_job_ends_without_its_pause() {
    orchard.http().post("/api/v1/jobs/report/pause");
    try (Window window = chromium.open(orchard.url(), Look.DESK)) {
      Page page = window.visit("#/jobs/report/what-if");
      page.getByLabel("Without the pause of report").check();
      page.getByLabel("A task takes, in seconds").fill("60");
      simulate(page);
      Locator report = page.locator("section[aria-labelledby=h-outcome] tbody tr").first();
      assertThat(report).containsText("report");
      assertThat(report).containsText("never");
      assertThat(report).containsText("ends");
      assertThat(page.locator(".cli code")).containsText("--resume report");
      assertThat(window.barriers()).isEmpty();
      assertThat(window.complaints()).isEmpty();
    } finally {
      orchard.http().post("/api/v1/jobs/report/resume");
    }
  }

  @Test
  void other_parameters_of_the_job_are_simulated() {
    try (Window window = chromium.open(orchard.url(), Look.DESK)) {
      Page page = window.visit("#/jobs/backup/what-if");
      page.getByLabel("A task takes, in seconds").fill("60");
      page.getByLabel("Tasks at once").fill("0");
      simulate(page);
      assertThat(page.locator(".failure"))
          .containsText("\"backup.max_concurrent=0\": expected a whole number from 1");
      page.getByLabel("Tasks at once").fill("1");
      page.getByLabel("A task needs").selectOption("host.slots");
      page.getByLabel("Slots of it").fill("1");
      simulate(page);
      Locator backup = page.locator("section[aria-labelledby=h-outcome] tbody tr").first();
      assertThat(backup).containsText("backup");
      assertThat(backup).containsText("later");
      assertThat(page.locator(".cli code"))
          .containsText("--job backup.max_concurrent=1 --job backup.resources.slots=1");
      window.picture("what-if-job");
      assertThat(window.barriers()).isEmpty();
      assertThat(window.complaints()).isEmpty();
    }
  }

  @Test
  void leaving_the_page_ends_the_simulation() {
    try (Window window = chromium.open(orchard.url(), Look.DESK)) {
      Page page = window.visit("#/jobs/backup/what-if");
      page.getByLabel("A task takes, in seconds").fill("1");
      simulate(page);
      Locator stop = page.locator("form.what-if").getByText("Stop");
      stop.click();
      assertThat(stop).hasCount(0);
      assertThat(page.locator(".failure")).hasCount(0);
      // Another one runs only when the first one is over.
      await()
          .atMost(Duration.ofSeconds(60))
          .until(
              () ->
                  orchard
                          .http()
                          .keyed("stopped", "/api/v1/what-if", "{\"assume_seconds\": 1}")
                          .statusCode()
                      == 200);
    }
  }
}
