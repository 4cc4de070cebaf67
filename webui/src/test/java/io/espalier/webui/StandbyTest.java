package io.espalier.webui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import io.espalier.testkit.api.ApiFixture;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class StandbyTest {
  private Served leader;
  private WebServer standby;
  private volatile StandbyState state;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  @BeforeEach
  void start() {
    leader = Served.standard();
    state = new StandbyState("/espalier/prod", Optional.of(leader.server.uri()), "it (there)", "");
    standby = WebServer.standby(WebOptions.at("127.0.0.1", 0), () -> state);
  }

  @AfterEach
  void stop() {
    standby.close();
    leader.close();
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(standby.uri() + path)).timeout(Duration.ofSeconds(30));
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void questionsAreAnsweredByTheLeader() throws Exception {
    HttpResponse<String> here = send(request("/api/v1/jobs?x=%20y"));
    HttpResponse<String> there = leader.get("/api/v1/jobs?x=%20y");
    assertThat(here.statusCode()).isEqualTo(there.statusCode());
    assertThat(here.body()).isEqualTo(there.body());
    HttpResponse<String> jobs = send(request("/api/v1/jobs"));
    assertThat(jobs.statusCode()).isEqualTo(200);
    assertThat(jobs.body()).isEqualTo(leader.get("/api/v1/jobs").body());
    assertThat(jobs.headers().allValues("Content-Security-Policy")).hasSize(1);
  }

  @Test
  void refusalsOfTheLeaderAreRefusals() throws Exception {
    assertThat(send(request("/api/v1/jobs/nobody")).statusCode()).isEqualTo(404);
  }

  @Test
  void headAndCompressedAnswersPassUnchanged() throws Exception {
    HttpResponse<String> head =
        send(request("/api/v1/jobs").method("HEAD", HttpRequest.BodyPublishers.noBody()));
    assertThat(head.statusCode()).isEqualTo(200);
    HttpResponse<byte[]> zipped =
        client.send(
            request("/api/v1/openapi.yaml").header("Accept-Encoding", "gzip").build(),
            HttpResponse.BodyHandlers.ofByteArray());
    assertThat(zipped.headers().firstValue("Content-Encoding")).hasValue("gzip");
    assertThat(zipped.body()).startsWith((byte) 0x1f, (byte) 0x8b);
  }

  @Test
  void changesAreSentToTheLeader() throws Exception {
    HttpResponse<String> answer =
        send(
            request("/api/v1/jobs/backup/pause?a=b")
                .POST(HttpRequest.BodyPublishers.ofString("{\"reason\": \"x\"}")));
    assertThat(answer.statusCode()).isEqualTo(307);
    assertThat(answer.headers().firstValue("Location"))
        .hasValue(leader.server.uri() + "/api/v1/jobs/backup/pause?a=b");
    assertThat(Served.object(answer).get("leader_url"))
        .isEqualTo(Json.of(leader.server.uri().toString()));
    assertThat(send(request("/").POST(HttpRequest.BodyPublishers.ofString("{}"))).statusCode())
        .isEqualTo(307);
    assertThat(send(request("/x").DELETE()).statusCode()).isEqualTo(307);
  }

  @Test
  void aServiceThatReportsHearsWhoLeads() throws Exception {
    String report = "/api/v1/callbacks/i1?job=j&node=n%2F1&signature=s";
    HttpResponse<String> answer =
        send(request(report).POST(HttpRequest.BodyPublishers.ofString("{}")));
    assertThat(answer.statusCode()).isEqualTo(307);
    assertThat(answer.headers().firstValue("Location")).hasValue(leader.server.uri() + report);
    state = new StandbyState("/espalier/prod", Optional.empty(), "", "no connection to ZooKeeper");
    answer = send(request(report).POST(HttpRequest.BodyPublishers.ofString("{}")));
    assertThat(answer.statusCode()).isEqualTo(503);
    assertThat(answer.headers().firstValue("Retry-After")).isPresent();
  }

  @Test
  void thePageIsTheLeaders() throws Exception {
    HttpResponse<String> page = send(request("/"));
    assertThat(page.statusCode()).isEqualTo(307);
    assertThat(page.headers().firstValue("Location")).hasValue(leader.server.uri() + "/");
  }

  @Test
  void itSaysOfItselfThatItStandsBy() throws Exception {
    for (String probe : new String[] {"/healthz", "/readyz"}) {
      HttpResponse<String> answer = send(request(probe));
      assertThat(answer.statusCode()).isEqualTo(200);
      Json.Obj body = Served.object(answer);
      assertThat(body.get("role")).isEqualTo(Json.of("standby"));
      assertThat(body.get("standby_of")).isEqualTo(Json.of("it (there)"));
    }
    assertThat(send(request("/metrics")).body())
        .contains("espalier_leader{group=\"/espalier/prod\"} 0");
  }

  @Test
  void withoutALeaderItIsHealthyNotReadyAndSaysWhy() throws Exception {
    state = new StandbyState("/espalier/prod", Optional.empty(), "", "no connection to ZooKeeper");
    assertThat(send(request("/healthz")).statusCode()).isEqualTo(200);
    HttpRequest.Builder head =
        request("/healthz").method("HEAD", HttpRequest.BodyPublishers.noBody());
    assertThat(send(head).statusCode()).isEqualTo(200);
    assertThat(send(request("/readyz")).statusCode()).isEqualTo(503);
    for (HttpRequest.Builder each :
        new HttpRequest.Builder[] {
          request("/api/v1/jobs"),
          request("/"),
          request("/api/v1/jobs/backup/pause").POST(HttpRequest.BodyPublishers.noBody())
        }) {
      HttpResponse<String> answer = send(each);
      assertThat(answer.statusCode()).isEqualTo(503);
      assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/problem+json");
      assertThat(answer.headers().firstValue("Retry-After")).isPresent();
      assertThat(answer.body())
          .contains("no scheduler leads at the moment: no connection to ZooKeeper");
    }
  }

  @Test
  void aLeaderThatDoesNotAnswerIsAProblemDocument() throws Exception {
    leader.close();
    HttpResponse<String> answer = send(request("/api/v1/jobs"));
    assertThat(answer.statusCode()).isEqualTo(503);
    assertThat(answer.body()).contains("does not answer");
  }

  @Test
  void streamsPassAsTheyComeAndEndWithTheirReader() throws Exception {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), standby.port())) {
      socket.setSoTimeout(20_000);
      socket
          .getOutputStream()
          .write(
              String.join(
                      "\r\n",
                      "GET /api/v1/events HTTP/1.1",
                      "Host: localhost",
                      "Accept: text/event-stream",
                      "Last-Event-ID: 0",
                      "",
                      "")
                  .getBytes(StandardCharsets.UTF_8));
      BufferedReader lines =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      assertThat(lines.readLine()).contains("200");
      String line = lines.readLine();
      while (!line.startsWith("data:")) {
        line = lines.readLine();
      }
      assertThat(line).contains("sequence");
      assertThat(streams()).isEqualTo(1);
    }
    await().atMost(Duration.ofSeconds(20)).until(() -> streams() == 0);
  }

  private double streams() throws IOException {
    return leader
        .get("/metrics")
        .body()
        .lines()
        .filter(line -> line.startsWith("espalier_http_streams") && !line.contains("dropped"))
        .filter(line -> !line.startsWith("#"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  @Test
  void strangersPagesAreKeptOut() throws Exception {
    assertThat(send(request("/api/v1/jobs").header("Origin", "http://evil.example")).statusCode())
        .isEqualTo(403);
    assertThat(
            send(request("/api/v1/jobs").header("Origin", standby.uri().toString())).statusCode())
        .as("the leader does not judge the standby's own page")
        .isEqualTo(200);
  }

  @Test
  void twoThatTakeEachOtherForTheLeaderDoNotAskForEver() throws Exception {
    state = new StandbyState("/espalier/prod", Optional.of(standby.uri()), "itself", "");
    HttpResponse<String> answer = send(request("/api/v1/jobs"));
    assertThat(answer.statusCode()).isEqualTo(503);
    assertThat(answer.body()).contains("cannot be asked");
  }

  @Test
  void theLeaderMayChange() throws Exception {
    try (Served other = Served.of(ApiFixture.standard())) {
      state = new StandbyState("/espalier/prod", Optional.of(other.server.uri()), "other", "");
      leader.close();
      assertThat(send(request("/api/v1/jobs")).statusCode()).isEqualTo(200);
    }
  }
}
