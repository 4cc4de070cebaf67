package io.espalier.e2e;

import static io.espalier.e2e.Site.at;
import static io.espalier.e2e.Site.number;
import static io.espalier.e2e.Site.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import io.espalier.e2e.Espalier.Ended;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A configuration is planned, refused, agreed to and applied, also after a restart. */
class PlanIT {
  private static final String SETTINGS =
      """
      {"bistro_settings": {
        "nodes": {"levels": ["host", "shard"], "node_sources": [
          {"source": "manual", "prefs": {"h1": ["a", "b"], "h2": ["c"]}}]},
        "resources": {"host": {"slots": {"limit": 2, "default": 1}}},
        "kill_orphan_tasks_after_sec": 0}""";

  private static final String WORK =
      ",\n\"bistro_job->work\": {\"owner\": \"e2e\", \"command\": [\"./task.sh\"]}";
  private static final String OTHER =
      ",\n\"bistro_job->other\": {\"owner\": \"e2e\", \"command\": [\"./quick.sh\"]}";

  private static void until(String what, BooleanSupplier reached) {
    await(what).atMost(Duration.ofSeconds(60)).until(reached::getAsBoolean);
  }

  private static Ended command(Site site, Espalier daemon, String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--server", daemon.url()));
    return site.espalier(all.toArray(new String[0]));
  }

  private static Json.Obj plan(Site site, Espalier daemon, String... more) {
    List<String> all = new ArrayList<>(List.of("plan", "next.json", "--json"));
    all.addAll(List.of(more));
    Ended ended = command(site, daemon, all.toArray(new String[0]));
    assertThat(ended.code()).as(ended.stderr()).isZero();
    return ended.json();
  }

  @Tag("slow")
  @Test
  void what_would_be_killed_needs_consent(@TempDir Path directory) throws Exception {
    Site site =
        new Site(directory)
            .task("task.sh", "while [ ! -e \"$site/go\" ]; do sleep 0.05; done")
            .task("quick.sh", "true")
            .config(SETTINGS + WORK + "}");
    TaskProcesses processes = new TaskProcesses(directory);
    site.write("next.json", SETTINGS + OTHER + "}");
    String token;
    try (Espalier daemon = site.daemon()) {
      until("all run", () -> processes.alive().size() == 3);
      Json.Obj harmless = plan(site, daemon);
      assertThat(number(harmless, "impact", "kills")).isZero();
      assertThat(number(harmless, "impact", "tasks_added")).isEqualTo(3);

      Json.Obj plan = plan(site, daemon, "--prune");
      assertThat(number(plan, "impact", "kills")).isEqualTo(3);
      assertThat(number(plan, "consent", "kills")).isEqualTo(3);
      token = text(plan, "token");
      Ended shown = command(site, daemon, "plan", "next.json", "--prune");
      assertThat(shown.stdout())
          .contains("3 of 3 running tasks become orphans, 3 of them are killed")
          .contains("--consent kills=3 --plan");
      Ended refused = command(site, daemon, "apply", "next.json", "--prune", "--plan", token);
      assertThat(refused.code()).isEqualTo(1);
      assertThat(refused.stderr()).contains("3 running tasks would be killed", "kills=3");
      Ended few =
          command(
              site,
              daemon,
              "apply",
              "next.json",
              "--prune",
              "--consent",
              "kills=2",
              "--plan",
              token);
      assertThat(few.stderr()).contains("consent is for 2");
      Ended other = command(site, daemon, "apply", "next.json", "--plan", token);
      assertThat(other.stderr()).contains("not the configuration that was planned");
      assertThat(processes.alive()).hasSize(3);
    }
    until("no task survives", () -> processes.alive().isEmpty());

    // The key is in the store: the plan is good for the next scheduler on it.
    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      until("all run again", () -> processes.alive().size() == 3);
      until("it knows", () -> number(http.get("/api/v1/running"), "total") == 3);
      Ended applied =
          command(
              site,
              daemon,
              "apply",
              "next.json",
              "--prune",
              "--consent",
              "kills=3",
              "--plan",
              token,
              "--reason",
              "new work");
      assertThat(applied.code()).as(applied.stderr()).isZero();
      assertThat(applied.stdout()).contains("1 job is saved, 1 deleted");
      until("the orphans are killed", () -> processes.alive().isEmpty());
      until("the new job is done", () -> site.starts("other").size() == 3);
      assertThat(http.events())
          .anySatisfy(
              event -> {
                assertThat(text(event, "kind")).isEqualTo("config_applied");
                assertThat(number(event, "data", "kills")).isEqualTo(3);
                assertThat(text(event, "data", "reason")).isEqualTo("new work");
              });
      Ended again =
          command(
              site,
              daemon,
              "apply",
              "next.json",
              "--prune",
              "--consent",
              "kills=3",
              "--plan",
              token);
      assertThat(again.stderr()).contains("has changed since this plan");
      assertThat(at(plan(site, daemon, "--prune"), "jobs")).isEqualTo(new Json.Arr(List.of()));
    }
  }

  @Test
  void every_mistake_is_told_and_nothing_is_written(@TempDir Path directory) throws Exception {
    Site site = new Site(directory).config(SETTINGS + "}");
    site.write(
        "next.json",
        SETTINGS
            + ",\n\"bistro_job->x\": {\"owner\": \"o\", \"priority\": \"x\"},"
            + "\n\"bistro_job->y\": {\"ownr\": \"o\"}}");
    site.write("job.json", "{\"owner\": \"me\", \"prioritty\": 3, \"timeout_sec\": \"x\"}");
    try (Espalier daemon = site.daemon()) {
      Ended whole = command(site, daemon, "plan", "next.json");
      assertThat(whole.code()).isEqualTo(2);
      List<String> errors =
          site.espalier("validate", "next.json", "--runner", "remote")
              .stdout()
              .lines()
              .filter(line -> line.contains(": error: "))
              .toList();
      assertThat(errors).hasSizeGreaterThanOrEqualTo(2);
      assertThat(whole.stderr()).contains(errors);
      Ended one = command(site, daemon, "plan", "job.json", "--job", "x");
      assertThat(one.code()).isEqualTo(2);
      assertThat(one.stdout()).contains("bistro_job->x.timeout_sec", "cannot be applied");
      Ended nameless = command(site, daemon, "plan", "job.json");
      assertThat(nameless.code()).isEqualTo(2);
      assertThat(nameless.stderr()).contains("--job");
    }
  }

  /** Two hosts with so many shards each, two tasks at a time on a host. */
  private static String hosts(int slots, int last) {
    return """
        {"bistro_settings": {
          "nodes": {"levels": ["host", "shard"], "node_sources": [
            {"source": "manual", "prefs": {"h1": [], "h2": []}},
            {"source": "range_label", "prefs": {"parent_level": "host", "start": 1, "end": LAST,
              "format": "{parent}s{i}"}}]},
          "resources": {"host": {"slots": {"limit": SLOTS, "default": 1}}}},
         "bistro_job->scrub": {"owner": "e2e", "command": ["./task.sh"]}}
        """
        .replace("SLOTS", Integer.toString(slots))
        .replace("LAST", Integer.toString(last));
  }

  private static double seconds(Json json, String... path) {
    return ((Json.Num) at(json, path)).value().doubleValue();
  }

  private static double eta(Site site, Espalier daemon) throws Exception {
    Json answer = command(site, daemon, "eta", "scrub", "--json").json();
    return seconds(answer, "etas", "0", "p50_seconds");
  }

  @Tag("slow")
  @Test
  void a_plan_forecasts_the_use_and_the_ends_that_come_about(@TempDir Path directory)
      throws Exception {
    // Tasks still run at the end, and write into the directory until they are killed.
    try (Site site = new Site(directory).task("task.sh", "sleep 2").config(hosts(2, 40))) {
      site.write("next.json", hosts(4, 40));
      Espalier daemon = site.daemon();
      until(
          "durations are known",
          () -> site.notes().stream().filter(note -> note.what().equals("end")).count() >= 8);
      double etaBefore = eta(site, daemon);
      Json.Obj plan = plan(site, daemon);
      double etaAfter = eta(site, daemon);
      Json peak = at(plan, "forecast", "peaks", "0");
      assertThat(text(peak, "resource")).isEqualTo("slots");
      assertThat(number(peak, "now", "used")).isEqualTo(4);
      assertThat(number(peak, "now", "slots")).isEqualTo(4);
      assertThat(number(peak, "then", "used")).isEqualTo(8);
      assertThat(number(peak, "then", "slots")).isEqualTo(8);
      Json end = at(plan, "forecast", "ends", "0");
      assertThat(text(end, "job")).isEqualTo("scrub");
      double now = seconds(end, "now", "p50_seconds");
      double then = seconds(end, "then", "p50_seconds");
      // Tasks that end meanwhile change the estimate: the plan's lies between the two.
      assertThat(now)
          .isBetween(
              Math.min(etaBefore, etaAfter) - 0.2 * now, Math.max(etaBefore, etaAfter) + 0.2 * now);
      assertThat(then).isBetween(0.4 * now, 0.65 * now);
      assertThat(seconds(end, "now", "p90_seconds")).isGreaterThanOrEqualTo(now);
      assertThat(seconds(end, "then", "p90_seconds")).isGreaterThanOrEqualTo(then);

      Ended applied = command(site, daemon, "apply", "next.json", "--plan", text(plan, "token"));
      assertThat(applied.code()).as(applied.stderr()).isZero();
      Http http = new Http(daemon.url());
      until("the peak is reached", () -> number(http.get("/api/v1/running"), "total") == 8);
    }
  }

  @Test
  void what_a_mistyped_range_would_add_needs_consent(@TempDir Path directory) throws Exception {
    Site site = new Site(directory).task("task.sh", "true").config(hosts(2, 20));
    site.write("next.json", hosts(2, 20_000));
    try (Espalier daemon = site.daemon()) {
      until("the job is done", () -> site.starts("scrub").size() == 40);
      Json.Obj plan = plan(site, daemon);
      assertThat(number(plan, "impact", "tasks_added")).isEqualTo(39_960);
      assertThat(number(plan, "consent", "new")).isEqualTo(39_960);
      Ended shown = command(site, daemon, "plan", "next.json");
      assertThat(shown.stdout()).contains("39,960 tasks are new", "--consent new=39960 --plan");
      Ended refused = command(site, daemon, "apply", "next.json", "--plan", text(plan, "token"));
      assertThat(refused.code()).isEqualTo(1);
      assertThat(refused.stderr()).contains("new=39960");
      assertThat(plan(site, daemon).get("impact")).isEqualTo(plan.get("impact"));
      assertThat(site.starts("scrub")).hasSize(40);
    }
  }

  @Test
  @Tag("slow")
  void tokens_of_another_cluster_and_forged_ones_are_refused(@TempDir Path directory)
      throws Exception {
    Site site = new Site(directory).task("task.sh", "true").config(hosts(2, 1));
    site.write("next.json", hosts(3, 1));
    String foreign;
    try (Espalier daemon = site.daemon("--data-dir", "other")) {
      foreign = text(plan(site, daemon), "token");
    }
    try (Espalier daemon = site.daemon()) {
      String token = text(plan(site, daemon), "token");
      String forged = token.substring(0, token.length() - 2) + (token.endsWith("AA") ? "BB" : "AA");
      for (String[] each :
          List.of(
              new String[] {foreign, "plan_of_another_cluster", "another"},
              new String[] {forged, "plan_forged", "signature"},
              new String[] {"yesterday", "plan_unreadable", "plan"})) {
        Ended refused = command(site, daemon, "apply", "next.json", "--plan", each[0]);
        assertThat(refused.code()).as(each[1]).isEqualTo(1);
        assertThat(refused.stderr()).as(each[1]).contains(each[2]);
      }
      assertThat(command(site, daemon, "apply", "next.json", "--plan", token).code()).isZero();
    }
  }
}
