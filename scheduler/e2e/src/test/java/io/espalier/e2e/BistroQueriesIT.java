package io.espalier.e2e;

import static io.espalier.e2e.Site.at;
import static io.espalier.e2e.Site.number;
import static io.espalier.e2e.Site.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import io.espalier.json.JsonReader;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Bistro's documented requests on {@code POST /}, with curl's content type, to one daemon whose
 * tasks have come to rest: {@code quick} is done, {@code doomed} has failed, {@code slow} runs.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BistroQueriesIT {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Site site;
  private final Espalier daemon;
  private final Http http;

  BistroQueriesIT(@TempDir Path directory) {
    site =
        new Site(directory)
            .task("quick.sh", "seq -f 'line %g' 1200; echo oops >&2")
            .task("doomed.sh", "note end; echo failed >\"$2\"; exit")
            .task("slow.sh", "echo \"$3\"; sleep 60")
            .config(
                """
                {"bistro_settings": {
                  "nodes": {"levels": ["host", "shard"], "node_order": "original",
                    "node_sources": [{"source": "manual", "prefs": {
                      "h1": ["a", "b"], "h2": {"children": ["c"], "disabled": true}}}]},
                  "resources": {"host": {"slots": {"limit": 9, "default": 1}},
                                "shard": {"tmp": {"limit": 5, "default": 0, "weight": 2}}}},
                 "bistro_job->quick": {"owner": "e2e", "command": ["./quick.sh"],
                   "filters": {"shard": {"whitelist": ["a"]}}},
                 "bistro_job->doomed": {"owner": "e2e", "command": ["./doomed.sh"],
                   "level_for_tasks": "instance", "priority": 2.5},
                 "bistro_job->slow": {"owner": "e2e", "command": ["./slow.sh"],
                   "config": {"key": "value"}, "backoff": [3600]},
                 "bistro_job->broken": {"command": ["./slow.sh"]}}
                """);
    daemon = site.daemon("--instance-node-name", "root");
    http = new Http(daemon.url());
  }

  @BeforeAll
  void settled() {
    until(
        "histogram",
        "",
        data -> at(data, "histograms", "quick", "shard").toString().contains("\"E\""));
    await()
        .atMost(PATIENCE)
        .until(() -> site.starts("slow").size() == 2 && site.starts("doomed").size() == 1);
    until(
        "histogram",
        "",
        data -> !at(data, "histograms", "doomed", "instance").toString().contains("C"));
  }

  @AfterAll
  void stop() {
    daemon.close();
  }

  private void until(String handler, String arguments, Predicate<Json> reached) {
    await().atMost(PATIENCE).until(() -> reached.test(http.data(handler, arguments)));
  }

  private static Json json(String text) {
    Json value = JsonReader.parse(text).value();
    if (value == null) {
      throw new AssertionError(text);
    }
    return value;
  }

  @Test
  void jobs_are_exported_with_everything_inherited_made_concrete_and_errors_of_broken_ones() {
    Json jobs = http.data("jobs", "");
    assertThat(((Json.Obj) jobs).members().keySet())
        .containsExactlyInAnyOrder("quick", "doomed", "slow", "broken");
    assertThat(at(jobs, "slow"))
        .isEqualTo(
            json(
                """
                {"enabled": true, "owner": "e2e", "level_for_tasks": "shard", "priority": 1,
                 "config": {"key": "value"}, "backoff": [3600, "fail"],
                 "kill_orphan_tasks_after_sec": false,
                 "task_subprocess": {"poll_ms": 10, "max_log_lines_per_poll_interval": 50,
                   "parent_death_signal": 9,
                   "use_canary_pipe": true, "cgroups": {"root": "", "slice": "",
                     "subsystems": [], "kill_without_freezer": false}},
                 "kill_subprocess": {"method": "term", "kill_wait_ms": 0},
                 "resources": {"slots": 1, "tmp": 0}, "command": ["./slow.sh"]}
                """));
    assertThat(at(jobs, "quick", "filters", "shard", "whitelist")).isEqualTo(json("[\"a\"]"));
    assertThat(at(jobs, "doomed", "priority")).isEqualTo(json("2.5"));
    assertThat(at(jobs, "broken", "owner")).isEqualTo(json("\"\""));
    assertThat(text(jobs, "broken", "errors", "key_errors", "owner")).isNotEmpty();

    assertThat(((Json.Obj) http.data("jobs", ", \"jobs\": [\"slow\", \"nosuch\"]")).members())
        .containsOnlyKeys("slow");
  }

  @Test
  void histograms_count_nodes_of_every_level_by_encoded_bits_with_samples_on_request() {
    assertThat(http.data("histogram", ", \"jobs\": [\"quick\", \"slow\", \"doomed\"]"))
        .isEqualTo(
            json(
                """
                {"histograms": {
                  "quick": {"instance": {"EC": 1}, "host": {"EC": 1, "AC": 1},
                            "shard": {"E": 1, "AC": 2}},
                  "slow": {"instance": {"CE": 1}, "host": {"C": 1, "AE": 1},
                           "shard": {"C": 2, "AE": 1}},
                  "doomed": {"instance": {"Q": 1}}}}
                """));
    Json samples =
        at(http.data("histogram", ", \"jobs\": [\"quick\"], \"num_samples\": 1"), "samples");
    assertThat(at(samples, "quick"))
        .isEqualTo(
            json(
                """
                {"instance": {"EC": ["root"]}, "host": {"EC": ["h1"], "AC": ["h2"]},
                 "shard": {"E": ["a"], "AC": ["b"]}}
                """));
  }

  @Test
  void running_tasks_and_their_run_times() {
    Json running = http.data("running_tasks", "");
    assertThat(((Json.Obj) running).members()).containsOnlyKeys("slow");
    assertThat(text(running, "slow", "b", "worker_shard")).isEqualTo("root");
    long seconds = System.currentTimeMillis() / 1000 - number(running, "slow", "b", "start_time");
    assertThat(seconds).isBetween(0L, 120L);
    assertThat(number(http.data("job_node_runtime", ""), "slow", "b")).isBetween(0L, 120L);
    assertThat(http.data("running_tasks", ", \"jobs\": [\"quick\"]")).isEqualTo(json("{}"));
  }

  @Test
  void nodes_and_their_resources() {
    assertThat(http.data("sorted_node_names", ""))
        .isEqualTo(
            json(
                """
                {"instance": ["root"], "host": ["h1", "h2"], "shard": ["a", "b", "c"]}
                """));
    assertThat(http.data("nodes", ", \"nodes\": [\"h1\", \"h2\", \"c\"]"))
        .isEqualTo(
            json(
                """
                {"results": {
                  "host": {"h1": {"resources": {"slots": {"default": 1, "limit": 9}}},
                    "h2": {"resources": {"slots": {"default": 1, "limit": 9}}, "disabled": true}},
                  "shard": {"c": {"resources": {"tmp": {"default": 0, "limit": 5, "weight": 2}}}}}}
                """));
    assertThat(http.data("nodes", ", \"nodes\": [\"h1\", \"h2\"], \"fields\": [\"disabled\"]"))
        .isEqualTo(json("{\"results\": {\"host\": {\"h1\": {}, \"h2\": {\"disabled\": true}}}}"));
    assertThat(http.bistro("{\"q\": {\"handler\": \"nodes\", \"fields\": [\"frob\"]}}").toString())
        .contains("error", "frob");
  }

  @Test
  void task_logs_come_in_pages_of_a_thousand_in_either_order_filtered() {
    String all = ", \"log_type\": \"stdout\", \"jobs\": [\"quick\"], \"sort\": \"asc\"";
    Json first = http.data("task_logs", all);
    List<Json> lines = ((Json.Arr) at(first, "lines")).items();
    assertThat(lines).hasSize(1000);
    assertThat(((Json.Arr) lines.get(0)).items()).hasSize(5);
    assertThat(text(lines.get(0), "0")).isEqualTo("quick");
    assertThat(text(lines.get(0), "1")).isEqualTo("a");
    assertThat(number(lines.get(0), "2"))
        .isCloseTo(System.currentTimeMillis() / 1000, offset(120L));
    assertThat(text(lines.get(0), "3")).isEqualTo("line 1\n");
    String next = text(first, "next_line_id");
    Json second = http.data("task_logs", all + ", \"line_id\": \"" + next + "\"");
    assertThat(((Json.Arr) at(second, "lines")).items()).hasSize(200);
    assertThat(text(second, "lines", "199", "3")).isEqualTo("line 1200\n");
    assertThat(text(second, "next_line_id")).isEqualTo("-1");

    Json newest = http.data("task_logs", ", \"log_type\": \"stdout\", \"jobs\": [\"quick\"]");
    assertThat(text(newest, "lines", "0", "3")).isEqualTo("line 1200\n");
    // The filter looks at all lines, not only at the first page of them.
    Json filtered = http.data("task_logs", all + ", \"regex_filter\": \"^line 1[12]00$\"");
    assertThat(((Json.Arr) at(filtered, "lines")).items()).hasSize(2);
    assertThat(text(http.data("task_logs", ", \"log_type\": \"stderr\""), "lines", "0", "3"))
        .isEqualTo("oops\n");
    Json events =
        http.data(
            "task_logs", ", \"log_type\": \"statuses\", \"jobs\": [\"quick\"], \"sort\": \"asc\"");
    assertThat(events.toString()).contains("running", "process_exited", "got_status");
    assertThat(
            http.bistro(
                    "{\"q\": {\"handler\": \"task_logs\", \"log_type\": \"stdout\", \"time\": 1,"
                        + " \"line_id\": 1}}")
                .toString())
        .contains("error");
  }

  @Test
  void the_argument_of_a_task_is_what_bistro_hands_over() throws UnknownHostException {
    until(
        "task_logs",
        ", \"log_type\": \"stdout\", \"jobs\": [\"slow\"]",
        data -> ((Json.Arr) at(data, "lines")).items().size() >= 2);
    Json lines =
        http.data(
            "task_logs", ", \"log_type\": \"stdout\", \"jobs\": [\"slow\"], \"nodes\": [\"b\"]");
    Json argument = json(text(lines, "lines", "0", "3").strip());
    assertThat(at(argument, "id")).isEqualTo(json("\"slow\""));
    assertThat(at(argument, "path_to_node")).isEqualTo(json("[\"root\", \"h1\", \"b\"]"));
    assertThat(at(argument, "config")).isEqualTo(json("{\"key\": \"value\"}"));
    assertThat(at(argument, "resources_by_node", "h1")).isEqualTo(json("{\"slots\": 1}"));
    assertThat(at(argument, "worker_node")).isEqualTo(json("\"root\""));
    String host = "\"" + InetAddress.getLocalHost().getCanonicalHostName() + "\"";
    assertThat(at(argument, "worker_host")).isEqualTo(json(host));
    Json events =
        http.data(
            "task_logs", ", \"log_type\": \"statuses\", \"jobs\": [\"slow\"], \"nodes\": [\"b\"]");
    assertThat(at(json(text(events, "lines", "0", "3")), "worker_host")).isEqualTo(json(host));
  }

  @Test
  void several_queries_in_one_request_fail_each_for_itself_and_a_bad_body_is_a_string() {
    Json answer =
        http.bistro(
            """
            {"prefs": {"any": "thing"}, "bad": {"handler": "nosuch"}, "worse": 5,
             "errors": {"handler": "errors"}, "time": {"handler": "refresh_time"},
             "save": {"handler": "save_job", "job_id": "x", "job": {}},
             "delete": {"handler": "delete_job", "job_id": "x"}}
            """);
    assertThat(((Json.Obj) answer).members())
        .containsOnlyKeys("bad", "worse", "errors", "time", "save", "delete");
    assertThat(text(answer, "bad", "error")).contains("nosuch");
    assertThat(text(answer, "worse", "error")).isNotEmpty();
    assertThat(at(answer, "errors", "data")).isEqualTo(json("{}"));
    assertThat(number(answer, "time", "data")).isPositive();
    assertThat(text(answer, "save", "error")).isNotEmpty();
    assertThat(text(answer, "delete", "error")).isNotEmpty();
    assertThat(http.bistro("{\"jobs\": ")).isInstanceOf(Json.Str.class);
    assertThat(http.bistro("[1]")).isInstanceOf(Json.Str.class);
  }

  @Test
  void a_job_is_saved_in_the_configuration_runs_and_is_deleted_again() {
    String job =
        ", \"job_id\": \"added\", \"job\": {\"owner\": \"e2e\", \"command\": [\"./quick.sh\"]}";
    assertThat(http.data("save_job", job)).isEqualTo(json("\"saved\""));
    until("jobs", ", \"jobs\": [\"added\"]", data -> !((Json.Obj) data).isEmpty());
    assertThat(number(http.data("jobs", ", \"jobs\": [\"added\"]"), "added", "version_id"))
        .isEqualTo(1);
    until(
        "histogram",
        ", \"jobs\": [\"added\"]",
        data -> at(data, "histograms", "added", "shard").toString().contains("\"E\":2"));
    assertThat(http.data("delete_job", ", \"job_id\": \"added\"")).isEqualTo(json("\"deleted\""));
    until("jobs", ", \"jobs\": [\"added\"]", data -> ((Json.Obj) data).isEmpty());
    Json again = http.bistro("{\"q\": {\"handler\": \"delete_job\", \"job_id\": \"added\"}}");
    assertThat(text(again, "q", "error")).contains("added");
  }

  @Test
  void killing_and_forgiving() {
    assertThat(http.data("kill_task", ", \"job_id\": \"slow\", \"node_id\": \"a\""))
        .isEqualTo(json("\"signaled\""));
    // 8 incomplete + 64 back-off + 512 not advanced = 584, encoded "IJ"
    until(
        "histogram",
        ", \"jobs\": [\"slow\"]",
        data -> at(data, "histograms", "slow", "shard").toString().contains("\"IJ\""));
    assertThat(
            http.bistro(
                    "{\"q\": {\"handler\": \"kill_task\", \"job_id\": \"slow\", \"node_id\":"
                        + " \"a\"}}")
                .toString())
        .contains("error", "not running");
    assertThat(http.data("forgive_jobs", ", \"jobs\": [\"slow\", \"doomed\"]"))
        .isEqualTo(json("\"forgiven\""));
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                site.starts("slow").getOrDefault("a", 0) == 2
                    && site.starts("doomed").getOrDefault("root", 0) == 2);
    assertThat(
            http.bistro("{\"q\": {\"handler\": \"forgive_jobs\", \"jobs\": [\"nosuch\"]}}")
                .toString())
        .contains("error", "nosuch");
    until(
        "histogram",
        ", \"jobs\": [\"slow\", \"doomed\"]",
        data ->
            at(data, "histograms", "slow", "shard").equals(json("{\"C\": 2, \"AE\": 1}"))
                && at(data, "histograms", "doomed", "instance").equals(json("{\"Q\": 1}")));
  }
}
