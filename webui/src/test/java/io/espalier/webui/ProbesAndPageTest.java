package io.espalier.webui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.json.Json;
import io.espalier.testkit.api.ApiFixture;
import io.espalier.testkit.api.FakeScheduler;
import io.espalier.webui.page.Webroot;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProbesAndPageTest {
  private static InstantSource later(long seconds) {
    return InstantSource.fixed(Instant.ofEpochMilli(ApiFixture.NOW_MILLIS + seconds * 1000));
  }

  @Test
  void healthIsTheAgeOfTheLatestView() {
    try (Served served = Served.with(ApiFixture.standard(), o -> o.withClock(later(30)))) {
      assertThat(served.get("/healthz").body())
          .isEqualTo("{\"status\":\"up\",\"role\":\"leader\"}");
    }
    try (Served served = Served.with(ApiFixture.standard(), o -> o.withClock(later(31)))) {
      HttpResponse<String> down = served.get("/healthz");
      assertThat(down.statusCode()).isEqualTo(503);
      assertThat(Served.object(down).get("reason"))
          .isEqualTo(Json.of("the scheduler published its latest view 31 s ago, more than 30 s"));
    }
    try (Served served = Served.of(new FakeScheduler())) {
      assertThat(served.get("/healthz").body()).contains("has not published anything yet");
    }
  }

  @Test
  void readyIsAConfigurationWithItsNodes() {
    try (Served served = Served.standard()) {
      assertThat(served.get("/readyz").statusCode()).isEqualTo(200);
    }
    FakeScheduler scheduler = new FakeScheduler();
    try (Served served = Served.of(scheduler)) {
      assertThat(served.get("/readyz").body())
          .contains("the scheduler is starting and waits for its nodes");
      scheduler.load(ApiFixture.config(), null, ApiFixture.NOW_MILLIS);
      assertThat(served.get("/readyz").body()).contains("the nodes were not fetched yet");
      scheduler.load(ApiFixture.config(), ApiFixture.topology(), ApiFixture.NOW_MILLIS);
      assertThat(served.get("/readyz").statusCode()).isEqualTo(200);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {SchedulerView.SETTINGS, SchedulerView.WORKERS})
  void readySaysWhyNothingStartsThoughNothingIsBroken(String source) {
    String why = "nothing is started, for a while";
    try (Served served = Served.of(ApiFixture.standard().errors(Map.of(source, why)))) {
      HttpResponse<String> ready = served.get("/readyz");
      assertThat(ready.statusCode()).isEqualTo(200);
      assertThat(Served.object(ready).get("status")).isEqualTo(Json.of("up"));
      assertThat(Served.object(ready).get("reason")).isEqualTo(Json.of(why));
    }
  }

  @Test
  void whatIsBrokenComesBeforeWhatWaits() {
    Map<String, String> errors =
        Map.of(SchedulerView.STORE, "disk full", SchedulerView.SETTINGS, "disabled");
    try (Served served = Served.of(ApiFixture.standard().errors(errors))) {
      HttpResponse<String> ready = served.get("/readyz");
      assertThat(ready.statusCode()).isEqualTo(503);
      assertThat(Served.object(ready).get("reason")).isEqualTo(Json.of("status store: disk full"));
    }
    errors =
        Map.of(SchedulerView.CONFIGURATION, "no configuration is in force: levels are missing");
    try (Served served = Served.of(new FakeScheduler().errors(errors))) {
      assertThat(served.get("/readyz").body()).contains("levels are missing");
    }
  }

  @Test
  void metricsCountTasksByStateAndRequestsByOperation() {
    try (Served served = Served.standard()) {
      served.get("/api/v1/jobs/backup");
      served.get("/api/v1/jobs/nobody");
      String text = served.get("/metrics").body();
      assertThat(text)
          .contains("espalier_job_tasks{espalier_job=\"backup\",state=\"done\"} 1.0")
          .contains("espalier_job_tasks{espalier_job=\"scrub\",state=\"ready\"} 2.0")
          .contains("espalier_job_tasks_never{espalier_job=\"backup\"} 2.0")
          .contains("espalier_tasks_running 1.0")
          .contains("espalier_config_in_force 1.0")
          .contains("espalier_config_errors 1.0")
          .contains("route=\"/api/v1/jobs/{job}\",status=\"404\"")
          .doesNotContain("nobody");
      assertThat(text.lines().filter(l -> !l.startsWith("#")))
          .allMatch(line -> line.startsWith("espalier_"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/ui/app.js", "/ui/style.css", "/favicon.svg"})
  void thePageComesFromHereAndIsKeptUntilItChanges(String path) {
    try (Served served = Served.standard()) {
      HttpResponse<String> page = served.get(path);
      assertThat(page.statusCode()).isEqualTo(200);
      assertThat(page.body().replace("http://www.w3.org/2000/svg", ""))
          .as("nothing from elsewhere, nothing inline")
          .doesNotContain("http://", "https://", "style=\"", "onclick", "innerHTML");
      String tag = page.headers().firstValue("ETag").orElseThrow();
      HttpRequest again = served.request(path).header("If-None-Match", tag).build();
      assertThat(served.send(again).statusCode()).isEqualTo(304);
    }
  }

  @Test
  void allFilesOfThePageAreServedAlsoByVersionAndThenKeptForEver() {
    try (Served served = Served.standard()) {
      String page = served.get("/").body();
      Matcher version = Pattern.compile("\"ui/([0-9a-f]{8})/app\\.js\"").matcher(page);
      assertThat(version.find()).as(page).isTrue();
      String kept = "/ui/" + version.group(1) + "/";
      assertThat(page).as("one version only").doesNotContain("\"ui/app.js\"", "\"/");
      for (String path : Webroot.pages().keySet()) {
        HttpResponse<String> file = served.get(path);
        if (path.equals(FleetRouter.FLEET_PAGE)) {
          assertThat(file.statusCode()).as("the page of another program").isEqualTo(404);
          continue;
        }
        assertThat(file.statusCode()).as(path).isEqualTo(200);
        assertThat(file.headers().firstValue("Cache-Control").orElseThrow())
            .as(path)
            .contains(path.startsWith(kept) ? "immutable" : "no-cache");
        if (path.endsWith(".js") && !path.contains("/lib/")) {
          assertThat(file.body())
              .as(path + " makes no HTML of text")
              .doesNotContain("innerHTML", "insertAdjacentHTML", "document.write", "eval(");
          assertThat(file.headers().firstValue("Content-Type"))
              .contains("text/javascript; charset=utf-8");
        }
      }
      assertThat(served.get(kept + "lib/hooks.js").body()).contains("from\"./preact.js\"");
    }
  }

  @Test
  void everyAnswerForbidsWhatABrowserMightDoWithIt() {
    try (Served served = Served.standard()) {
      for (String path : new String[] {"/", "/api/v1/jobs", "/nothing", "/metrics"}) {
        HttpResponse<String> response = served.get(path);
        assertThat(response.headers().firstValue("Content-Security-Policy").orElse(""))
            .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'")
            .doesNotContain("unsafe");
        assertThat(response.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
        assertThat(response.headers().firstValue("Cross-Origin-Resource-Policy"))
            .contains("same-origin");
        assertThat(response.headers().firstValue("Access-Control-Allow-Origin")).isEmpty();
      }
    }
  }

  @Test
  void headAnswersLikeGetWithoutBody() {
    try (Served served = Served.standard()) {
      HttpRequest head =
          served
              .request("/api/v1/jobs")
              .method("HEAD", HttpRequest.BodyPublishers.noBody())
              .build();
      HttpResponse<String> response = served.send(head);
      assertThat(response.statusCode()).isEqualTo(200);
      assertThat(response.body()).isEmpty();
    }
  }

  @Test
  void aPortInUseIsOneClearLine() {
    try (Served served = Served.standard()) {
      int port = served.server.port();
      assertThatThrownBy(() -> start("127.0.0.1", port))
          .isInstanceOf(WebStartException.class)
          .hasMessage(
              "cannot listen on 127.0.0.1:"
                  + port
                  + ": the port is in use; choose another with --http HOST:PORT");
    }
  }

  @Test
  void aClosedServerFreesItsPort() {
    int port;
    try (Served served = Served.standard()) {
      port = served.server.port();
    }
    try (WebServer again = start("127.0.0.1", port)) {
      assertThat(again.port()).isEqualTo(port);
    }
  }

  @Test
  void addressesThatCannotBeBoundAreOneClearLine() {
    assertThatThrownBy(() -> start("192.0.2.1", 0))
        .hasMessage("cannot listen on 192.0.2.1:0: this machine does not have that address");
    assertThatThrownBy(() -> start("no such host", 0))
        .hasMessage("cannot listen on no such host:0: there is no such host");
  }

  private static WebServer start(String host, int port) {
    return WebServer.start(
        WebOptions.at(host, port),
        ApiFixture.standard(),
        new PrometheusMeterRegistry(PrometheusConfig.DEFAULT));
  }
}
