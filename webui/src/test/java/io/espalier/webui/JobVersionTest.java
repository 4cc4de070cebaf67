package io.espalier.webui;

import static io.espalier.webui.Served.text;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Changes of jobs that only hold for the version that the client saw. */
class JobVersionTest {
  private final Served served = Served.standard();

  @AfterEach
  void stop() {
    served.close();
  }

  private HttpResponse<String> send(String method, String query, String... headers) {
    HttpRequest.Builder request =
        served
            .request("/api/v1/jobs/new" + query)
            .method(
                method,
                method.equals("PUT")
                    ? HttpRequest.BodyPublishers.ofString("{\"owner\":\"me\"}")
                    : HttpRequest.BodyPublishers.noBody());
    return served.send((headers.length == 0 ? request : request.headers(headers)).build());
  }

  private static String tag(HttpResponse<String> response) {
    return response.headers().firstValue("ETag").orElse("");
  }

  @Test
  void aJobIsSavedOnlyOverTheVersionThatIsNamed() {
    assertThat(send("PUT", "", "If-Match", "*").statusCode()).isEqualTo(412);
    HttpResponse<String> created = send("PUT", "", "If-None-Match", "*");
    assertThat(created.statusCode()).isEqualTo(200);
    assertThat(tag(created)).isEqualTo("\"1\"");
    assertThat(send("PUT", "", "If-None-Match", "*").statusCode()).isEqualTo(412);
    assertThat(send("PUT", "", "If-Match", "\"7\"").statusCode()).isEqualTo(412);
    HttpResponse<String> saved = send("PUT", "", "If-Match", tag(created));
    assertThat(tag(saved)).isEqualTo("\"2\"");
    assertThat(send("PUT", "?version=1").statusCode()).as("a parameter").isEqualTo(409);
    assertThat(send("PUT", "?version=2", "If-Match", "\"3\"").statusCode()).isEqualTo(400);
    assertThat(send("DELETE", "", "If-Match", "\"1\"").statusCode()).isEqualTo(412);
    assertThat(send("DELETE", "", "If-Match", "\"2\"").statusCode()).isEqualTo(200);
    assertThat(served.scheduler.calls()).containsExactly("save new", "save new", "delete new");
  }

  @Test
  void theVersionsComeInPagesInBothOrders() {
    for (int i = 0; i < 12; i++) {
      assertThat(send("PUT", "").statusCode()).isEqualTo(200);
    }
    String path = "/api/v1/jobs/new/history";
    assertThat(versions(served.read(path))).hasSize(12).startsWith("1", "2").endsWith("12");
    assertThat(versions(served.read(path + "?order=desc"))).hasSize(12).startsWith("12", "11");
    assertThat(served.read(path + "?order=desc").get("next")).as("nobody asked").isNull();
    Json.Obj oldest = served.read(path + "?limit=9");
    assertThat(versions(oldest)).hasSize(9).endsWith("9");
    Json.Obj rest = served.read(path + "?limit=9&after=" + text(oldest, "next"));
    assertThat(versions(rest)).containsExactly("10", "11", "12");
    assertThat(text(rest, "next")).isEmpty();
    Json.Obj newest = served.read(path + "?order=desc&limit=2");
    assertThat(versions(newest)).containsExactly("12", "11");
    send("PUT", "");
    assertThat(versions(served.read(path + "?order=desc&limit=2&after=" + text(newest, "next"))))
        .as("a new version moves nothing")
        .containsExactly("10", "9");
    assertThat(served.get(path + "?order=up&limit=0").statusCode()).isEqualTo(400);
  }

  private static List<String> versions(Json.Obj history) {
    return ((Json.Arr) Objects.requireNonNull(history.get("versions")))
        .items().stream()
            .map(version -> String.valueOf(((Json.Obj) version).get("version")))
            .toList();
  }

  @Test
  void aJobForWhichThereIsNoRoomMayComeAgain() {
    HttpResponse<String> full =
        served.send(
            served
                .request("/api/v1/jobs/new")
                .PUT(HttpRequest.BodyPublishers.ofString("{\"owner\": \"a\", \"full\": true}"))
                .build());
    assertThat(full.statusCode()).isEqualTo(429);
    assertThat(full.headers().firstValue("Retry-After")).hasValue("1");
    assertThat(Served.object(full).get("detail"))
        .isEqualTo(Json.of("job new is not taken: 2 jobs wait already"));
    assertThat(served.scheduler.calls()).isEmpty();
  }

  @Test
  void anInvalidJobIsToldFromWhatIsNoJson() {
    HttpResponse<String> invalid =
        served.send(
            served
                .request("/api/v1/jobs/new")
                .PUT(HttpRequest.BodyPublishers.ofString("{\"owner\": 1, \"broken\": true}"))
                .build());
    assertThat(invalid.statusCode()).isEqualTo(422);
    assertThat(invalid.body())
        .contains("\"title\":\"Unprocessable Content\"", "\"path\":\"bistro_job->new.broken\"");
    for (String bad : new String[] {"{\"owner\": ", "[]", "7", ""}) {
      HttpRequest request =
          served.request("/api/v1/jobs/new").PUT(HttpRequest.BodyPublishers.ofString(bad)).build();
      assertThat(served.send(request).statusCode()).as(bad).isEqualTo(400);
    }
    assertThat(served.scheduler.calls()).isEmpty();
  }

  @Test
  void tagsOfAnotherFormAreRefused() {
    for (String bad : new String[] {"2", "W/\"2\"", "\"2\", \"3\"", "\"x\""}) {
      HttpResponse<String> response = send("PUT", "", "If-Match", bad);
      assertThat(response.statusCode()).as(bad).isEqualTo(400);
    }
    assertThat(send("PUT", "", "If-None-Match", "\"2\"").statusCode()).isEqualTo(400);
    assertThat(send("PUT", "", "If-None-Match", "").statusCode()).isEqualTo(400);
  }

  @Test
  void whoHasTheVersionGetsNoneAgain() {
    HttpResponse<String> first = served.get("/api/v1/jobs/backup");
    assertThat(tag(first)).matches("\"[0-9]+\"");
    for (String given : new String[] {tag(first), "W/" + tag(first), "\"99\", " + tag(first)}) {
      HttpResponse<String> second =
          served.send(served.request("/api/v1/jobs/backup").header("If-None-Match", given).build());
      assertThat(second.statusCode()).as(given).isEqualTo(304);
      assertThat(second.body()).isEmpty();
      assertThat(tag(second)).isEqualTo(tag(first));
    }
    HttpResponse<String> other =
        served.send(
            served.request("/api/v1/jobs/backup").header("If-None-Match", "\"99\"").build());
    assertThat(other.statusCode()).isEqualTo(200);
  }

  @Test
  void aJobIsCheckedWithoutBeingSaved() {
    assertThat(served.post("/api/v1/jobs/new/validate", "{\"owner\":\"me\"}").body())
        .isEqualTo("{\"valid\":true,\"problems\":[],\"effective\":{\"owner\":\"me\"}}");
    assertThat(served.post("/api/v1/jobs/new/validate", "{\"priority\":1}").body())
        .isEqualTo(
            "{\"valid\":false,\"problems\":[{\"severity\":\"error\",\"path\":\"bistro_job->new.owner\",\"message\":\"the"
                + " key is missing\"}]}");
    assertThat(served.scheduler.calls()).isEmpty();
  }

  @Test
  void ofMoreProblemsThanAnAnswerHasTheErrorsAreShownAndTheRestCounted() {
    Json.Builder job = Json.object();
    for (int i = 0; i < 5_000; i++) {
      job.put("unknown" + i, 1);
    }
    HttpResponse<String> answer = served.post("/api/v1/jobs/new/validate", job.build().toString());
    Json.Arr problems = (Json.Arr) Objects.requireNonNull(Served.object(answer).get("problems"));
    assertThat(problems.items()).hasSize(1_001);
    assertThat(problems.items().get(0).toString()).contains("\"error\"", "the key is missing");
    assertThat(problems.items().get(1_000).toString())
        .contains("\"warning\"", "and 4001 more problems");
  }
}
