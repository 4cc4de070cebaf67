package io.espalier.webui;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.testkit.api.ApiFixture;
import io.espalier.testkit.api.FakeScheduler;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BistroBatchTest {
  private static final String TIME = "{\"q\":{\"handler\":\"refresh_time\"}}";
  private static final String ANSWER = "{\"q\":{\"data\":1700000100}}";

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''             | the request is not valid JSON",
        "[              | the request is not valid JSON",
        "{\"a\":}       | the request is not valid JSON",
        "{} {}          | the request is not valid JSON",
        "[]             | the request must be an object of sub-queries, not a list",
        "7              | the request must be an object of sub-queries, not a number",
        "null           | the request must be an object of sub-queries, not null",
      })
  void aBadBodyIsAnsweredByOneString(String body, String message) {
    try (Served served = Served.standard()) {
      HttpResponse<String> response = served.post("/", body);

      assertThat(response.statusCode()).isEqualTo(200);
      assertThat(Served.json(response.body())).isInstanceOf(Json.Str.class);
      assertThat(response.body()).contains(message);
    }
  }

  @Test
  void nestingWithoutEndIsABadBody() {
    try (Served served = Served.standard()) {
      assertThat(served.post("/", "[".repeat(100_000)).body())
          .startsWith("\"the request is not valid JSON");
    }
  }

  @Test
  void withoutAConfigurationTheWholeAnswerIsOneString() {
    FakeScheduler scheduler =
        new FakeScheduler().problems(List.of(Problem.error("bistro_settings", "is missing")));
    try (Served served = Served.of(scheduler)) {
      assertThat(Served.json(served.post("/", TIME).body()))
          .isEqualTo(Json.of("no configuration is in force: error bistro_settings: is missing"));
    }
  }

  @Test
  void withoutNodesOnlyWhatNeedsThemFails() {
    FakeScheduler scheduler =
        new FakeScheduler().load(ApiFixture.config(), null, ApiFixture.NOW_MILLIS);
    try (Served served = Served.of(scheduler)) {
      String both = "{\"n\":{\"handler\":\"nodes\"},\"q\":{\"handler\":\"refresh_time\"}}";
      assertThat(served.post("/", both).body())
          .isEqualTo(
              "{\"n\":{\"error\":\"the nodes were not fetched yet\"}," + ANSWER.substring(1));
    }
  }

  /** PHP, in which Bistro's page is written, cannot tell an empty list from an empty object. */
  @Test
  void anEmptyObjectOfNamesIsAnEmptyList() {
    try (Served served = Served.standard()) {
      String nodes = "{\"q\":{\"handler\":\"nodes\",\"nodes\":[\"d12\"]%s}}";
      String all = served.post("/", nodes.formatted("")).body();
      assertThat(all).contains("\"results\":{\"db\":{\"d12\":{");
      assertThat(served.post("/", nodes.formatted(",\"fields\":{}")).body()).isEqualTo(all);
      assertThat(served.post("/", nodes.formatted(",\"fields\":{\"a\":1}")).body())
          .contains("must be a list of names, not an object");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/any/where", "/monitor?x=1"})
  void anyPathOutsideTheApiTakesBatches(String path) {
    try (Served served = Served.standard()) {
      assertThat(served.post(path, TIME).body()).isEqualTo(ANSWER);
    }
  }

  @Test
  void aPathOfTheApiDoesNot() {
    try (Served served = Served.standard()) {
      assertThat(served.post("/api/v2/jobs", TIME).statusCode()).isEqualTo(404);
      assertThat(served.post("/api/v1/jobs", TIME).statusCode()).isEqualTo(405);
      assertThat(served.post("/metrics", TIME).statusCode()).isEqualTo(405);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"application/x-www-form-urlencoded", "multipart/form-data", "text/plain", "x/y"})
  void anyContentTypeIsReadAsJsonWhateverItsSize(String type) {
    String padded = "{\"pad\":" + " ".repeat(100_000) + "{\"handler\":\"refresh_time\"}}";
    try (Served served = Served.standard()) {
      HttpRequest request =
          served
              .request("/")
              .header("Content-Type", type)
              .POST(HttpRequest.BodyPublishers.ofString(padded))
              .build();
      assertThat(served.send(request).body()).isEqualTo("{\"pad\":{\"data\":1700000100}}");
    }
  }

  @Test
  void aBatchHasABound() {
    StringBuilder body = new StringBuilder("{\"q\":1");
    for (int i = 0; i < 1000; i++) {
      body.append(",\"").append(i).append("\":{}");
    }
    try (Served served = Served.standard()) {
      assertThat(served.post("/", body + "}").body())
          .isEqualTo("\"a request has at most 1000 sub-queries\"");
    }
  }

  @Test
  void aSchedulerThatDoesNotAnswerIsAnErrorInItsPlace() {
    FakeScheduler scheduler = ApiFixture.standard().silent();
    try (Served served =
        Served.with(scheduler, o -> o.withLimits(Served.limits(1, Duration.ofSeconds(1))))) {
      String both = "{\"q\":{\"handler\":\"refresh_time\"},\"h\":{\"handler\":\"histogram\"}}";
      assertThat(served.post("/", both).body())
          .isEqualTo(
              ANSWER.substring(0, ANSWER.length() - 1)
                  + ",\"h\":{\"error\":\"not answered within 1 s\"}}");
    }
  }

  @Test
  void namesWithQuotesAndControlCharactersComeBackEscaped() {
    try (Served served = Served.standard()) {
      String body = "{\"a\\\"\\u0001\":{\"handler\":\"<script>\"}}";
      Json.Obj answer = Served.object(served.post("/", body));
      assertThat(answer.members()).containsOnlyKeys("a\"\u0001");
    }
  }
}
