package io.espalier.cli.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.cli.term.TerminalInfo;
import io.espalier.core.api.view.RunningTaskView;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.running.Invocation;
import io.espalier.json.JsonReader;
import io.espalier.testkit.api.ApiFixture;
import io.espalier.webui.WebOptions;
import io.espalier.webui.WebServer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A running task has the same worker wherever somebody looks. */
class WorkerNamedTest {
  private static final String WORKER = "w7.example-1";

  private final WebServer server =
      WebServer.start(
          WebOptions.at("127.0.0.1", 0),
          ApiFixture.standard()
              .runningTask(
                  RunningTaskView.of("scrub", "h1", new Invocation(1, 2, 1_000), 1, WORKER))
              .publish(ApiFixture.NOW_MILLIS),
          new PrometheusMeterRegistry(PrometheusConfig.DEFAULT));

  @AfterEach
  void stop() {
    server.close();
  }

  private String run(String... arguments) {
    String[] all = Arrays.copyOf(arguments, arguments.length + 1);
    all[arguments.length] = "--server=" + server.uri();
    CommandRun run = CommandRun.of(TerminalInfo.plain(0), all);
    assertThat(run.code()).as(run.err()).isZero();
    return run.out();
  }

  private Json.Obj ask(String path, String body) throws Exception {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server.uri() + path));
    if (!body.isEmpty()) {
      request.POST(HttpRequest.BodyPublishers.ofString(body));
    }
    HttpResponse<String> answer =
        HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
    return (Json.Obj) Objects.requireNonNull(JsonReader.parse(answer.body()).value());
  }

  @Test
  void theWorkerIsTheSameInTheApiForBistroAndOnTheCommandLine() throws Exception {
    String inApi = "\"worker\":\"" + WORKER + "\"";
    assertThat(text(ask("/api/v1/running?job=scrub", ""))).contains(inApi);
    assertThat(text(ask("/api/v1/jobs/scrub/tasks?status=running", ""))).contains(inApi);
    assertThat(text(ask("/api/v1/jobs/scrub/tasks/h1", ""))).contains(inApi);
    assertThat(text(ask("/", "{\"a\":{\"handler\":\"running_tasks\"}}")))
        .contains("\"worker_shard\":\"" + WORKER + "\"");
    assertThat(run("running").lines().filter(line -> line.contains("scrub")))
        .singleElement()
        .asString()
        .contains(WORKER);
    assertThat(run("tasks", "scrub").lines().filter(line -> line.contains("h1")))
        .singleElement()
        .asString()
        .contains(WORKER);
    assertThat(run("tasks", "scrub", "h1")).contains("on worker " + WORKER);
  }

  private static String text(Json.Obj answer) {
    return JsonWriter.compact(answer);
  }
}
