package io.espalier.webui;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.json.JsonReader;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Plans of configurations, and applying them. */
class PlanTest {
  private static final String NEW = "\"config\": {\"bistro_job->new\": {\"owner\": \"me\"}}";

  private final Served served = Served.standard();

  @AfterEach
  void stop() {
    served.close();
  }

  private HttpResponse<String> post(String path, String body) {
    return served.send(
        served
            .request("/api/v1/" + path)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString("{" + body + "}"))
            .build());
  }

  private static Json.Obj json(HttpResponse<String> response) {
    return JsonReader.parse(response.body()).value() instanceof Json.Obj object
        ? object
        : Json.Obj.EMPTY;
  }

  @Test
  void aPlanChangesNothingAndShowsNoSecrets() {
    HttpResponse<String> response = post("plans", NEW);
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(json(response).get("token")).isEqualTo(Json.of("token"));
    assertThat(response.body())
        .contains("\"kills\":1", "\"renamed_from\":\"old\"", "\"path\":\"nodes.password\"")
        .contains("\"killed_after_seconds\":0.5", "\"over_by\":1", "\"tasks_added\":7")
        .contains("\"now\":{\"used\":3,\"slots\":4}", "\"more_jobs\":2", "\"p50_seconds\":90")
        .doesNotContain("sesame");
    assertThat(served.scheduler.calls()).isEmpty();
  }

  @Test
  void aViewerSeesWhichSettingsChangeButNoValues() {
    String body =
        served
            .send(
                served
                    .request("/api/v1/plans")
                    .header("X-Espalier-Role", "viewer")
                    .POST(HttpRequest.BodyPublishers.ofString("{" + NEW + "}"))
                    .build())
            .body();
    assertThat(body)
        .contains("\"settings\":[{\"path\":\"nodes.password\"}]")
        .doesNotContain("sesame");
  }

  @Test
  void durationsCanBeAssumed() {
    assertThat(post("plans?assume_ms=30000", NEW).body()).contains("\"p50_seconds\":30");
    for (String bad : new String[] {"0", "-1", "x", "31622400001"}) {
      assertThat(post("plans?assume_ms=" + bad, NEW).statusCode()).as(bad).isEqualTo(400);
    }
  }

  @Test
  void errorsAreToldWithoutAToken() {
    HttpResponse<String> response =
        post("plans", "\"config\": {\"bistro_job->broken\": {}}, \"prune\": true");
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(json(response).get("valid")).isEqualTo(Json.Bool.FALSE);
    assertThat(json(response).get("token")).isNull();
  }

  @Test
  void applyingNeedsATokenAndSaysWhatItDid() {
    HttpResponse<String> refused = post("plans/apply", NEW + ", \"plan\": \"x\"");
    assertThat(refused.statusCode()).isEqualTo(409);
    assertThat(json(refused).get("code")).isEqualTo(Json.of("plan_forged"));
    HttpResponse<String> applied =
        post(
            "plans/apply",
            NEW + ", \"plan\": \"token\", \"consent\": {\"kills\": 1}, \"author\": \"ann\"");
    assertThat(applied.statusCode()).isEqualTo(200);
    assertThat(applied.body()).contains("\"settings\":true", "\"version\":1");
    assertThat(json(applied).toString()).doesNotContain("\"token\"");
    assertThat(served.scheduler.calls()).containsExactly("apply {kills=1} ann ");
  }

  @Test
  void requestsThatMeanNothingAreRefused() {
    for (String body :
        new String[] {
          "",
          "\"config\": []",
          "\"config\": {}",
          "\"config\": {\"owner\": \"me\"}",
          NEW + ", \"prunes\": true",
          NEW + ", \"prune\": 1"
        }) {
      assertThat(post("plans", body).statusCode()).as(body).isEqualTo(400);
    }
    for (String consent :
        new String[] {"{\"kill\": 1}", "{\"kills\": -1}", "{\"new\": 1.5}", "1"}) {
      assertThat(
              post("plans/apply", NEW + ", \"plan\": \"token\", \"consent\": " + consent)
                  .statusCode())
          .as(consent)
          .isEqualTo(400);
    }
    assertThat(served.scheduler.calls()).isEmpty();
  }
}
