package io.espalier.e2e;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static io.espalier.e2e.Site.at;
import static io.espalier.e2e.Site.number;
import static io.espalier.e2e.Site.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.microsoft.playwright.Page;
import io.espalier.core.json.Json;
import io.espalier.e2e.Chromium.Look;
import io.espalier.e2e.Chromium.Window;
import io.espalier.e2e.Espalier.Ended;
import io.espalier.e2e.TaskProcesses.Task;
import io.espalier.e2e.TaskProcesses.Watched;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Redundancy groups, as the kernel sees the tasks and as people see the groups. */
class GroupsIT {
  /** Nine hosts in sets of three, with two disks each, and two jobs on all of them. */
  private static Site site(Path directory, String script) {
    StringBuilder hosts = new StringBuilder();
    for (int host = 0; host < 9; host++) {
      hosts.append(
          "{\"name\": \"h%d\", \"attributes\": {\"set\": \"s%d\"}}\n".formatted(host, host / 3));
    }
    Site site =
        new Site(directory)
            .config(
                """
                {"bistro_settings": {
                  "nodes": {"levels": ["host", "disk"], "node_sources": [
                    {"source": "file", "prefs": {"parent_level": "instance", "path": "hosts.jsonl"}},
                    {"source": "range_label", "prefs": {"parent_level": "host", "start": 1,
                      "end": 2, "format": "{parent}d{i}"}}]},
                  "resources": {"host": {"slots": {"limit": 2, "default": 1}}},
                  "groups": {"replset": {"level": "host", "by": "attribute:set",
                    "max_concurrent": 1}}},
                 "bistro_job->backup": {"owner": "e2e", "command": ["./SCRIPT"]},
                 "bistro_job->repair": {"owner": "e2e", "command": ["./SCRIPT"]}}
                """
                    .replace("SCRIPT", script));
    site.write("hosts.jsonl", hosts.toString());
    return site;
  }

  /** Returns the hosts of a set on which tasks run. */
  private static Set<String> busy(Set<Task> together, int set) {
    Set<String> hosts = new TreeSet<>();
    for (Task task : together) {
      int host = task.node().charAt(1) - '0';
      if (host / 3 == set) {
        hosts.add("h" + host);
      }
    }
    return hosts;
  }

  @Test
  void two_members_of_a_set_never_have_processes_at_once(@TempDir Path directory) throws Exception {
    Site site = site(directory, "task.sh").task("task.sh", "sleep 0.03");
    TaskProcesses processes = new TaskProcesses(directory);
    Watched<Ended> watched = processes.during(() -> site.run());
    Ended run = watched.result();

    assertThat(run.code()).as(run.stderr()).isZero();
    assertThat(number(run.json(), "jobs", "backup", "done")).isEqualTo(18);
    assertThat(number(run.json(), "jobs", "repair", "done")).isEqualTo(18);
    for (int set = 0; set < 3; set++) {
      int each = set;
      assertThat(watched.seen())
          .allSatisfy(together -> assertThat(busy(together, each)).hasSizeLessThanOrEqualTo(1));
    }
    assertThat(watched.seen())
        .as("the watch saw two sets at work at once")
        .anyMatch(together -> !busy(together, 0).isEmpty() && !busy(together, 1).isEmpty());
  }

  @Test
  void who_is_busy_is_told_to_programs_and_people(@TempDir Path directory) throws Exception {
    Site site =
        site(directory, "hold.sh")
            .script("hold.sh", "while [ ! -e \"$site/go\" ]; do sleep 0.2; done\n");
    try (Espalier daemon = site.daemon();
        Chromium chromium = Chromium.start()) {
      Http http = new Http(daemon.url());
      await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> number(http.get("/api/v1/groups"), "kinds", "0", "busy") == 3);
      Json kind = at(http.get("/api/v1/groups"), "kinds", "0");
      assertThat(number(kind, "groups")).isEqualTo(3);
      assertThat(number(kind, "full")).isEqualTo(3);

      Json first = http.get("/api/v1/groups/replset?state=full&limit=2");
      assertThat(((Json.Arr) at(first, "groups")).items()).hasSize(2);
      assertThat(number(first, "groups", "0", "members", "0", "running")).isEqualTo(2);
      assertThat(number(first, "groups", "0", "members", "1", "running")).isZero();
      String next = text(first, "next");
      Json second = http.get("/api/v1/groups/replset?after=" + next);
      assertThat(((Json.Arr) at(second, "groups")).items()).hasSize(1);
      assertThat(text(second, "next")).isEmpty();
      assertThat(http.response("/api/v1/groups/replset?after=nobody").statusCode()).isEqualTo(409);
      assertThat(http.response("/api/v1/groups/nobody").statusCode()).isEqualTo(404);
      await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () ->
                  http.response("/metrics")
                      .body()
                      .contains("espalier_groups_full{kind=\"replset\"} 3"));

      Ended groups = site.espalier("groups", "replset", "--server", daemon.url());
      assertThat(groups.code()).as(groups.stderr()).isZero();
      assertThat(groups.stdout()).contains("s0").contains("and 1 more)");

      try (Window window = chromium.open(daemon.url(), Look.DESK)) {
        Page page = window.visit("#/limits?kind=replset");
        assertThat(page.locator("table.members tbody tr")).hasCount(3);
        window.picture("groups");
        assertThat(window.barriers()).isEmpty();
        assertThat(window.isTooWide()).isFalse();
        assertThat(window.complaints()).isEmpty();
      }
      site.write("go", "");
    }
  }

  /** Of the hosts h0 to h8, the first of two schedulers has h0, h5 and h7: one of each set. */
  @Test
  void nothing_starts_on_sets_with_members_on_several_schedulers(@TempDir Path directory)
      throws Exception {
    Site site = site(directory, "task.sh").task("task.sh", "true");
    try (Espalier daemon = site.daemon("--shard", "0/2", "--nodes-update-ms", "1000")) {
      Http http = new Http(daemon.url());
      await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> text(http.get("/api/v1/problems"), "problems", "0", "message").length() > 0);
      assertThat(text(http.get("/api/v1/problems"), "problems", "0", "message"))
          .contains(
              "the members of 3 groups, such as s0 (1 member here and 2 on other schedulers)");
      assertThat(
              text(http.get("/api/v1/jobs/backup/tasks/h0d1/explain"), "reasons", "0", "message"))
          .startsWith("replset s0 has 1 member here and 2 on other schedulers");
      assertThat(site.starts("backup")).isEmpty();

      // The hosts of the other scheduler leave the sets of this one.
      StringBuilder hosts = new StringBuilder();
      for (int host = 0; host < 9; host++) {
        String set = host == 0 || host == 5 || host == 7 ? "ours" : "theirs";
        hosts.append(
            "{\"name\": \"h%d\", \"attributes\": {\"set\": \"%s\"}}\n".formatted(host, set));
      }
      site.write("hosts.jsonl", hosts.toString());
      await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> number(http.get("/api/v1/jobs/backup"), "progress", "done") == 6);
    }
  }
}
