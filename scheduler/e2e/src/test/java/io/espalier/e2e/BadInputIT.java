package io.espalier.e2e;

import static io.espalier.e2e.Site.at;
import static io.espalier.e2e.Site.text;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.e2e.Espalier.Ended;
import io.espalier.json.JsonReader;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What goes wrong is said in one clear line with the right exit code, and nothing hangs. */
class BadInputIT {
  private static final String SETTINGS =
      """
      {"bistro_settings": {
        "nodes": {"levels": ["host", "shard"], "node_sources": [
          {"source": "SOURCE", "prefs": {PREFS}}]},
        "resources": {}}, "bistro_job->work": {"owner": "e2e", "command": ["./task.sh"]}}
      """;

  private static String config(String source, String preferences) {
    return SETTINGS.replace("SOURCE", source).replace("PREFS", preferences);
  }

  static List<Arguments> configurations() {
    String good = config("manual", "\"h\": [\"a\"]");
    return List.of(
        Arguments.of("empty file", "", "site.json:1:1: the text is empty"),
        Arguments.of("truncated", good.substring(0, 60), "is not closed"),
        Arguments.of("no object", "[1, 2]", "expected an object, found a list"),
        Arguments.of("no settings", "{}", "bistro_settings"),
        Arguments.of(
            "wrong type",
            good.replace("[\"host\", \"shard\"]", "\"host\""),
            "nodes.levels: expected"),
        Arguments.of(
            "misspelt key",
            good.replace("\"resources\"", "\"resorces\""),
            "did you mean \"resources\"?"),
        Arguments.of(
            "unknown level",
            good.replace("\"resources\": {}", "\"resources\": {\"hots\": {}}"),
            "unknown level \"hots\""),
        Arguments.of(
            "unknown source", good.replace("manual", "manaul"), "did you mean \"manual\"?"),
        Arguments.of("cycle", config("manual", "\"x\": [\"y\"], \"y\": [\"x\"]"), "x -> y -> x"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("configurations")
  void a_configuration_that_cannot_be_used_is_refused_with_its_place(
      String name, String config, String message, @TempDir Path directory) {
    Site site = new Site(directory).task("task.sh", "").config(config);
    Ended run = site.espalier("run", "site.json");
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.stdout()).isEmpty();
    assertThat(run.stderr().lines())
        .isNotEmpty()
        .allMatch(line -> line.startsWith("espalier: error "))
        .anyMatch(line -> line.contains(message));
    assertThat(site.notes()).isEmpty();
  }

  @Test
  void wrong_types_in_every_key_of_settings_are_reported_all_at_once(@TempDir Path directory) {
    Site site =
        new Site(directory)
            .config(
                """
                {"bistro_settings": {
                  "enabled": "maybe", "working_wait": [], "scheduler": 5,
                  "backoff": "repeat", "nodes": {"levels": []}, "resources": {},
                  "kill_orphan_tasks_after_sec": {}, "task_subprocess": [], "kill_subprocess": 1,
                  "physical_resources": [], "worker_resources_override": 7}}
                """);
    Ended daemon = site.espalier("scheduler", "--config", "site.json", "--runner", "local");
    assertThat(daemon.code()).isEqualTo(2);
    assertThat(daemon.stderr())
        .contains(
            List.of(
                "settings.enabled:",
                "settings.working_wait:",
                "settings.scheduler:",
                "settings.backoff",
                "settings.kill_orphan_tasks_after_sec:",
                "settings.task_subprocess:",
                "settings.kill_subprocess:",
                "settings.physical_resources:",
                "settings.worker_resources_override:"));
  }

  @Test
  void node_scripts_may_write_much_but_not_hang_fail_or_be_missing(@TempDir Path directory) {
    Site site =
        new Site(directory)
            .task("task.sh", "")
            .script("many.sh", "seq 10000")
            .script("hang.sh", "echo a; sleep 100")
            .script("half.sh", "echo a; echo 'the disk is gone' >&2; exit 3");

    site.config(config("script", "\"parent_level\": \"instance\", \"script\": \"many.sh\""));
    Ended many = site.espalier("nodes", "site.json", "--json");
    assertThat(many.code()).as(many.stderr()).isZero();
    assertThat(JsonReader.parse(many.stdout()).value())
        .isInstanceOfSatisfying(Json.Arr.class, array -> assertThat(array.items()).hasSize(10_001));

    site.config(
        config(
            "script",
            "\"parent_level\": \"instance\", \"script\": \"hang.sh\", \"timeout_sec\": 1"));
    Ended hang = site.espalier("run", "site.json", "--data-dir", "hang");
    assertThat(hang.code()).isEqualTo(1);
    assertThat(hang.stderr()).contains("hang.sh", "did not end within 1 s");

    site.config(config("script", "\"parent_level\": \"instance\", \"script\": \"half.sh\""));
    Ended half = site.espalier("run", "site.json", "--data-dir", "half");
    assertThat(half.code()).isEqualTo(1);
    assertThat(half.stderr())
        .contains("half.sh", "exit code 3", "the disk is gone")
        .containsOnlyOnce("node_sources[0]");

    site.config(config("script", "\"parent_level\": \"instance\", \"script\": \"nosuch.sh\""));
    Ended missing = site.espalier("run", "site.json", "--data-dir", "missing");
    assertThat(missing.code()).isNotZero();
    assertThat(missing.stderr()).contains("nosuch.sh");
    assertThat(site.notes()).isEmpty();
  }

  @Test
  void tasks_may_do_what_they_like(@TempDir Path directory) {
    Site site =
        new Site(directory)
            // One line whose first byte can begin neither JSON nor a label; the rest is random.
            .script(
                "garbage.sh",
                "{ printf '#'; head -c 3000 /dev/urandom | LC_ALL=C tr -d '\\n'; } >\"$2\"")
            .script("two.sh", "echo failed >\"$2\"; echo done >>\"$2\"")
            .script("nothing.sh", "exit 0")
            .script("much.sh", "exec 3>\"$2\"; head -c 10000000 /dev/zero | tr '\\0' 'x' >&3")
            .script(
                "output.sh", "head -c 10000000 /dev/zero | tr '\\0' 'x'; echo; echo done >\"$2\"")
            .script("lines.sh", "seq 10000; echo done >\"$2\"")
            .script("closes.sh", "exec >&- 2>&- <&-; echo done >\"$2\"")
            .script("gone.sh", "kill -9 $$")
            .script("exits.sh", "exit 3");
    site.write("plain.txt", "no program");
    StringBuilder jobs = new StringBuilder();
    for (String name :
        List.of(
            "garbage", "two", "nothing", "much", "output", "lines", "closes", "gone", "exits")) {
      jobs.append(job(name, "./" + name + ".sh", ""));
    }
    jobs.append(job("plainly", "./exits.sh", ", \"status_from\": \"exit_code\""));
    String settings =
        """
        {"bistro_settings": {"nodes": {"levels": []}, "resources": {},
          "task_subprocess": {"max_log_lines_per_poll_interval": 0},
          "level_for_tasks": "instance", "backoff": [1, "fail"]}%s}
        """;
    site.config(settings.formatted(jobs));
    Ended run = site.run("--max-attempts", "1", "--instance-node-name", "root");
    assertThat(run.code()).as(run.stderr()).isEqualTo(1);
    Map<String, String> expected =
        Map.ofEntries(
            Map.entry("garbage", "status is neither"),
            Map.entry("two", "done"),
            Map.entry("nothing", "wrote no status: exited with code 0"),
            Map.entry("much", "status"),
            Map.entry("output", "done"),
            Map.entry("lines", "done"),
            Map.entry("closes", "done"),
            Map.entry("gone", "signal 9"),
            Map.entry("exits", "exited with code 3"),
            Map.entry("plainly", "exited with code 3"));
    expected.forEach(
        (job, outcome) -> {
          Json.Obj counts = (Json.Obj) at(run.json(), "jobs", job);
          assertThat(Site.number(counts, "done")).as(job).isEqualTo(outcome.equals("done") ? 1 : 0);
          assertThat(Site.number(counts, "failed"))
              .as(job)
              .isEqualTo(outcome.equals("done") ? 0 : 1);
        });
    // A daemon starts all the same: programs may come later.
    jobs.append(job("missing", "./nosuch.sh", "")).append(job("plain", "./plain.txt", ""));
    site.config(settings.formatted(jobs));
    try (Espalier daemon = site.daemon("--instance-node-name", "root")) {
      Http http = new Http(daemon.url());
      org.awaitility.Awaitility.await()
          .until(() -> http.response("/api/v1/jobs").statusCode() == 200);
      Map.of("missing", "nosuch.sh", "plain", "plain.txt")
          .forEach(
              (job, cause) ->
                  org.awaitility.Awaitility.await()
                      .until(
                          () -> {
                            Json.Obj task = http.get("/api/v1/jobs/" + job + "/tasks/root");
                            return task.toString().contains(cause);
                          }));
      expected.forEach(
          (job, outcome) -> {
            if (!outcome.equals("done")) {
              assertThat(text(http.get("/api/v1/jobs/" + job + "/tasks/root"), "data", "exception"))
                  .as(job)
                  .contains(outcome);
            }
          });
      Json lines =
          http.data(
              "task_logs",
              ", \"log_type\": \"stdout\", \"jobs\": [\"lines\"], \"regex_filter\":"
                  + " \"^(1|10000)$\"");
      assertThat(((Json.Arr) at(lines, "lines")).items()).hasSize(2);
    }
  }

  private static String job(String name, String command, String more) {
    return ",\n\"bistro_job->%s\": {\"owner\": \"e2e\", \"command\": [\"%s\"]%s}"
        .formatted(name, command, more);
  }

  @Test
  void places_that_cannot_be_had(@TempDir Path directory) {
    Site site = new Site(directory).task("task.sh", "").config(config("manual", "\"h\": [\"a\"]"));
    site.write("file", "");
    for (String place : List.of("file", "file/below")) {
      Ended run = site.espalier("run", "site.json", "--data-dir", place);
      assertThat(run.code()).isEqualTo(2);
      assertThat(run.stderr()).startsWith("espalier: data directory file").hasLineCount(1);
    }
    Ended address = site.espalier("run", "site.json", "--http", "0.0.0.0:8080");
    assertThat(address.code()).isEqualTo(2);
    assertThat(address.stderr()).startsWith("espalier: ").contains("--insecure").hasLineCount(1);
    Ended missing = site.espalier("run", "nosuch.json");
    assertThat(missing.code()).isEqualTo(2);
    assertThat(missing.stderr()).startsWith("espalier: ").contains("nosuch.json").hasLineCount(1);
    Ended usage = site.espalier("run", "site.json", "--max-attempts", "many");
    assertThat(usage.code()).isEqualTo(2);
    assertThat(usage.stderr()).startsWith("espalier: ").contains("--max-attempts");
    Ended none = site.espalier("jobs", "--server", "http://127.0.0.1:1");
    assertThat(none.code()).isEqualTo(3);
    assertThat(none.stderr()).startsWith("espalier: ").hasLineCount(1);
    assertThat(site.espalier("run", "site.json").code()).isZero();

    // The data directory of one configuration is refused to another.
    site.write("other.json", config("manual", "\"h\": [\"a\"]"));
    Ended other = site.espalier("run", "other.json", "--data-dir", ".espalier/site");
    assertThat(other.code()).isEqualTo(2);
    assertThat(other.stderr()).startsWith("espalier: ").contains("site.json").hasLineCount(1);
  }
}
