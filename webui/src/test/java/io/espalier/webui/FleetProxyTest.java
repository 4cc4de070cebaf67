package io.espalier.webui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.espalier.core.json.Json;
import io.espalier.testkit.api.ApiFixture;
import io.espalier.testkit.api.FakeScheduler;
import io.espalier.webui.fleet.SchedulerLists;
import io.espalier.webui.fleet.poll.FleetOptions;
import io.espalier.webui.fleet.poll.FleetSchedulerState;
import io.espalier.webui.fleet.poll.SchedulerAddress;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** Paths below {@code /s/ID/}, with real schedulers' APIs behind them. */
class FleetProxyTest {
  private static final FleetOptions QUICK =
      FleetOptions.DEFAULT.withTimes(
          Duration.ofMillis(200), Duration.ofSeconds(5), Duration.ofSeconds(20));

  private static List<SchedulerAddress> list(String text) {
    return Objects.requireNonNull(SchedulerLists.parse(text).value());
  }

  @Test
  void oneSchedulersApiIsThereBelowItsIdAndNothingElse() {
    try (Served one = Served.standard();
        FleetServed fleet = new FleetServed(list("one=127.0.0.1:" + one.server.port()), QUICK)) {
      await().until(() -> !fleet.fleet.view().hosts().isEmpty());
      assertThat(fleet.get("/s/one/api/v1/jobs/backup").get("name")).hasToString("\"backup\"");
      HttpResponse<String> paused =
          fleet.post("/s/one/api/v1/jobs/backup/pause", "{\"reason\":\"r\"}");
      assertThat(paused.statusCode()).isEqualTo(200);
      assertThat(fleet.send(fleet.request("/s/one/").build()).body()).contains("<title>Espalier");
      HttpResponse<String> redirect = fleet.send(fleet.request("/s/one").build());
      assertThat(redirect.statusCode()).isEqualTo(308);
      assertThat(redirect.headers().firstValue("Location")).contains("/s/one/");
      for (String path :
          List.of(
              "/s/other/api/v1/jobs",
              "/s/127.0.0.1:" + one.server.port() + "/api/v1/jobs",
              "/s/one/api/v1/../../x",
              "/s/one/secret",
              "/s//api/v1/jobs",
              "/s/one%2fapi/v1/jobs")) {
        assertThat(fleet.send(fleet.request(path).build()).statusCode()).as(path).isEqualTo(404);
      }
      HttpResponse<String> own = fleet.send(fleet.request("/s/one/api/v1/jobs").build());
      assertThat(own.headers().firstValue("Content-Security-Policy")).isPresent();
      assertThat(own.headers().allValues("X-Content-Type-Options")).containsExactly("nosniff");
    }
  }

  @Test
  void anotherPageCannotReachSchedulersThroughIt() {
    try (Served one = Served.standard();
        FleetServed fleet = new FleetServed(list("one=127.0.0.1:" + one.server.port()), QUICK)) {
      await().until(() -> !fleet.fleet.view().hosts().isEmpty());
      HttpRequest forged =
          fleet
              .request("/s/one/api/v1/jobs/backup/pause")
              .header("Origin", "http://evil.example")
              .POST(HttpRequest.BodyPublishers.ofString("{}"))
              .build();
      assertThat(fleet.send(forged).statusCode()).isEqualTo(403);
      HttpRequest same =
          fleet
              .request("/s/one/api/v1/jobs/backup/pause")
              .header("Origin", fleet.server.uri().toString())
              .POST(HttpRequest.BodyPublishers.ofString("{}"))
              .build();
      assertThat(fleet.send(same).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void eventsStreamThrough() throws IOException {
    FakeScheduler scheduler = ApiFixture.standard();
    try (Served one = Served.of(scheduler);
        FleetServed fleet = new FleetServed(list("one=127.0.0.1:" + one.server.port()), QUICK);
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), fleet.server.port())) {
      await().until(() -> !fleet.fleet.view().hosts().isEmpty());
      socket.setSoTimeout(20_000);
      socket
          .getOutputStream()
          .write(
              lines(
                      "GET /s/one/api/v1/events?after=0 HTTP/1.1",
                      "Host: 127.0.0.1",
                      "Accept: text/event-stream",
                      "",
                      "")
                  .getBytes(StandardCharsets.US_ASCII));
      InputStream in = socket.getInputStream();
      StringBuilder seen = new StringBuilder();
      while (!seen.toString().contains("retry: 2000")) {
        int next = in.read();
        assertThat(next).as(seen.toString()).isNotNegative();
        seen.append((char) next);
      }
      assertThat(seen.toString().toLowerCase(Locale.ROOT))
          .contains("content-type: text/event-stream");
    }
  }

  private static String lines(String... lines) {
    return String.join("\r\n", lines);
  }

  /** A scheduler that was taken over, or none at all. */
  private static ServerSocket hostile(String answer) throws IOException {
    ServerSocket server = new ServerSocket();
    server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    // A thread of its own: the pool that all share may have only one.
    Thread serving =
        new Thread(
            () -> {
              while (!server.isClosed()) {
                try (Socket socket = server.accept()) {
                  int unused = socket.getInputStream().read(new byte[4096]);
                  socket.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
                } catch (IOException e) {
                  return;
                }
              }
            });
    serving.setDaemon(true);
    serving.start();
    return server;
  }

  @Test
  void aPageOfASchedulerIsNotShownAndItsHeadersAreDropped() throws IOException {
    try (ServerSocket page =
            hostile(
                lines(
                    "HTTP/1.1 200 OK",
                    "Content-Type: text/html",
                    "Content-Length: 25",
                    "",
                    "<script>alert(1)</script>"));
        ServerSocket data =
            hostile(
                lines(
                    "HTTP/1.1 200 OK",
                    "Content-Type: application/json",
                    "Content-Length: 2",
                    "Set-Cookie: a=b",
                    "Content-Security-Policy: script-src *",
                    "Access-Control-Allow-Origin: *",
                    "Clear-Site-Data: *",
                    "",
                    "{}"));
        ServerSocket away =
            hostile(
                lines(
                    "HTTP/1.1 302 Found",
                    "Location: http://169.254.169.254/latest",
                    "Content-Length: 0",
                    "",
                    ""));
        FleetServed fleet =
            new FleetServed(
                list(
                    "page=127.0.0.1:%d data=127.0.0.1:%d away=127.0.0.1:%d gone=127.0.0.1:1"
                        .formatted(page.getLocalPort(), data.getLocalPort(), away.getLocalPort())),
                QUICK)) {
      await().until(() -> fleet.fleet.view().count(FleetSchedulerState.ERROR) == 3);
      HttpResponse<String> html = fleet.send(fleet.request("/s/page/api/v1/jobs").build());
      assertThat(html.statusCode()).isEqualTo(502);
      assertThat(html.body()).doesNotContain("script");
      HttpResponse<String> json = fleet.send(fleet.request("/s/data/api/v1/jobs").build());
      assertThat(json.statusCode()).isEqualTo(200);
      assertThat(json.headers().map().keySet())
          .doesNotContain("set-cookie", "access-control-allow-origin", "clear-site-data");
      assertThat(json.headers().allValues("Content-Security-Policy"))
          .hasSize(1)
          .noneMatch(policy -> policy.contains("*"));
      HttpResponse<String> redirect = fleet.send(fleet.request("/s/away/api/v1/jobs").build());
      assertThat(redirect.statusCode()).isEqualTo(503);
      assertThat(redirect.headers().firstValue("Location")).isEmpty();
      assertThat(fleet.send(fleet.request("/s/gone/api/v1/jobs").build()).statusCode())
          .isEqualTo(502);
    }
  }

  /** Answers what changes something once it may, reads with a body, and nothing else. */
  private static HttpServer hung(
      CountDownLatch asked, CountDownLatch mayAnswer, ExecutorService threads) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext(
        "/",
        exchange -> {
          byte[] body = exchange.getRequestBody().readAllBytes();
          try {
            if (exchange.getRequestMethod().equals("POST")) {
              asked.countDown();
              mayAnswer.await();
            } else if (body.length == 0) {
              new CountDownLatch(1).await();
            }
          } catch (InterruptedException e) {
            return;
          }
          exchange.getResponseHeaders().add("Content-Type", "application/json");
          exchange.sendResponseHeaders(200, 2);
          exchange.getResponseBody().write(new byte[] {'{', '}'});
          exchange.close();
        });
    server.start();
    return server;
  }

  @Test
  void aSchedulerThatHangsIsWaitedForOnlySoLong() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch mayAnswer = new CountDownLatch(1);
    ExecutorService threads = Executors.newCachedThreadPool();
    HttpServer hung = hung(asked, mayAnswer, threads);
    String at = "hung=127.0.0.1:" + hung.getAddress().getPort();
    FleetOptions impatient =
        FleetOptions.DEFAULT.withTimes(
            Duration.ofSeconds(60), Duration.ofSeconds(5), Duration.ofMillis(300));
    try (FleetServed fleet = new FleetServed(list(at), impatient);
        Socket slow = new Socket(InetAddress.getLoopbackAddress(), fleet.server.port())) {
      await().until(() -> fleet.fleet.view().count(FleetSchedulerState.SLOW) == 1);
      slow.setSoTimeout(20_000);
      slow.getOutputStream()
          .write(
              lines(
                      "GET /s/hung/api/v1/queues HTTP/1.1",
                      "Host: 127.0.0.1",
                      "Content-Length: 2",
                      "",
                      "{")
                  .getBytes(StandardCharsets.US_ASCII));
      Future<HttpResponse<String>> changing =
          threads.submit(() -> fleet.post("/s/hung/api/v1/jobs/backup/pause", "{}"));
      asked.await();

      HttpResponse<String> late = fleet.send(fleet.request("/s/hung/api/v1/jobs").build());

      assertThat(late.statusCode()).isEqualTo(504);
      assertThat(late.headers().firstValue("Content-Type")).contains("application/problem+json");
      assertThat(late.body()).contains("scheduler hung did not answer within 300 ms");
      mayAnswer.countDown();
      assertThat(changing.get().statusCode()).isEqualTo(200);
      slow.getOutputStream().write('}');
      byte[] status = slow.getInputStream().readNBytes("HTTP/1.1 200".length());
      assertThat(new String(status, StandardCharsets.US_ASCII)).isEqualTo("HTTP/1.1 200");
    } finally {
      hung.stop(0);
      threads.shutdownNow();
    }
  }

  @Test
  void realSchedulersAreAskedByTheirSummary() {
    try (Served one = Served.standard();
        Served two = Served.standard();
        FleetServed fleet =
            new FleetServed(
                list(
                    "one=127.0.0.1:%d two=127.0.0.1:%d again=http://localhost:%d"
                        .formatted(one.server.port(), two.server.port(), one.server.port())),
                QUICK)) {
      await().until(() -> fleet.fleet.view().count(FleetSchedulerState.ANSWERED) == 3);
      await()
          .untilAsserted(
              () ->
                  assertThat(fleet.get("/api/v1/fleet/jobs/backup").get("schedulers"))
                      .hasToString("2"));
      assertThat(fleet.get("/api/v1/fleet/schedulers").toString()).contains("\"same_as\":\"one\"");
      assertThat(fleet.get("/api/v1/fleet/problems").toString())
          .contains("runs on more than one scheduler");
      assertThat(fleet.get("/api/v1/fleet/logs?stream=stderr").get("asked")).hasToString("2");
      HttpResponse<String> unread =
          fleet.send(fleet.request("/api/v1/fleet/logs?regex=%28").build());
      assertThat(unread.statusCode()).isEqualTo(400);
      assertThat(unread.body()).contains("is not a regular expression");
      HttpResponse<String> forgiven =
          fleet.post("/api/v1/fleet/jobs/backup/forgive", "{\"reason\":\"r\",\"expect_hosts\":2}");
      assertThat(forgiven.statusCode()).isEqualTo(200);
      assertThat(forgiven.body()).contains("\"ok\":2").contains("\"finished\":true");

      ContractDocument contract =
          ContractDocument.parse(fleet.send(fleet.request("/api/v1/openapi.yaml").build()).body());
      String path = "/api/v1/fleet/jobs/backup/forgive";
      HttpResponse<String> preview =
          fleet.post(path, "{\"selector\":{\"statuses\":[\"failed\"]},\"preview\":true}");
      assertThat(preview.body()).contains("\"matched\":", "\"running\":");
      assertThat(contract.check("POST", path, preview)).isEmpty();
      String all = "/api/v1/fleet/actions";
      String only =
          all
              + "/"
              + ((Json.Str) Objects.requireNonNull(Served.object(forgiven).get("id"))).value();
      for (String each : List.of(all, only)) {
        HttpResponse<String> actions = fleet.send(fleet.request(each).build());
        assertThat(actions.body()).contains("\"changed\":");
        assertThat(contract.check("GET", each, actions)).isEmpty();
      }
    }
  }

  @Test
  void logsSayWhoseLinesASchedulerCannotRead() {
    FakeScheduler scheduler = ApiFixture.standard().withoutLogsOf("w1: it is lost");
    try (Served one = Served.of(scheduler);
        Served two = Served.standard();
        FleetServed fleet =
            new FleetServed(
                list(
                    "one=127.0.0.1:%d two=127.0.0.1:%d"
                        .formatted(one.server.port(), two.server.port())),
                QUICK)) {
      await().until(() -> fleet.fleet.view().count(FleetSchedulerState.ANSWERED) == 2);
      Json.Obj page = fleet.get("/api/v1/fleet/logs?stream=stderr");
      assertThat(page.get("missing_total")).hasToString("1");
      assertThat(page.get("missing"))
          .hasToString(
              "[{\"host\":\"one\",\"state\":\"answered\",\"detail\":\"without w1: it is lost\"}]");
    }
  }

  @Test
  void aBodyThatIsNoJsonIsRefusedAsTheContractSays() {
    try (FleetServed fleet = new FleetServed(list("a:1"), QUICK)) {
      ContractDocument contract =
          ContractDocument.parse(fleet.send(fleet.request("/api/v1/openapi.yaml").build()).body());
      String path = "/api/v1/fleet/jobs/backup/pause";

      HttpResponse<String> refused = fleet.post(path, "{\"reason\":");

      assertThat(refused.statusCode()).isEqualTo(400);
      assertThat(String.valueOf(Served.object(refused).get("violations")))
          .contains("\"in\":\"body\"");
      assertThat(contract.check("POST", path, refused)).isEmpty();
    }
  }

  @Test
  @SuppressWarnings("unchecked")
  void theContractSaysWhatThereIs() {
    try (FleetServed fleet = new FleetServed(list("a:1"), QUICK)) {
      String text = fleet.send(fleet.request("/api/v1/openapi.yaml").build()).body();
      Map<String, Object> contract =
          (Map<String, Object>) new Yaml(new SafeConstructor(new LoaderOptions())).load(text);
      Map<String, Map<String, Object>> paths =
          (Map<String, Map<String, Object>>) Objects.requireNonNull(contract.get("paths"));
      TreeSet<String> described =
          paths.entrySet().stream()
              .flatMap(
                  path ->
                      path.getValue().keySet().stream()
                          .map(method -> method.toUpperCase(Locale.ROOT) + " " + path.getKey()))
              .collect(Collectors.toCollection(TreeSet::new));
      TreeSet<String> mounted =
          new io.espalier.webui.fleet.FleetResources(fleet.fleet)
              .routes().stream()
                  .map(route -> route.method() + " " + route.template())
                  .collect(Collectors.toCollection(TreeSet::new));
      mounted.addAll(List.of("GET /api/v1/audit", "GET /api/v1/me"));
      assertThat(described).isEqualTo(mounted);
    }
  }
}
