package io.espalier.e2e;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static io.espalier.e2e.PagesIT.named;
import static io.espalier.e2e.Site.at;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.sun.net.httpserver.HttpServer;
import io.espalier.core.json.Json;
import io.espalier.e2e.Chromium.Look;
import io.espalier.e2e.Chromium.Window;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pages of a scheduler that wants tokens, and of one with workers. */
@SuppressWarnings("NullAway.Init") // set before the tests
@Tag("slow")
class PageAccessIT {
  private static final String VIEWER = "viewer-viewer-viewer-1";
  private static final String ADMIN = "admin-admin-admin-admin-2";

  private static final String CONFIG =
      """
      {"bistro_settings": {
         "nodes": {"levels": ["shard"], "node_sources": [{"source": "manual", "prefs": {"a": [], "b": []}}]},
         "resources": {}},
       "bistro_job->work": {"owner": "e2e", "command": ["./task.sh"]}}
      """;

  static Chromium chromium;

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

  @Test
  void a_token_is_asked_for_and_decides_what_is_offered(@TempDir Path directory)
      throws IOException {
    Site site = new Site(directory).task("task.sh", "").config(CONFIG);
    Path tokens = site.file("tokens");
    Files.writeString(tokens, "vera viewer " + VIEWER + "\nada admin " + ADMIN + "\n");
    Files.setPosixFilePermissions(tokens, PosixFilePermissions.fromString("rw-------"));
    try (Espalier daemon = site.daemon("--tokens-file", "tokens");
        Window window = chromium.open(daemon.url(), Look.DESK)) {
      Page page = window.page();
      window.visit("#/");
      Locator dialog = page.getByRole(AriaRole.DIALOG);
      assertThat(dialog).containsText("tells nothing without a token");
      // A browser closes a dialog at the second Escape, whatever the page says.
      page.keyboard().press("Escape");
      page.keyboard().press("Escape");
      page.keyboard().press("Escape");
      assertThat(dialog).containsText("tells nothing without a token");
      window.picture("token");
      assertThat(window.barriers()).isEmpty();
      dialog.getByLabel("Token").last().fill("not-one-of-theirs-000");
      page.keyboard().press("Enter");
      assertThat(dialog).containsText("does not accept this token");
      dialog.getByLabel("Token").last().fill(VIEWER);
      page.keyboard().press("Enter");
      assertThat(dialog).hasCount(0);
      assertThat(page.locator(".job")).containsText("work");
      assertThat(page.locator(".live")).hasText("live");
      assertThat(page.locator(".me")).containsText("vera");

      // Who may only look is offered nothing else.
      window.visit("#/jobs/work");
      assertThat(page.locator("main")).containsText("Subtrees by jobs");
      assertThat(page.locator(".title button")).hasCount(0);
      window.visit("#/jobs/work/config");
      assertThat(page.locator("main pre").first()).containsText("task.sh");
      assertThat(page.getByRole(AriaRole.BUTTON, named("Edit"))).hasCount(0);
      window.picture("viewer");

      // Kept for this tab, gone with it.
      page.reload();
      assertThat(page.locator(".me")).containsText("vera");
      page.getByRole(AriaRole.BUTTON, named("Sign out")).click();
      dialog.getByLabel("Token").last().fill(ADMIN);
      page.keyboard().press("Enter");
      assertThat(page.locator(".me")).containsText("ada");
      assertThat(page.getByRole(AriaRole.BUTTON, named("Edit"))).isVisible();
      page.getByRole(AriaRole.BUTTON, named("Pause")).click();
      dialog.getByLabel("Reason").fill("to be seen below");
      dialog.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Pause")).click();
      assertThat(page.locator(".notice").filter(new Locator.FilterOptions().setHasText("Paused")))
          .containsText("to be seen below");
      window.visit("#/audit");
      assertThat(page.locator("tbody tr").first()).containsText("to be seen below");
      assertThat(page.locator("tbody tr").first()).containsText("ada");
      page.getByLabel("Who, by the whole name").fill("nobody");
      assertThat(page.locator("main")).containsText("No such changes");
      page.getByLabel("Who, by the whole name").fill("ada");
      page.getByLabel("Change, such as pause").fill("pause");
      assertThat(page.locator("tbody tr").first()).containsText("to be seen below");
      window.picture("audit-entries");
      assertThat(window.barriers()).isEmpty();
      assertThat(window.complaints()).isEmpty();
    }
  }

  @Test
  void where_the_configuration_is_only_read_no_job_is_created(@TempDir Path directory)
      throws IOException {
    Site site = new Site(directory).task("task.sh", "");
    HttpServer source =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    source.createContext(
        "/site.json",
        exchange -> {
          byte[] config = CONFIG.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, config.length);
          exchange.getResponseBody().write(config);
          exchange.close();
        });
    source.start();
    String uri = "http://127.0.0.1:" + source.getAddress().getPort() + "/site.json";
    try (Espalier daemon =
            Espalier.start(
                site.directory(),
                "scheduler",
                "--config",
                uri,
                "--runner",
                "dry-run",
                "--data-dir",
                "data",
                "--http",
                "127.0.0.1:0");
        Window window = chromium.open(daemon.url(), Look.DESK)) {
      Page page = window.visit("#/new");
      assertThat(page.locator("main")).containsText("Jobs cannot be created here");
      assertThat(page.locator("main")).containsText("change it where it is published");
      assertThat(page.getByRole(AriaRole.BUTTON, named("Create"))).hasCount(0);
      window.picture("new-job-refused");
      assertThat(window.barriers()).isEmpty();
    } finally {
      source.stop(0);
    }
  }

  @Test
  void a_worker_is_drained_cordoned_and_let_work_again(@TempDir Path directory) {
    Site site = new Site(directory).task("task.sh", "").config(CONFIG);
    try (Espalier scheduler =
            Espalier.start(
                directory,
                "scheduler",
                "--config",
                "site.json",
                "--runner",
                "remote",
                "--thrift",
                "127.0.0.1:0",
                "--http",
                "127.0.0.1:0");
        Window window = chromium.open(scheduler.url(), Look.DESK)) {
      Http http = new Http(scheduler.url());
      Page page = window.visit("#/workers");
      assertThat(page.locator("main")).containsText("No workers");
      try (Espalier worker =
          Espalier.start(
              site.directory(),
              "worker",
              "--scheduler",
              scheduler.forWorkers(),
              "--shard-id",
              "w1")) {
        assertThat(worker.isAlive()).isTrue();
        Locator row = page.locator("tbody tr");
        assertThat(row).containsText("w1");
        for (String action : new String[] {"Drain", "Cordon"}) {
          row.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName(action)).click();
          Locator dialog = page.getByRole(AriaRole.DIALOG);
          dialog.getByLabel("Reason").fill("new disks");
          dialog.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName(action)).click();
          assertThat(page.locator(".toasts")).containsText("w1 gets no new tasks");
          assertThat(row).containsText("new disks");
          assertThat(at(http.get("/api/v1/workers"), "workers", "0", "takes_tasks"))
              .isEqualTo(Json.of(false));
          window.picture("workers-" + action.toLowerCase(Locale.ROOT));
          row.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Uncordon"))
              .click();
          dialog
              .getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Uncordon"))
              .click();
          assertThat(
                  row.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Drain")))
              .isVisible();
        }
        row.getByRole(AriaRole.LINK).click();
        assertThat(page.locator("main")).containsText("Nothing runs on it");
        // Two measurements: processors are measured from one to the next. A page on which nothing
        // happens looks again every 15 s.
        await()
            .atMost(Duration.ofSeconds(60))
            .until(
                () ->
                    at(http.get("/api/v1/workers"), "workers", "0") instanceof Json.Obj w1
                        && w1.get("measured") instanceof Json.Obj measured
                        && measured.get("cpu_use") != null
                        && measured.get("disk_free_bytes") != null);
        Locator host = page.locator(".facts");
        for (String known :
            new String[] {
              "CPU in use ?[\\d<]",
              "Load ?\\d",
              "Memory available ?\\d.* of \\d",
              "Disk free ?\\d.* of \\d"
            }) {
          assertThat(host).containsText(Pattern.compile(known));
        }
        assertThat(page.locator("tbody")).containsText("worker drained");
        assertThat(page.locator("tbody")).containsText("new disks");
        window.picture("worker");
        assertThat(window.barriers()).isEmpty();
        assertThat(window.complaints()).isEmpty();
      }
    }
  }
}
