package io.espalier.webui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import io.espalier.testkit.api.ApiFixture;
import io.espalier.webui.fleet.poll.FleetOptions;
import io.espalier.webui.fleet.poll.SchedulerAddress;
import io.espalier.webui.http.WebSecurity;
import io.espalier.webui.security.Credentials;
import io.espalier.webui.security.MemoryAuditLog;
import io.espalier.webui.whatif.WhatIfRunner;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What-ifs by HTTP; the process is a fake. */
class WhatIfTest {
  private static final String PATH = "/api/v1/what-if";
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Served served = Served.standard();

  @AfterEach
  void stop() {
    served.close();
  }

  private Json.Obj refused(int status, String body) {
    HttpResponse<String> response = served.post(PATH, body);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
    return Served.object(response);
  }

  private void hang(int runs) {
    await().atMost(PATIENCE).until(() -> served.whatIfs.hanging.size() == runs);
  }

  @Test
  void theProcessGetsTheCopyAndEveryChangeAsOneArgument() {
    HttpResponse<String> response =
        served.post(
            PATH,
            "{\"set\": [\"host.slots=3\", \"--set\"], \"brake\": [\"all=0\"], \"resume\": [\"a b\"],"
                + " \"job\": [\"a.priority=2\", \"a.enabled=true\"],"
                + " \"workers\": 4, \"horizon_seconds\": 3600, \"assume_seconds\": 2, \"runs\": 1}");
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    assertThat(response.body()).isEqualTo(FakeWhatIfs.ANSWER);
    assertThat(served.whatIfs.started)
        .containsExactly(
            List.of(
                "--set=host.slots=3",
                "--set=--set",
                "--brake=all=0",
                "--resume=a b",
                "--job=a.priority=2",
                "--job=a.enabled=true",
                "--workers=+4",
                "--horizon=3600s",
                "--assume=2s",
                "--runs=1"));
    assertThat(served.whatIfs.snapshots.get(0)).containsExactly(1, 2, 3);
    assertThat(served.post(PATH, "{\"workers\": -2}").statusCode()).isEqualTo(200);
    assertThat(served.whatIfs.started.get(1)).containsExactly("--workers=-2");
    assertThat(served.scheduler.calls()).isEmpty();
  }

  @Test
  void whatTheCommandRefusesIsToldWithItsPlace() {
    served.whatIfs.next =
        FakeWhatIfs.ended(
            2,
            "",
            "espalier: --set \"host/h9.slots=1\": there is no node \"h9\"\nTry --help\n",
            "");
    Json.Obj problem = refused(400, "{\"set\": [\"host.slots=1\", \"host/h9.slots=1\"]}");
    assertThat(problem.get("detail"))
        .isEqualTo(Json.of("\"set\" \"host/h9.slots=1\": there is no node \"h9\""));
    assertThat(String.valueOf(problem.get("violations")))
        .contains("\"pointer\":\"/set/1\"", "\"value\":\"host/h9.slots=1\"");

    served.whatIfs.next =
        FakeWhatIfs.ended(2, "", "espalier: --horizon is at most 366d\nTry --help\n", "");
    problem = refused(400, "{\"horizon_seconds\": 315360000}");
    assertThat(String.valueOf(problem.get("violations")))
        .contains("\"pointer\":\"/horizon_seconds\"", "horizon_seconds\\\" is at most 366d");

    served.whatIfs.next =
        FakeWhatIfs.ended(
            1,
            "",
            "a warning\nespalier: no task has ended yet of backup: give --assume 30s, or what they"
                + " take\n",
            "");
    assertThat(refused(422, "{}").get("detail"))
        .isEqualTo(
            Json.of("no task has ended yet of backup: give \"assume_seconds\", or what they take"));
  }

  @Test
  void aRunThatTakesTooMuchIsRefused() {
    served.whatIfs.next = FakeWhatIfs.ended(137, "", "", "45 s");
    assertThat(String.valueOf(refused(422, "{}").get("detail")))
        .contains("(45 s)", "run espalier simulate");
    served.whatIfs.next = FakeWhatIfs.ended(139, "", "a crash\n", "");
    assertThat(refused(503, "{}").get("detail"))
        .isEqualTo(Json.of("the simulation has ended with exit code 139: a crash"));
  }

  @Test
  void requestsThatMeanNothingStartNoProcess() {
    for (String body :
        new String[] {
          "[]",
          "{\"sets\": []}",
          "{\"set\": \"host.slots=3\"}",
          "{\"set\": [\"a\\u0000b\"]}",
          "{\"set\": [\"\"]}",
          "{\"workers\": 1.5}",
          "{\"horizon_seconds\": 0}",
          "{\"horizon_seconds\": 1e999999}",
          "{\"runs\": 101}"
        }) {
      refused(400, body);
    }
    assertThat(served.whatIfs.started).isEmpty();
  }

  @Test
  void onlyOneRunsAtATime() {
    served.whatIfs.hangs = true;
    CompletableFuture<HttpResponse<String>> first =
        CompletableFuture.supplyAsync(() -> served.post(PATH, "{}"));
    hang(1);
    assertThat(String.valueOf(refused(429, "{}").get("detail"))).contains("another what-if");
    served.whatIfs.hangs = false;
    served.whatIfs.hanging.get(0).complete(FakeWhatIfs.ended(0, FakeWhatIfs.ANSWER, "", ""));
    assertThat(first.join().statusCode()).isEqualTo(200);
    assertThat(served.post(PATH, "{}").statusCode()).isEqualTo(200);
  }

  @Test
  void aClientThatGoesAwayEndsItsRun() throws Exception {
    served.whatIfs.hangs = true;
    try (Socket socket = served.connect()) {
      String request =
          "POST " + PATH + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
      hang(1);
      assertThat(served.whatIfs.hanging.get(0)).isNotDone();
    }
    await().atMost(PATIENCE).until(() -> served.whatIfs.hanging.get(0).isDone());
    served.whatIfs.hangs = false;
    await().atMost(PATIENCE).until(() -> served.post(PATH, "{}").statusCode() == 200);
  }

  @Test
  void itNeedsAnOperatorAndIsNoChange(@TempDir Path directory) throws Exception {
    Path file =
        Files.writeString(
            directory.resolve("tokens"),
            "vera viewer long-token-of-vera\nolga operator long-token-of-olga");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    MemoryAuditLog log = new MemoryAuditLog(100);
    WebSecurity security = WebSecurity.open().withAudit(log).withCredentials(Credentials.of(file));
    try (Served guarded = Served.with(ApiFixture.standard(), o -> o.withSecurity(security))) {
      for (String name : List.of("vera", "olga")) {
        HttpResponse<String> response =
            guarded.send(
                guarded
                    .request(PATH)
                    .header("Authorization", "Bearer long-token-of-" + name)
                    .POST(HttpRequest.BodyPublishers.ofString("{}"))
                    .build());
        assertThat(response.statusCode()).as(name).isEqualTo(name.equals("olga") ? 200 : 403);
      }
      assertThat(guarded.post(PATH, "{}").statusCode()).isEqualTo(401);
      assertThat(guarded.whatIfs.started).hasSize(1);
      assertThat(log.before(Long.MAX_VALUE, 10).toCompletableFuture().join()).isEmpty();
    }
  }

  @Test
  void aServerThatCannotSimulateSaysSo() {
    try (Served bare = Served.with(ApiFixture.standard(), o -> o.withWhatIfs(WhatIfRunner.NONE))) {
      HttpResponse<String> response = bare.post(PATH, "{}");
      assertThat(response.statusCode()).isEqualTo(405);
      assertThat(response.body()).contains("run espalier simulate");
    }
  }

  @Test
  void thePageOverManySchedulersForwardsIt() {
    SchedulerAddress one = new SchedulerAddress("one", "One", served.server.uri());
    try (FleetServed fleet = new FleetServed(List.of(one), FleetOptions.DEFAULT)) {
      HttpResponse<String> response = fleet.post("/s/one" + PATH, "{\"runs\": 2}");
      assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
      assertThat(response.body()).isEqualTo(FakeWhatIfs.ANSWER);
      assertThat(served.whatIfs.started).containsExactly(List.of("--runs=2"));
    }
  }
}
