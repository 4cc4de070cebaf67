package io.espalier.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import io.espalier.json.JsonReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** docs/metrics.md lists what real servers give out, and rules and dashboard name nothing else. */
class MetricsIT {
  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| `([a-z0-9_]+)` \\| (gauge|counter|histogram|summary) \\|");
  private static final Pattern TYPE = Pattern.compile("(?m)^# TYPE ([a-z0-9_]+) ([a-z]+)$");

  /** Names of metrics; {@code espalier_job} is a label. */
  private static final Pattern NAME =
      Pattern.compile(
          "\\b(?!espalier_job\\b)((?:espalier|jvm|process|system|logback)_[a-z0-9_]+)\\b");

  /** They appear with the first collection; a standby's is tested with the standby. */
  private static final Set<String> NOT_ALWAYS =
      Set.of(
          "jvm_gc_pause_seconds",
          "jvm_gc_pause_seconds_max",
          "jvm_gc_concurrent_phase_time_seconds",
          "jvm_gc_concurrent_phase_time_seconds_max",
          "espalier_standby_leader_known");

  private static Path docs(String name) {
    Path at = Path.of("").toAbsolutePath();
    while (at != null && !Files.exists(at.resolve("docs/metrics.md"))) {
      at = at.getParent();
    }
    return Objects.requireNonNull(at, "not within the repository").resolve("docs").resolve(name);
  }

  private static Map<String, String> pairs(Pattern pattern, String text) {
    Map<String, String> found = new TreeMap<>();
    pattern.matcher(text).results().forEach(r -> found.put(r.group(1), r.group(2)));
    return found;
  }

  private static Map<String, String> documented() throws IOException {
    return pairs(ROW, Files.readString(docs("metrics.md")));
  }

  private static String scrape(String url) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url + "/metrics"))
            .timeout(Duration.ofSeconds(30))
            .build();
    HttpResponse<String> response =
        HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    assertThat(response.statusCode()).isEqualTo(200);
    return response.body();
  }

  @Test
  void theListIsWhatRealServersGiveOut(@TempDir Path directory) throws Exception {
    String nodes =
        "{\"bistro_settings\": {\"nodes\": {\"levels\": [\"host\"], \"node_sources\": [{\"source\":"
            + " \"manual\", \"prefs\": {\"h1\": []}}]}, \"resources\": {\"host\": {\"slots\":"
            + " {\"default\": 1, \"limit\": 1}, \"spare\": {\"default\": 0, \"limit\": 1,"
            + " \"follows\": [\"lag\"]}}}, \"probes\": {\"lag\": {\"level\": \"host\", \"source\":"
            + " \"push\", \"bad_above\": 5, \"good_below\": 2, \"max_age\": \"60s\"}}, \"groups\":"
            + " {\"set\": {\"by\": \"tag:*\", \"max_concurrent\": 1}}, \"notifications\": {\"ops\":"
            + " {\"webhook\": {\"url\": \"https://127.0.0.1/\", \"secret_file\": \"key\"}}},"
            + " \"queues\": {\"etl\": {\"max_slots\": {\"slots\": 1}}}}, \"bistro_job->quick\":"
            + " {\"owner\": \"e2e\", \"max_starting\": 1, \"command\": [\"./quick.sh\"]},"
            + " \"bistro_job->wide\": {\"owner\": \"e2e\", \"resources\": {\"slots\": 2}, \"command\":"
            + " [\"./quick.sh\"]}}";
    Site local =
        new Site(Files.createDirectory(directory.resolve("local")))
            .task("quick.sh", "echo '{\"count\": {\"rows\": 3}}' >>\"$2\"")
            .config(nodes);
    Site remote = new Site(Files.createDirectory(directory.resolve("remote"))).config(nodes);
    Map<String, String> given = new TreeMap<>();
    try (Espalier alone =
            local.daemon("--ship-logs", "file://" + directory.resolve("shipped.jsonl"));
        Espalier pool =
            Espalier.start(
                remote.directory(),
                "scheduler",
                "--config",
                "site.json",
                "--runner",
                "remote",
                "--http",
                "127.0.0.1:0",
                "--thrift",
                "127.0.0.1:0");
        Espalier worker =
            Espalier.start(
                remote.directory(),
                "worker",
                "--scheduler",
                pool.forWorkers(),
                "--shard-id",
                "w1",
                "--http",
                "127.0.0.1:0")) {
      await()
          .atMost(Duration.ofMinutes(2))
          .untilAsserted(
              () ->
                  assertThat(scrape(alone.url()))
                      .contains("espalier_task_ends_total{status=\"done\"} 1.0")
                      .contains("espalier_job_tasks{espalier_job=\"quick\",state=\"done\"} 1.0")
                      .contains("espalier_task_duration_seconds_count 1")
                      .contains("espalier_placements_total 1.0")
                      .contains("espalier_job_tasks_never{espalier_job=\"wide\"} 1.0")
                      .contains("espalier_job_starts_window{espalier_job=\"quick\"} 1.0")
                      .contains("espalier_job_starts_total{espalier_job=\"quick\"} 1.0")
                      .contains("espalier_task_starts_total 1.0"));
      // What is said of queues comes with a step of the loop.
      for (String each : List.of(alone.url(), pool.url())) {
        await()
            .atMost(Duration.ofMinutes(2))
            .untilAsserted(
                () ->
                    assertThat(scrape(each))
                        .contains("espalier_queue_share{queue=\"etl\"")
                        .contains(
                            "espalier_resource_slots_limit{level=\"host\",resource=\"slots\"}"
                                + " 1.0"));
      }
      given.putAll(pairs(TYPE, scrape(alone.url())));
      given.putAll(pairs(TYPE, scrape(pool.url())));
      await()
          .atMost(Duration.ofMinutes(2))
          .untilAsserted(
              () ->
                  assertThat(scrape(worker.url()))
                      .contains("espalier_worker_in_service 1.0")
                      .contains("espalier_worker_guard_up 1.0"));
      given.putAll(pairs(TYPE, scrape(worker.url())));
    }
    Map<String, String> documented = documented();
    assertThat(documented).containsAllEntriesOf(given);
    documented.keySet().removeAll(NOT_ALWAYS);
    assertThat(given.keySet()).containsAll(documented.keySet());
  }

  /** The series that the documented metrics have. */
  private static Set<String> series() throws IOException {
    Set<String> names = new TreeSet<>();
    documented()
        .forEach(
            (name, type) -> {
              names.add(name);
              if (type.equals("histogram") || type.equals("summary")) {
                names.addAll(List.of(name + "_count", name + "_sum"));
              }
              if (type.equals("histogram")) {
                names.add(name + "_bucket");
              }
            });
    return names;
  }

  private static Set<String> named(Iterable<String> expressions) {
    Set<String> names = new TreeSet<>();
    for (String expression : expressions) {
      // What stands in quotes is a value of a label.
      NAME.matcher(expression.replaceAll("\"[^\"]*\"", "\"\""))
          .results()
          .map(MatchResult::group)
          .forEach(names::add);
    }
    return names;
  }

  private static Map<?, ?> map(@Nullable Object value) {
    return (Map<?, ?>) Objects.requireNonNull(value);
  }

  private static List<?> list(@Nullable Object value) {
    return (List<?>) Objects.requireNonNull(value);
  }

  @Test
  void rulesParseAndNameOnlyWhatThereIs() throws IOException {
    Map<?, ?> rules =
        map(
            new Yaml(new SafeConstructor(new LoaderOptions()))
                .<Object>load(Files.readString(docs("alerts.yaml"))));
    Set<Object> alerts = new TreeSet<>();
    List<String> expressions = new ArrayList<>();
    for (Object group : list(rules.get("groups"))) {
      assertThat(map(group).get("name")).isInstanceOf(String.class);
      for (Object rule : list(map(group).get("rules"))) {
        assertThat(alerts.add(String.valueOf(map(rule).get("alert")))).isTrue();
        expressions.add(String.valueOf(map(rule).get("expr")));
        assertThat(String.valueOf(map(rule).get("labels"))).containsAnyOf("page", "ticket");
        assertThat(map(map(rule).get("annotations")).get("summary")).isInstanceOf(String.class);
      }
    }
    assertThat(named(expressions)).isNotEmpty().isSubsetOf(series());
    assertThat(expressions).allSatisfy(MetricsIT::balanced);
  }

  /** As much as can be said of an expression without Prometheus. */
  private static void balanced(String expression) {
    for (String pair : List.of("()", "{}", "[]")) {
      assertThat(expression.chars().filter(c -> c == pair.charAt(0)).count())
          .as(expression)
          .isEqualTo(expression.chars().filter(c -> c == pair.charAt(1)).count());
    }
    // Prometheus itself gives "up" for each server that it asks.
    if (!expression.startsWith("up{")) {
      assertThat(named(List.of(expression))).as(expression).isNotEmpty();
    }
  }

  @Test
  void theDashboardParsesAndNamesOnlyWhatThereIs() throws IOException {
    String text = Files.readString(docs("grafana-dashboard.json"));
    Json.Obj dashboard = (Json.Obj) Objects.requireNonNull(JsonReader.parse(text).value());
    List<String> expressions = new ArrayList<>();
    Set<String> ids = new TreeSet<>();
    for (Json panel : ((Json.Arr) Objects.requireNonNull(dashboard.get("panels"))).items()) {
      Json.Obj object = (Json.Obj) panel;
      assertThat(ids.add(String.valueOf(object.get("id")))).isTrue();
      if (object.get("targets") instanceof Json.Arr targets) {
        for (Json target : targets.items()) {
          expressions.add(
              ((Json.Str) Objects.requireNonNull(((Json.Obj) target).get("expr"))).value());
        }
      }
    }
    assertThat(named(expressions)).hasSizeGreaterThan(30).isSubsetOf(series());
    assertThat(expressions).allSatisfy(MetricsIT::balanced);
  }
}
