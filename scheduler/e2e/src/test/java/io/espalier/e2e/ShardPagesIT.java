package io.espalier.e2e;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static io.espalier.e2e.Site.number;
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
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page over two schedulers that share one configuration. "host1" is of 1/2, "host2" of 0/2. */
@Tag("slow")
class ShardPagesIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Site site;

  ShardPagesIT(@TempDir Path directory) {
    site = new Site(directory);
  }

  @AfterEach
  void stop() {
    site.close();
  }

  @Test
  void jobs_are_one_and_tasks_are_found_where_they_are() {
    site.task("task.sh", "[ -e good ] || { echo failed >\"$2\"; exit; }")
        .config(
            """
                {"bistro_settings": {
                   "nodes": {"levels": ["host"], "node_sources": [
                     {"source": "manual", "prefs": {"host1": [], "host2": [], "host3": []}}]},
                   "resources": {}},
                 "bistro_job->hosts": {"owner": "e2e", "command": ["./task.sh"]},
                 "bistro_job->all": {"owner": "e2e", "level_for_tasks": "instance",
                   "command": ["true"], "status_from": "exit_code"}}
                """);
    List<String> list = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Espalier shard = site.daemon("--shard", i + "/2", "--instance-node-name", "here");
      list.add("shard" + i + "=" + shard.url());
    }
    Espalier ui =
        site.start(
            "ui",
            "--schedulers",
            String.join(",", list),
            "--http",
            "127.0.0.1:0",
            "--poll-ms",
            "300");
    Http fleet = new Http(ui.url());
    awaitCounts(fleet, "hosts", "failed", 3);
    awaitCounts(fleet, "all", "done", 1);
    Json hosts = fleet.get("/api/v1/fleet/jobs/hosts");
    assertThat(number(hosts, "progress", "total")).isEqualTo(3);
    assertThat(number(hosts, "schedulers")).isEqualTo(2);
    assertThat(number(hosts, "variants")).isEqualTo(1);
    Json all = fleet.get("/api/v1/fleet/jobs/all");
    assertThat(number(all, "progress", "total")).as("without what shard 1 leaves out").isEqualTo(1);

    try (Chromium chromium = Chromium.start();
        Window window = chromium.open(ui.url(), Look.DESK)) {
      Page page = window.visit("#/");
      assertThat(page.locator("main")).containsText("on 2");
      assertThat(page.locator("li.job").filter(having("all")).first()).containsText("finished");
      window.picture("shards-overview");
      window.visit("#/jobs/hosts");
      page.getByLabel("Task on node").fill("host1");
      window.picture("shards-job");
      assertThat(window.barriers()).isEmpty();
      page.locator("main").getByRole(AriaRole.BUTTON, exactly("Find")).click();
      assertThat(page.locator("h1")).containsText("host1");
      assertThat(page).hasURL(ui.url() + "/s/shard1/#/jobs/hosts/task/host1");
      window.picture("shards-task");
    }
  }

  private static void awaitCounts(Http fleet, String job, String state, long count) {
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () ->
                assertThat(number(fleet.get("/api/v1/fleet/jobs/" + job), "progress", state))
                    .isEqualTo(count));
  }

  private static Locator.FilterOptions having(String name) {
    return new Locator.FilterOptions().setHasText(name);
  }

  private static Locator.GetByRoleOptions exactly(String name) {
    return new Locator.GetByRoleOptions().setName(name).setExact(true);
  }
}
