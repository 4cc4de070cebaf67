package io.espalier.webui.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.webui.Served;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A request that the contract does not allow is answered with everything that is wrong. */
class OpenApiValidatorTest {
  private final Served served = Served.standard();

  @AfterEach
  void stop() {
    served.close();
  }

  private static Json violations(HttpResponse<String> response) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
    return Objects.requireNonNull(Served.object(response).get("violations"), response.body());
  }

  @Test
  void allThatIsWrongWithTheParametersIsSaidAtOnce() {
    HttpResponse<String> response =
        served.get("/api/v1/jobs/backup/tasks?limit=0&status=runing&prefx=d&after=x&after=y");
    assertThat(violations(response))
        .isEqualTo(
            Served.json(
                """
                [{"in":"query","parameter":"after","value":"x,y","expected":"one value",
                  "message":"parameter \\"after\\" is given more than once"},
                 {"in":"query","parameter":"status","value":"runing",
                  "expected":"one of unstarted, running, done, incomplete, incomplete_backoff, error, error_backoff, failed, cancelled, never_started, was_not_running, lost, interrupted, avoided, disabled",
                  "message":"parameter \\"status\\" must be one of unstarted, running, done, incomplete, incomplete_backoff, error, error_backoff, failed, cancelled, never_started, was_not_running, lost, interrupted, avoided, disabled, not \\"runing\\"",
                  "hint":"did you mean \\"running\\"?"},
                 {"in":"query","parameter":"limit","value":"0",
                  "expected":"a whole number from 1 to 1000",
                  "message":"parameter \\"limit\\" must be a whole number from 1 to 1000, not \\"0\\""},
                 {"in":"query","parameter":"prefx","value":"d",
                  "expected":"one of status, prefix, contains, fingerprint, under, level, reason, history, total, after, limit",
                  "message":"unknown parameter \\"prefx\\"; there are status, prefix, contains, fingerprint, under, level, reason, history, total, after, limit",
                  "hint":"did you mean \\"prefix\\"?"}]\
                """));
    assertThat(String.valueOf(Served.object(response).get("detail")))
        .contains("4 things are wrong with the request: ")
        .contains("did you mean");
  }

  @Test
  void parametersAndBodyAreToldOfTogether() {
    HttpResponse<String> response =
        served.post(
            "/api/v1/jobs/backup/tasks/d12/extend?x=1",
            "{\"seconds\": -5, \"reason\": 7, \"secs\": [1]}");
    assertThat(violations(response))
        .isEqualTo(
            Served.json(
                """
                [{"in":"query","parameter":"x","value":"1","expected":"one of node",
                  "message":"unknown parameter \\"x\\"; there are node"},
                 {"in":"body","pointer":"/seconds","value":"-5",
                  "expected":"a number from 0.001 to 1000000000",
                  "message":"\\"seconds\\" must be a number from 0.001 to 1000000000, not -5"},
                 {"in":"body","pointer":"/reason","value":"7","expected":"a string",
                  "message":"\\"reason\\" must be a string, not a number"},
                 {"in":"body","pointer":"/secs","value":"[1]","expected":"one of seconds, reason",
                  "message":"unknown member \\"secs\\" in the body; there are seconds, reason"}]\
                """));
    assertThat(served.scheduler.calls()).isEmpty();
  }

  @Test
  void whatIsMissingIsNamedWithWhatItMustBe() {
    assertThat(violations(served.post("/api/v1/jobs/backup/rollback", "")))
        .isEqualTo(
            Served.json(
                """
                [{"in":"body","pointer":"/version","expected":"a whole number of at least 0",
                  "message":"\\"version\\" is missing in the body; it must be a whole number of at least 0"}]\
                """));
  }

  @Test
  void aBodyOfAnotherKindIsNamed() {
    assertThat(violations(served.post("/api/v1/jobs/backup/pause", "[1]")))
        .isEqualTo(
            Served.json(
                """
                [{"in":"body","pointer":"","value":"[1]","expected":"an object",
                  "message":"the body must be an object, not a list"}]\
                """));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"seconds\": 1e400}",
        "{\"seconds\": 1e1000000000}",
        "{\"seconds\": -1e-1000000000}",
        "{\"seconds\": 1, \"\\u0001\\t~/%\": {}}",
        "{\"seconds\": 1, \"a\": null}",
        "{\"seconds\": {\"oneOf\": [1]}}",
        "{\"seconds\": 1, \"$ref\": \"#/components/schemas/Job\"}",
        "{\"\": 1}",
        "null",
      })
  void noBodyMakesItStumble(String body) {
    HttpResponse<String> response = served.post("/api/v1/jobs/backup/tasks/d12/extend", body);
    assertThat(violations(response).toString()).contains("\"in\":\"body\"");
  }

  @Test
  void manyViolationsAreBounded() {
    StringBuilder body = new StringBuilder("{\"seconds\": 1");
    for (int i = 0; i < 5000; i++) {
      body.append(",\"member").append(i).append("\": 0");
    }
    HttpResponse<String> response =
        served.post("/api/v1/jobs/backup/tasks/d12/extend", body.append('}').toString());
    assertThat(((Json.Arr) violations(response)).items()).hasSize(100);
    assertThat(response.body()).hasSizeLessThan(40_000);
  }

  @Test
  void streamsAreHeldAgainstTheContractToo() {
    for (String path : new String[] {"/api/v1/events?after=x", "/api/v1/logs?stream=stdin"}) {
      HttpResponse<String> response =
          served.send(served.request(path).header("Accept", "text/event-stream").build());
      assertThat(violations(response).toString()).contains("\"in\":\"query\"");
    }
    HttpResponse<String> response =
        served.send(
            served
                .request("/api/v1/events")
                .header("Accept", "text/event-stream")
                .header("Last-Event-ID", "-3")
                .build());
    assertThat(violations(response))
        .isEqualTo(
            Served.json(
                """
                [{"in":"header","parameter":"last-event-id","value":"-3",
                  "expected":"a whole number of at least 0",
                  "message":"header \\"last-event-id\\" must be a whole number of at least 0, not \\"-3\\""}]\
                """));
  }

  @Test
  void anOperationWithoutBodyTakesNoneButAnEmptyObject() {
    HttpRequest.Builder delete = served.request("/api/v1/jobs/backup");
    HttpRequest full =
        delete.method("DELETE", HttpRequest.BodyPublishers.ofString("{\"a\": 1}")).build();
    assertThat(violations(served.send(full)).toString()).contains("takes no body");
    HttpRequest empty = delete.method("DELETE", HttpRequest.BodyPublishers.ofString("{}")).build();
    assertThat(served.send(empty).statusCode()).isEqualTo(200);
  }

  @Test
  void anEmptyParameterIsLikeNone() {
    assertThat(served.get("/api/v1/jobs/backup/tasks?limit=&status=&after=").statusCode())
        .isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(strings = {"PUT", "DELETE"})
  void anEmptyConditionOfAChangeIsNotLikeNone(String method) {
    String job = method.equals("PUT") ? "{\"owner\": \"me\"}" : "{}";
    HttpRequest.BodyPublisher body = HttpRequest.BodyPublishers.ofString(job);
    HttpRequest request =
        served.request("/api/v1/jobs/backup?version=&reason=").method(method, body).build();
    assertThat(violations(served.send(request)))
        .isEqualTo(
            Served.json(
                """
                [{"in":"query","parameter":"version","value":"",
                  "expected":"a whole number of at least 0",
                  "message":"parameter \\"version\\" must be a whole number of at least 0, not \\"\\"",
                  "hint":"leave it out when there is no value"}]\
                """));
    assertThat(served.scheduler.calls()).isEmpty();
  }
}
