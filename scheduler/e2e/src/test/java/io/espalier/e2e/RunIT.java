package io.espalier.e2e;

import static io.espalier.e2e.Site.at;
import static io.espalier.e2e.Site.number;
import static io.espalier.e2e.Site.text;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.espalier.core.json.Json;
import io.espalier.e2e.Espalier.Ended;
import io.espalier.json.JsonReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code run}, {@code nodes}, {@code validate} and what can be asked after a run
 * (docs/design/design.md#output-of-commands).
 */
class RunIT {
  private static final String SETTINGS =
      """
      "bistro_settings": {
        "nodes": {"levels": ["host", "shard"], "node_order": "original", "node_sources": [
          {"source": "manual", "prefs": {"h1": ["a", "b"], "h2": {"children": ["c"]}}}]},
        "resources": {"host": {"slots": {"limit": 1, "default": 1}}},
        "backoff": [1, "fail"]}
      """;

  private static String config(String... jobs) {
    return "{" + SETTINGS + (jobs.length == 0 ? "" : ", ") + String.join(", ", jobs) + "}";
  }

  private static String job(String name, String more) {
    return "\"bistro_job->%s\": {\"owner\": \"e2e\"%s}".formatted(name, more);
  }

  private static Json json(String text) {
    Json value = JsonReader.parse(text).value();
    if (value == null) {
      throw new AssertionError(text);
    }
    return value;
  }

  @Test
  void the_final_object_of_a_run_and_that_a_second_run_has_nothing_to_do_until_fresh(
      @TempDir Path directory) {
    Site site =
        new Site(directory)
            .task("task.sh", "")
            .config(config(job("work", ", \"command\": [\"./task.sh\"]")));
    Ended first = site.run();
    assertThat(first.code()).as(first.stderr()).isZero();
    Json.Obj result = first.json();
    assertThat(at(result, "peak", "host", "slots", "node").toString()).isIn("\"h1\"", "\"h2\"");
    assertThat(result.without("peak"))
        .isEqualTo(
            json(
                """
                {"jobs": {"work": {"done": 3, "failed": 0, "cancelled": 0, "blocked": 0, "running": 0, "total": 3,
                                   "state": "succeeded"}},
                 "exit": 0}
                """));
    assertThat(number(result, "peak", "host", "slots", "used")).isOne();
    assertThat(number(result, "peak", "host", "slots", "limit")).isOne();

    Ended second = site.espalier("run", "site.json");
    assertThat(second.code()).isZero();
    assertThat(second.stdout()).contains("Nothing is left to do");
    assertThat(site.starts("work")).isEqualTo(Map.of("a", 1, "b", 1, "c", 1));

    Ended fresh = site.espalier("run", "site.json", "--fresh");
    assertThat(fresh.code()).isZero();
    assertThat(fresh.stdout()).contains("3 of 3 done").contains("No limit was passed");
    assertThat(site.starts("work")).isEqualTo(Map.of("a", 2, "b", 2, "c", 2));
  }

  @Test
  void failures_end_after_their_back_offs_or_max_attempts_and_can_be_read_and_forgiven_afterwards(
      @TempDir Path directory) {
    Site site =
        new Site(directory)
            .task(
                "task.sh",
                """
                echo "trying $node"; echo "no luck" >&2
                [ -e "$site/mended" ] || [ $node != b ] || { echo error_backoff >"$2"; exit; }
                """)
            .config(
                config(
                    job("work", ", \"command\": [\"./task.sh\"], \"backoff\": [1, \"repeat\"]")));
    Ended first = site.run("--max-attempts", "2");
    assertThat(first.code()).isEqualTo(1);
    assertThat(at(first.json(), "jobs", "work"))
        .isEqualTo(
            json(
                """
                {"done": 2, "failed": 1, "cancelled": 0, "blocked": 0, "running": 0, "total": 3, "state": "failed",
                 "state_reason":
                   "nothing is left to run: 2 of 3 tasks are done, 1 failed for good",
                 "failures": [{"count": 1, "message": "no luck", "nodes": ["b"]}]}
                """));
    assertThat(first.stderr().lines()).containsOnlyOnce("espalier: work failed on b: no luck");
    assertThat(at(first.json(), "exit")).isEqualTo(Json.of(1));
    assertThat(site.starts("work")).isEqualTo(Map.of("a", 1, "b", 2, "c", 1));

    String[] there = {"--data-dir", ".espalier/site"};
    Ended jobs = site.espalier("jobs", there[0], there[1]);
    assertThat(jobs.code()).as(jobs.stderr()).isZero();
    assertThat(jobs.stdout()).containsPattern("work +shard +failed +2 +3 +66 +0 +0 +0 +1");
    assertThat(jobs.stderr()).isEmpty();
    assertThat(text(requireNonNull(site.tasksLeft("work").get("b")), "status")).isEqualTo("failed");
    assertThat(number(requireNonNull(site.tasksLeft("work").get("b")), "attempts")).isEqualTo(2);
    Ended why = site.espalier("explain", "work", "b", "--json", there[0], there[1]);
    assertThat(text(why.json(), "reasons", "0", "kind")).isEqualTo("failed");
    Ended logs = site.espalier("logs", "work", "b", there[0], there[1]);
    assertThat(logs.stdout().lines()).hasSize(2).allMatch(line -> line.endsWith("trying b"));
    Ended stderr =
        site.espalier("logs", "work", "--stream", "stderr", "--json", there[0], there[1]);
    assertThat(((Json.Arr) at(stderr.json(), "lines")).items()).hasSize(4);

    Ended again = site.run();
    assertThat(again.code()).as("failed for good stays failed").isEqualTo(1);
    assertThat(site.starts("work")).containsEntry("b", 2);

    Ended forgiven = site.espalier("forgive", "work", there[0], there[1]);
    assertThat(forgiven.code()).as(forgiven.stderr()).isZero();
    assertThat(forgiven.stdout()).contains("work: 1 task");
    site.write("mended", "");
    Ended last = site.run();
    assertThat(last.code()).as(last.stderr()).isZero();
    assertThat(site.starts("work")).isEqualTo(Map.of("a", 1, "b", 3, "c", 1));
  }

  @Test
  void a_run_ends_by_the_rules_of_its_jobs_and_a_failed_one_starts_nothing_until_it_is_forgiven(
      @TempDir Path directory) {
    Site site =
        new Site(directory)
            .task("task.sh", "[ -e \"$site/mended\" ] || { echo failed >\"$2\"; exit; }")
            .task("good.sh", "")
            .config(
                config(
                    job(
                        "bad",
                        ", \"command\": [\"./task.sh\"], \"fail_job_when\": {\"failed_tasks\": 1}"),
                    job(
                        "enough",
                        ", \"command\": [\"./good.sh\"], \"succeed_job_when\": {\"done_pct\":"
                            + " 30}")));
    Ended first = site.run();
    assertThat(first.code()).as(first.stderr()).isEqualTo(1);
    assertThat(text(first.json(), "jobs", "enough", "state")).isEqualTo("succeeded");
    assertThat(text(first.json(), "jobs", "bad", "state")).isEqualTo("failed");
    assertThat(text(first.json(), "jobs", "bad", "state_reason")).endsWith("failed, none may");
    int started = site.starts("bad").size();
    assertThat(started).isBetween(1, 2);

    Ended again = site.run();
    assertThat(again.code()).isEqualTo(1);
    assertThat(site.starts("bad")).as("nothing is resurrected").hasSize(started);

    site.write("mended", "");
    assertThat(site.espalier("forgive", "bad", "--data-dir", ".espalier/site").code()).isZero();
    Ended last = site.run();
    assertThat(last.code()).as(last.stderr()).isZero();
    assertThat(text(last.json(), "jobs", "bad", "state")).isEqualTo("succeeded");
  }

  @Test
  void tasks_that_can_never_start_are_blocked_and_an_invalid_job_does_not_keep_the_others(
      @TempDir Path directory) {
    Site site =
        new Site(directory)
            .task("task.sh", "")
            .task("fail.sh", "note end; echo failed >\"$2\"; exit")
            .config(
                config(
                    job("good", ", \"command\": [\"./task.sh\"]"),
                    job("heavy", ", \"command\": [\"./task.sh\"], \"resources\": {\"slots\": 2}"),
                    job(
                        "fails",
                        ", \"command\": [\"./fail.sh\"], \"filters\": {\"shard\": {\"whitelist\":"
                            + " [\"a\"]}}"),
                    job("after", ", \"command\": [\"./task.sh\"], \"depends_on\": [\"fails\"]"),
                    job("off", ", \"command\": [\"./task.sh\"], \"enabled\": false")));
    Ended run = site.run();
    assertThat(run.code()).as(run.stderr()).isEqualTo(1);
    assertThat(at(run.json(), "jobs"))
        .isEqualTo(
            json(
                """
                {"good": {"done": 3, "failed": 0, "cancelled": 0, "blocked": 0, "running": 0, "total": 3,
                          "state": "succeeded"},
                 "heavy": {"done": 0, "failed": 0, "cancelled": 0, "blocked": 3, "running": 0, "total": 3,
                           "state": "stuck", "state_reason":
                             "its tasks need 2 of slots, and no node of level host has more than 1"},
                 "fails": {"done": 0, "failed": 1, "cancelled": 0, "blocked": 0, "running": 0, "total": 1,
                           "state": "failed", "state_reason":
                             "nothing is left to run: 0 of 1 task is done, 1 failed for good",
                           "failures": [{"count": 1, "nodes": ["a"],
                             "message": "the task said failed without a reason"}]},
                 "after": {"done": 0, "failed": 0, "cancelled": 0, "blocked": 3, "running": 0, "total": 3,
                           "state": "stuck", "state_reason":
                             "its tasks wait for job fails on their node; on a job fails is not done here: failed"}}
                """));
    Ended plain = site.espalier("run", "site.json");
    assertThat(plain.stdout())
        .contains("blocked: heavy on a, b, c: ", "needs 2 of slots", "blocked: after on ");

    site.config(
        config(
            job("good", ", \"command\": [\"./task.sh\"]"),
            job("wrong", ", \"command\": \"not a list\", \"priority\": \"high\"")));
    Ended invalid = site.run();
    assertThat(invalid.code()).isEqualTo(2);
    assertThat(at(invalid.json(), "exit")).isEqualTo(Json.of(2));
    assertThat(number(invalid.json(), "jobs", "good", "done")).isEqualTo(3);
    assertThat(invalid.stderr())
        .contains("bistro_job->wrong.command", "bistro_job->wrong.priority");
  }

  @Test
  void a_run_says_why_tasks_failed_and_the_command_it_names_shows_more(@TempDir Path directory) {
    Site site =
        new Site(directory)
            .script("task.sh", "echo \"disk $(( $$ )) is read-only\" >&2; exit 3")
            .config(
                config(
                    job(
                        "work",
                        ", \"command\": [\"./task.sh\", \"{node}\"],"
                            + " \"status_from\": \"exit_code\", \"backoff\": [\"fail\"]")));
    Ended run = site.espalier("run", "site.json");
    assertThat(run.code()).isEqualTo(1);
    List<String> lines = run.stdout().lines().toList();
    List<String> failed = lines.stream().filter(l -> l.startsWith("  failed: ")).toList();
    assertThat(failed).singleElement().asString().endsWith(" is read-only").contains(" and 2 more");
    String command = lines.get(lines.indexOf(failed.get(0)) + 1).strip();
    assertThat(command).startsWith("espalier logs work ").endsWith("--data-dir .espalier/site");
    Ended logs = site.espalier(command.substring("espalier ".length()).split(" "));
    assertThat(logs.code()).as(logs.stderr()).isZero();
    assertThat(logs.stdout()).contains("is read-only");
  }

  @Test
  void a_run_starts_nothing_while_a_program_is_missing(@TempDir Path directory) {
    Site site = new Site(directory).task("task.sh", "");
    site.write("plain.txt", "no program");
    site.config(
        config(
            job("good", ", \"command\": [\"./task.sh\"]"),
            job("missing", ", \"command\": [\"./nosuch.sh\"]"),
            job("plain", ", \"command\": [\"./plain.txt\"]"),
            job("none", ""),
            job("off", ", \"command\": [\"./nosuch.sh\"], \"enabled\": false")));
    Ended run = site.run();
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.stderr().lines())
        .hasSize(3)
        .anyMatch(l -> l.contains("bistro_job->missing.command[0]: cannot start " + directory))
        .anyMatch(l -> l.contains("bistro_job->plain.command[0]") && l.contains("chmod +x"))
        .anyMatch(l -> l.contains("bistro_job->none: the job has no command"));
    assertThat(site.notes()).isEmpty();
    assertThat(site.run("--worker-command", "./nosuch.sh").stderr())
        .contains("bistro_job->none: --worker-command: cannot start");
  }

  @ParameterizedTest
  @ValueSource(strings = {"dry-run", "simulated"})
  void other_runners_start_no_process(String runner, @TempDir Path directory) {
    Site site =
        new Site(directory)
            .task("task.sh", "")
            .config(config(job("work", ", \"command\": [\"./task.sh\"]")));
    Ended run =
        site.run("--runner", runner, "--test-task-duration", "5", "--data-dir", "pretended");
    assertThat(run.code()).as(run.stderr()).isZero();
    assertThat(number(run.json(), "jobs", "work", "done")).isEqualTo(3);
    assertThat(site.notes()).isEmpty();
    // What was only pretended must not count as done.
    Ended real = site.run();
    assertThat(real.code()).as(real.stderr()).isZero();
    assertThat(site.starts("work")).hasSize(3);
  }

  @Test
  void nodes_and_validate(@TempDir Path directory) {
    Site site =
        new Site(directory)
            .script(
                "tags.sh",
                "echo '{\"name\": \"x\", \"tags\": [\"ssd\"], \"attributes\": {\"gb\": 5}}'; echo"
                    + " y")
            .config(
                """
                {"bistro_settings": {
                  "nodes": {"levels": ["host", "disk"], "node_order": "original", "node_sources": [
                    {"source": "manual", "prefs": {"h": {"disabled": true}}},
                    {"source": "script", "prefs": {"parent_level": "host", "script": "tags.sh"}}]},
                  "resources": {}},
                 "bistro_job->work": {"owner": "e2e", "command": ["true"]}}
                """);
    Ended nodes = site.espalier("nodes", "site.json", "--json");
    assertThat(nodes.code()).as(nodes.stderr()).isZero();
    Json.Arr array = (Json.Arr) json(nodes.stdout());
    assertThat(array.items()).hasSize(4);
    assertThat(text(array, "0", "level")).isEqualTo("instance");
    String root = text(array, "0", "name");
    assertThat(new Json.Arr(array.items().subList(1, 4)))
        .isEqualTo(
            json(
                """
                [{"name": "h", "level": "host", "parents": ["ROOT"], "enabled": false,
                  "tags": [], "attributes": {}},
                 {"name": "x", "level": "disk", "parents": ["h"], "enabled": true,
                  "tags": ["ssd"], "attributes": {"gb": 5}},
                 {"name": "y", "level": "disk", "parents": ["h"], "enabled": true,
                  "tags": [], "attributes": {}}]
                """
                    .replace("ROOT", root)));

    Ended valid = site.espalier("validate", "site.json");
    assertThat(valid.code()).as(valid.stderr()).isZero();
    site.config(config(job("work", ", \"comand\": [\"true\"]")));
    Ended wrong = site.espalier("validate", "site.json");
    assertThat(wrong.code()).isEqualTo(2);
    assertThat(wrong.stdout() + wrong.stderr())
        .contains("bistro_job->work.comand", "did you mean \"command\"");
    site.config(config(job("work", ", \"command\": [\"true\"], \"unheard_of\": 1")));
    assertThat(site.espalier("validate", "site.json").code()).isZero();
    assertThat(site.espalier("validate", "site.json", "--strict").code()).isEqualTo(2);
  }

  @Test
  void a_configuration_on_a_web_server_is_validated_shown_and_run(@TempDir Path directory)
      throws IOException {
    Site site = new Site(directory).task("task.sh", "");
    byte[] text =
        config(job("work", ", \"command\": [\"./task.sh\"]")).getBytes(StandardCharsets.UTF_8);
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/site.json",
        exchange -> {
          boolean known =
              "Bearer t0ken".equals(exchange.getRequestHeaders().getFirst("Authorization"));
          exchange.sendResponseHeaders(known ? 200 : 401, known ? text.length : -1);
          if (known) {
            exchange.getResponseBody().write(text);
          }
          exchange.close();
        });
    server.start();
    try {
      String bare = "http://localhost:" + server.getAddress().getPort() + "/site.json";
      assertThat(site.espalier("validate", bare))
          .satisfies(ended -> assertThat(ended.code()).isEqualTo(2))
          .satisfies(ended -> assertThat(ended.stdout()).contains("answered with status 401"));
      site.write("token", "Authorization: Bearer t0ken\n");
      String url = bare + "#headers_file=token";
      Ended validated = site.espalier("validate", url);
      assertThat(validated.code()).as(validated.stdout()).isZero();
      Ended nodes = site.espalier("nodes", url, "--instance-node-name", "root");
      assertThat(nodes.stdout()).startsWith("root\n  h1\n    a\n");
      Ended run = site.espalier("run", url, "--json");
      assertThat(run.code()).as(run.stderr()).isZero();
      assertThat(number(run.json(), "jobs", "work", "done")).isEqualTo(3);
    } finally {
      server.stop(0);
    }
  }
}
