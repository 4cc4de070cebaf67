package io.espalier.webui;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.testkit.api.ApiFixture;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What operators ask for by HTTP: limits, pauses, stops, tasks of their choice. */
class OperationsTest {
  private final Served served = Served.standard();

  @AfterEach
  void stop() {
    served.close();
  }

  private HttpResponse<String> send(String method, String path, String body) {
    return served.send(
        served
            .request("/api/v1/" + path)
            .method(method, HttpRequest.BodyPublishers.ofString(body))
            .build());
  }

  private Json ok(String method, String path, String body) {
    HttpResponse<String> response = send(method, path, body);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return Served.json(response.body());
  }

  @Test
  void limitsAreSetListedAndEnded() {
    assertThat(
            ok(
                "PUT",
                "limits/host/slots",
                "{\"limit\": 0, \"expires_in_seconds\": 1.5, \"reason\": \"disk full\","
                    + " \"author\": \"ann\"}"))
        .isEqualTo(
            Served.json(
                """
                {"level": "host", "resource": "slots", "limit": 0, "configured": 2,
                 "expires_at_ms": %d, "author": "ann", "reason": "disk full", "set_at_ms": %d}
                """
                    .formatted(ApiFixture.NOW_MILLIS + 1500, ApiFixture.NOW_MILLIS)));
    ok("PUT", "limits/host/slots/h%2F1", "{\"limit\": 7}");
    Json.Obj listed = (Json.Obj) ok("GET", "limits", "");
    assertThat(((Json.Arr) Objects.requireNonNull(listed.get("overrides"))).items())
        .hasSize(2)
        .last()
        .isEqualTo(
            Served.json(
                """
                {"level": "host", "resource": "slots", "node": "h/1", "limit": 7, "configured": 2,
                 "author": "", "reason": "", "set_at_ms": %d}
                """
                    .formatted(ApiFixture.NOW_MILLIS)));
    Json.Obj ended = (Json.Obj) ok("DELETE", "limits/host/slots/h%2F1?reason=over", "");
    assertThat(ended.get("ended")).isEqualTo(Json.Bool.TRUE);
    assertThat(send("DELETE", "limits/host/slots/h%2F1", "").statusCode()).isEqualTo(404);
    assertThat(send("PUT", "limits/hosts/slots", "{\"limit\": 7}").statusCode()).isEqualTo(404);
  }

  @Test
  void brakesAreSetListedShownAndReleased() {
    Json.Obj set =
        (Json.Obj)
            ok(
                "POST",
                "brakes",
                "{\"queue\": \"q\", \"factor\": 0.25, \"expires_in_seconds\": 1.5,"
                    + " \"ramp\": {\"step\": 0.1, \"every_seconds\": 60},"
                    + " \"reason\": \"disk full\", \"author\": \"ann\"}");
    String brake =
        """
        {"queue": "q", "target": "queue", "words": "queue q",
         "message": "25 %% of each limit is left on queue q, by ann, until %s: disk full",
         "factor": 0.25, "expires_at_ms": %d, "ramp": {"step": 0.1, "every_seconds": 60.0},
         "author": "ann", "reason": "disk full", "set_at_ms": %d%s}
        """;
    long now = ApiFixture.NOW_MILLIS;
    Instant until = Instant.ofEpochMilli(now + 1500);
    assertThat(set)
        .isEqualTo(Served.json(brake.formatted(until, now + 1500, now, ", \"durable\": true")));
    ok("POST", "brakes", "{\"node\": \"h/1\", \"level\": \"host\"}");
    Json.Arr all =
        (Json.Arr) Objects.requireNonNull(((Json.Obj) ok("GET", "brakes", "")).get("brakes"));
    assertThat(all.items())
        .hasSize(2)
        .first()
        .isEqualTo(Served.json(brake.formatted(until, now + 1500, now, "")));
    assertThat(((Json.Obj) ok("GET", "jobs", "")).get("brakes")).isEqualTo(all);
    assertThat(((Json.Obj) ok("GET", "problems", "")).get("brakes")).isEqualTo(all);
    Json.Obj paused =
        (Json.Obj) ok("POST", "brakes", "{\"set\": \"nightly\", \"throttle_running\": true}");
    assertThat(paused.get("throttle_running")).isEqualTo(Json.Bool.TRUE);
    assertThat(paused.get("message"))
        .isEqualTo(Json.of("nothing starts, and running tasks pause on set nightly"));
    ok("POST", "brakes/release", "{\"set\": \"nightly\"}");
    Json.Obj released = (Json.Obj) ok("POST", "brakes/release", "{\"queue\": \"q\"}");
    assertThat(released.get("released")).isEqualTo(Json.Bool.TRUE);
    ok("POST", "brakes/release", "{\"node\": \"h/1\", \"level\": \"host\"}");
    assertThat(((Json.Obj) ok("GET", "jobs", "")).get("brakes")).isNull();
  }

  @Test
  void quarantinesAreSetListedAndLifted() {
    String host = "{\"node\": \"h/1\", \"level\": \"host\", \"job\": \"j\"";
    Json set = ok("POST", "quarantines", host + ", \"reason\": \"disk\", \"author\": \"ann\"}");
    assertThat(set)
        .isEqualTo(
            Served.json(
                """
                {"level": "host", "node": "h/1", "job": "j", "words": "host h/1 for job j",
                 "suggested": false, "author": "ann", "reason": "disk", "set_at_ms": %d}
                """
                    .formatted(ApiFixture.NOW_MILLIS)));
    Json all = ((Json.Obj) ok("GET", "quarantines", "")).get("quarantines");
    assertThat(all).isEqualTo(new Json.Arr(List.of(set)));
    assertThat(((Json.Obj) ok("GET", "jobs", "")).get("quarantines")).isEqualTo(all);
    assertThat(((Json.Obj) ok("GET", "problems", "")).get("quarantines")).isEqualTo(all);
    ok("POST", "quarantines/lift", host + "}");
    assertThat(((Json.Obj) ok("GET", "jobs", "")).get("quarantines")).isNull();
    assertThat(served.post("/api/v1/quarantines", "{\"job\": \"j\"}").statusCode()).isEqualTo(400);
  }

  @Test
  void workersThatHaveNotConfirmedABrakeAreListed() {
    List<String> workers = IntStream.range(0, 120).mapToObj(i -> "w" + (1000 + i)).toList();
    served.scheduler.withUnconfirmed(workers);
    HttpResponse<String> set = served.post("/api/v1/brakes", "{}");
    assertThat(set.statusCode()).isEqualTo(200);
    assertThat(Served.object(set).get("unconfirmed")).isEqualTo(Json.of(120));
    assertThat(Served.object(set).get("unconfirmed_workers"))
        .isEqualTo(Json.strings(workers.subList(0, 100)));
    assertThat(Served.object(set).get("message"))
        .isEqualTo(
            Json.of("nothing starts (not confirmed by w1000, w1001, w1002 and 117 more workers)"));
    Json all = ((Json.Obj) ok("GET", "brakes", "")).get("brakes");
    assertThat(all).isInstanceOf(Json.Arr.class);
    ok("POST", "brakes/release", "{}");
  }

  @Test
  void aBrakeThatIsNotDurableYetIsAccepted() {
    served.scheduler.withoutStore();
    HttpResponse<String> accepted = served.post("/api/v1/brakes", "{}");
    assertThat(accepted.statusCode()).isEqualTo(202);
    assertThat(Served.object(accepted).get("durable")).isEqualTo(Json.Bool.FALSE);
    assertThat(Served.object(accepted).get("message")).isEqualTo(Json.of("nothing starts"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"factor\": 1}",
        "{\"factor\": -0.1}",
        "{\"node\": \"a\", \"queue\": \"b\"}",
        "{\"set\": \"a\", \"job\": \"b\"}",
        "{\"level\": \"host\"}",
        "{\"node\": \"\"}",
        "{\"job\": \"\"}",
        "{\"ramp\": {\"step\": 0, \"every_seconds\": 1}}",
        "{\"ramp\": {\"step\": 0.5}}",
        "{\"share\": 0.5}"
      })
  void aWrongBrakeIsRefused(String body) {
    assertThat(served.post("/api/v1/brakes", body).statusCode()).isEqualTo(400);
    assertThat(served.scheduler.calls()).isEmpty();
  }

  @Test
  void aPauseTellsWhoWhySinceAndUntil() {
    ok(
        "POST",
        "jobs/backup/pause",
        "{\"reason\": \"upgrade\", \"author\": \"ann\", \"expires_in_seconds\": 60}");
    Json.Obj job = (Json.Obj) ok("GET", "jobs/backup", "");
    assertThat(job.get("paused")).isEqualTo(Json.Bool.TRUE);
    assertThat(job.get("pause"))
        .isEqualTo(
            Served.json(
                """
                {"reason": "upgrade", "author": "ann", "since_ms": %d, "expires_at_ms": %d}
                """
                    .formatted(ApiFixture.NOW_MILLIS, ApiFixture.NOW_MILLIS + 60_000)));
    ok("POST", "jobs/backup/resume", "");
    assertThat(((Json.Obj) ok("GET", "jobs/backup", "")).get("pause")).isNull();
  }

  @Test
  void stopTellsHowManyItSignaled() {
    assertThat(ok("POST", "jobs/backup/stop", "{\"reason\": \"wrong\"}"))
        .isEqualTo(Served.json("{\"job\": \"backup\", \"paused\": true, \"signaled\": 1}"));
  }

  @Test
  void tasksAreChosenLookedAtAndRunAgain() {
    assertThat(
            ok(
                "POST",
                "jobs/backup/rerun",
                "{\"selector\": {\"statuses\": [\"done\", \"failed\"]}, \"preview\": true}"))
        .isEqualTo(
            Served.json(
                """
                {"job": "backup", "matched": 2, "running": 0, "samples": ["d11", "d21"],
                 "preview": true, "changed": 0}
                """));
    HttpResponse<String> other =
        send(
            "POST",
            "jobs/backup/rerun",
            "{\"selector\": {\"statuses\": [\"done\"]}, \"expect\": 5}");
    assertThat(other.statusCode()).isEqualTo(409);
    Json.Obj forgiven =
        (Json.Obj)
            ok(
                "POST",
                "jobs/backup/forgive",
                "{\"selector\": {\"prefix\": \"d2\", \"nodes\": [\"d21\"]}, \"expect\": 1}");
    assertThat(forgiven.get("changed")).isEqualTo(Json.of(1));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "POST | jobs/backup/rerun | {}                               | must say which tasks",
        "POST | jobs/backup/rerun | {\"selector\": 1}                | must be an object",
        "POST | jobs/backup/rerun | {\"selector\": {\"node\": []}}   | there are all, statuses,"
            + " prefix",
        "POST | jobs/backup/rerun | {\"selector\": {\"nodes\": [1]}} | must be a string, not a"
            + " number",
        "POST | jobs/backup/rerun | {\"selector\": {\"statuses\": [\"x\", \"y\"]}} | 2 things are"
            + " wrong",
        "POST | jobs/backup/rerun | {\"selector\": {\"all\": true, \"prefix\": \"d\"}} | and"
            + " something else",
        "POST | jobs/backup/rerun | {\"selector\": {\"all\": 1}}     | must be true or false",
        "POST | jobs/backup/kill | {\"selector\": {\"statuses\": [\"running\"], \"nodes\": []}} |"
            + " at least 1",
        "POST | jobs/backup/kill | {\"selector\": {\"statuses\": [], \"prefix\": \"d\"}} |"
            + " at least 1",
        "POST | jobs/backup/forgive | {\"selector\": {\"prefix\": \"\"}} | that is not empty",
        "POST | jobs/backup/forgive | {\"selector\": {\"fingerprint\": \"\"}} | that is not empty",
        "POST | quarantines/lift | {\"node\": \"h1\", \"job\": \"\"} | that is not empty",
        "POST | jobs/backup/rerun | {\"selector\": {\"all\": true}, \"expect\": -1} | whole number",
        "POST | jobs/backup/pause | {\"expires_in_seconds\": 0}      | must be a number from 0.001",
        "PUT  | limits/host/slots | {}                               | \"limit\" is missing in the"
            + " body",
        "PUT  | limits/host/slots | {\"limit\": -1}                  | must be a whole number from"
            + " 0",
        "PUT  | limits/host/slots | {\"limit\": 1.5}                 | must be a whole number",
        "PUT  | limits/host/slots | {\"limit\": 2147483648}          | must be a whole number",
        "PUT  | limits/host/slots | {\"limit\": 1, \"until\": 3}     | unknown member \"until\"",
      })
  void whatIsWrongIsSaidAndNothingChanges(String method, String path, String body, String says) {
    HttpResponse<String> response = send(method, path, body);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
    assertThat(String.valueOf(Served.object(response).get("detail")))
        .contains(says.replace("\"", "\\\""));
    assertThat(served.scheduler.calls()).isEmpty();
  }

  @Test
  void theLimitOfANodeWithoutANameIsNotThatOfItsLevel() {
    assertThat(send("PUT", "limits/host/slots/", "{\"limit\": 1}").statusCode()).isEqualTo(404);
    assertThat(send("PUT", "limits/host/slots", "{\"limit\": 1}").statusCode()).isEqualTo(200);
    assertThat(send("DELETE", "limits/host/slots/", "").statusCode()).isEqualTo(404);
    assertThat(served.scheduler.calls()).hasSize(1);
  }

  @Test
  void cancelledTasksAreCountedAndBistrosClientsSeeBitsThatTheyKnow() {
    assertThat(send("POST", "jobs/backup/cancel", "{}").statusCode()).isEqualTo(400);
    Json.Obj cancelled =
        (Json.Obj)
            ok(
                "POST",
                "jobs/backup/cancel",
                "{\"selector\": {\"statuses\": [\"failed\"]}, \"reason\": \"scrapped\"}");
    assertThat(cancelled.get("changed")).isEqualTo(Json.of(1));
    Json.Obj tasks = (Json.Obj) ok("GET", "jobs/backup/tasks?status=cancelled", "");
    assertThat(((Json.Arr) Objects.requireNonNull(tasks.get("tasks"))).items()).hasSize(1);
    String bistro =
        served
            .send(
                served
                    .request("/")
                    .POST(
                        HttpRequest.BodyPublishers.ofString(
                            "{\"q\": {\"handler\": \"histogram\", \"jobs\": [\"backup\"]}}"))
                    .build())
            .body();
    // 16 + 128: failed, on an avoided node
    assertThat(bistro).contains("\"QC\":1");
  }

  @Test
  void runningTasksAreChosenAndKilledByOneRequest() {
    assertThat(send("POST", "jobs/backup/kill", "{}").statusCode()).isEqualTo(400);
    assertThat(ok("POST", "jobs/backup/kill", "{\"selector\": {\"all\": true}, \"preview\": true}"))
        .isEqualTo(
            Served.json(
                """
                {"job": "backup", "matched": 1, "running": 0, "samples": ["d12"],
                 "preview": true, "changed": 0}
                """));
    String some = "{\"selector\": {\"prefix\": \"d1\"}, \"reason\": \"stuck\", \"expect\": ";
    assertThat(send("POST", "jobs/backup/kill", some + "2}").statusCode()).isEqualTo(409);
    Json.Obj killed = (Json.Obj) ok("POST", "jobs/backup/kill", some + "1}");
    assertThat(killed.get("changed")).isEqualTo(Json.of(1));
    Json.Obj set = (Json.Obj) ok("POST", "sets/nightly/kill", "{\"selector\": {\"all\": true}}");
    assertThat(String.valueOf(set.get("jobs"))).contains("\"changed\":1");
  }

  @Test
  void whatIsAskedOfASetGoesToItsJobs() {
    Json.Obj sets = (Json.Obj) ok("GET", "sets", "");
    assertThat(String.valueOf(sets.get("sets"))).contains("\"name\":\"nightly\",\"size\":1");
    Json.Obj paused =
        (Json.Obj) ok("POST", "sets/nightly/pause", "{\"reason\": \"r\", \"author\": \"ann\"}");
    assertThat(paused.get("refused")).isEqualTo(Json.of(0));
    Json.Obj job = (Json.Obj) ok("GET", "jobs/backup", "");
    assertThat(job.get("set")).isEqualTo(Json.of("nightly"));
    assertThat(job.get("paused")).isEqualTo(Json.Bool.TRUE);
    Json.Obj preview =
        (Json.Obj)
            ok("POST", "sets/nightly/cancel", "{\"selector\": {\"all\": true}, \"preview\": true}");
    assertThat(String.valueOf(preview.get("jobs"))).contains("\"preview\":true");
    assertThat(send("GET", "sets/nightlie", "").statusCode()).isEqualTo(404);
    assertThat(send("POST", "sets/nightlie/pause", "{}").statusCode()).isEqualTo(404);
    assertThat(send("POST", "sets/nightly/cancel", "{}").statusCode()).isEqualTo(400);
    assertThat(send("POST", "sets/nightly/delete", "{}").statusCode()).isGreaterThanOrEqualTo(400);
  }
}
