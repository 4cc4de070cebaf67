package io.espalier.e2e;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static io.espalier.e2e.Site.at;
import static io.espalier.e2e.Site.number;
import static io.espalier.e2e.Site.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.microsoft.playwright.Locator;
import io.espalier.core.json.Json;
import io.espalier.e2e.Chromium.Look;
import io.espalier.e2e.Chromium.Window;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A limit that follows a probe, with real tasks on two hosts, and a scheduler that is killed. */
@Tag("slow")
class ProbesIT {
  private static final String LEFT = "no node of level host has a value of the last 3 s";

  private static Site site(Path directory) {
    return new Site(directory)
        .task(
            "task.sh",
            "trap 'note told; exit 1' TERM\n"
                + "until [ -e \"$site/go\" ] || [ -e \"$site/end-$node\" ]; do sleep 0.05; done")
        .config(
            """
            {"bistro_settings": {
              "nodes": {"levels": ["host", "disk"], "node_order": "original", "node_sources": [
                {"source": "range_label",
                 "prefs": {"parent_level": "instance", "start": 1, "end": 2, "format": "h{i}"}},
                {"source": "range_label",
                 "prefs": {"parent_level": "host", "start": 1, "end": 8,
                           "format": "{parent}-{i}"}}]},
              "probes": {"lag": {"level": "host", "source": "file",
                "prefs": {"path": "lag.csv"},
                "every": "1s", "max_age": "3s", "bad_above": 5, "good_below": 2}},
              "resources": {"host": {
                "slots": {"limit": 4, "default": 1, "follows": ["lag"], "floor": 1}}}},
             "bistro_job->scrub": {"owner": "e2e", "command": ["./task.sh"]}}
            """);
  }

  private static void until(String what, BooleanSupplier reached) {
    await(what).atMost(Duration.ofSeconds(60)).until(reached::getAsBoolean);
  }

  private static void lag(Site site, double first, double second) {
    site.write("lag.csv", "name,value\nh1," + first + "\nh2," + second + "\n");
  }

  /** The number of tasks that run on each host, as the kernel knows them. */
  private static Map<String, Integer> running(TaskProcesses processes) {
    Map<String, Integer> running = new HashMap<>();
    processes.alive().forEach(task -> running.merge(task.node().substring(0, 2), 1, Integer::sum));
    return running;
  }

  private static long started(Site site, String host) {
    return site.starts("scrub").keySet().stream().filter(node -> node.startsWith(host)).count();
  }

  /** The slots that the probe leaves to a host; 4: all. */
  private static long left(Http http, String host) {
    return ((Json.Arr) at(http.get("/api/v1/probes"), "probes", "0", "lowered"))
        .items().stream()
            .filter(each -> text(each, "node").equals(host))
            .mapToLong(each -> number(each, "limit"))
            .findFirst()
            .orElse(4);
  }

  private static String why(Http http, String node) {
    return at(http.get("/api/v1/jobs/scrub/tasks/" + node + "/explain"), "reasons").toString();
  }

  @Test
  void a_limit_falls_rises_and_is_at_its_floor_while_nothing_is_known(@TempDir Path directory)
      throws Exception {
    Site site = site(directory);
    TaskProcesses processes = new TaskProcesses(directory);
    lag(site, 1, 1);
    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      until("all slots are used", () -> running(processes).equals(Map.of("h1", 4, "h2", 4)));
      falls(site, http, processes);
      rises(site, http, processes);
      goesBlind(site, daemon, http, processes);
      assertThat(site.notes()).extracting(Site.Note::what).doesNotContain("told");
      daemon.signal("KILL");
      assertThat(daemon.ended().code()).isEqualTo(128 + 9);
    }
    until("no task survives", () -> processes.alive().isEmpty());
    beginsAtTheFloor(site, processes);
  }

  @Test
  void the_page_and_the_command_line_say_what_has_lowered_a_limit(@TempDir Path directory) {
    Site site = site(directory);
    lag(site, 9, 1);
    try (Espalier daemon = site.daemon();
        Chromium chromium = Chromium.start();
        Window window = chromium.open(daemon.url(), Look.DESK)) {
      String reason = "probe lag is 9 (bad above 5): 1 of 4 slots";
      window.visit("#/tree?node=host%2Fh1");
      Locator node = window.page().locator(".node");
      assertThat(node).containsText(reason);
      assertThat(node).not().containsText("override of");
      assertThat(node.getByLabel("Override slots")).hasCount(1);
      assertThat(node.getByLabel("Remove the override of slots")).hasCount(0);
      window.picture("tree-lowered");
      assertThat(window.barriers()).isEmpty();
      assertThat(window.complaints()).isEmpty();
      assertThat(site.espalier("node", "host", "h1", "--server", daemon.url()).stdout())
          .contains(reason);
      site.write("go", "");
    }
  }

  private static void falls(Site site, Http http, TaskProcesses processes) {
    Set<TaskProcesses.Task> before = processes.alive();
    lag(site, 9, 1);
    until("half of the slots are left", () -> left(http, "h1") == 2);
    assertThat(processes.alive()).as("nothing is killed").isEqualTo(before);
    assertThat(why(http, "h1-8")).contains("probe lag is 9 (bad above 5): 2 of 4 slots");
    for (String node : List.of("h1-1", "h1-2", "h2-1")) {
      site.write("end-" + node, "");
    }
    until("it is cut again when use fits", () -> left(http, "h1") == 1);
    until("the well host goes on", () -> started(site, "h2") == 5);
    assertThat(started(site, "h1")).as("nothing starts on the other").isEqualTo(4);
    assertThat(running(processes)).isEqualTo(Map.of("h1", 2, "h2", 4));
  }

  private static void rises(Site site, Http http, TaskProcesses processes) {
    lag(site, 1, 1);
    until("the limit is whole again", () -> left(http, "h1") == 4);
    until("its slots are used", () -> running(processes).equals(Map.of("h1", 4, "h2", 4)));
    assertThat(started(site, "h1")).isEqualTo(6);
  }

  private static void goesBlind(Site site, Espalier daemon, Http http, TaskProcesses processes)
      throws IOException {
    Files.delete(site.file("lag.csv"));
    until("the values are too old", () -> http.get("/api/v1/probes").toString().contains(LEFT));
    assertThat(left(http, "h1")).isOne();
    assertThat(left(http, "h2")).isOne();
    assertThat(why(http, "h2-8")).containsPattern("probe lag is \\d+ s old");
    String[] server = {"--server", daemon.url()};
    assertThat(site.espalier("problems", server[0], server[1]).stdout()).contains("lag.csv", LEFT);
    assertThat(site.espalier("probes", server[0], server[1]).stdout())
        .contains("0 of 2 known", "s old");
    assertThat(running(processes)).as("what runs goes on").isEqualTo(Map.of("h1", 4, "h2", 4));
  }

  private static void beginsAtTheFloor(Site site, TaskProcesses processes) {
    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      until("the floor is used", () -> running(processes).equals(Map.of("h1", 1, "h2", 1)));
      assertThat(why(http, "h1-8")).contains("probe lag has no value of this node yet");
      lag(site, 1, 9);
      until("a good value makes it whole", () -> running(processes).getOrDefault("h1", 0) == 4);
      assertThat(running(processes).get("h2")).as("a bad one leaves the floor").isOne();
      lag(site, 1, 1);
      site.write("go", "");
      until("all is done", () -> number(http.get("/api/v1/jobs/scrub"), "progress", "done") == 16);
    }
  }
}
