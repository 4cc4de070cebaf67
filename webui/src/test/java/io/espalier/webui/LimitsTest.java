package io.espalier.webui;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.testkit.api.ApiFixture;
import io.espalier.testkit.api.FakeScheduler;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;

class LimitsTest {
  private static final int LIMIT = 1 << 20;

  @Test
  void aBodyOfTheLimitIsReadAndOneByteMoreIsNot() {
    try (Served served = Served.standard()) {
      assertThat(served.post("/", "{}" + " ".repeat(LIMIT - 2)).body()).isEqualTo("{}");

      HttpResponse<String> refused = served.post("/", "{}" + " ".repeat(LIMIT - 1));
      assertThat(refused.statusCode()).isEqualTo(413);
      assertThat(refused.headers().firstValue("Content-Type")).contains("application/problem+json");
      assertThat(served.post("/api/v1/jobs/backup/pause", " ".repeat(LIMIT + 1)).statusCode())
          .isEqualTo(413);
      assertThat(served.scheduler.calls()).isEmpty();
    }
  }

  @Test
  void aBodyThatDoesNotSayItsLengthIsCounted() {
    try (Served served = Served.standard()) {
      byte[] body = new byte[LIMIT + 1];
      HttpRequest request =
          served
              .request("/")
              .POST(HttpRequest.BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body)))
              .build();
      assertThat(served.send(request).statusCode()).isEqualTo(413);
      assertThat(served.post("/", "{}").body()).as("the next one is served").isEqualTo("{}");
    }
  }

  @Test
  void whoAsksFirstIsToldBeforeSending() {
    try (Served served = Served.standard()) {
      String answer =
          served.raw(
              "POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: "
                  + (LIMIT + 1)
                  + "\r\n\r\n");
      assertThat(answer).startsWith("HTTP/1.1 413").doesNotContain("100 Continue");
      assertThat(
              served.raw(
                  "POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                      + "Connection: close\r\nContent-Length: 2\r\n\r\n{}"))
          .startsWith("HTTP/1.1 100")
          .contains("HTTP/1.1 200");
    }
  }

  @Test
  void longLinesAndManyHeadersAreRefused() {
    try (Served served = Served.standard()) {
      String tail = " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
      assertThat(served.raw("GET /" + "a".repeat(10_000) + tail + "\r\n"))
          .contains(" 414 ")
          .contains("application/problem+json")
          .contains("may have 8192 bytes");
      assertThat(served.raw("GET /" + tail + "X: " + "a".repeat(20_000) + "\r\n\r\n"))
          .contains(" 431 ")
          .contains("the headers of a request may have");
      assertThat(served.raw("nonsense\r\n\r\n")).contains(" 400 ");
    }
  }

  @Test
  void tooManyQuestionsAtATimeAreTurnedAway() throws Exception {
    FakeScheduler scheduler = ApiFixture.standard().silent();
    WebOptions.Limits one =
        new WebOptions.Limits(
            LIMIT, 1, 1, Duration.ofSeconds(60), Duration.ofSeconds(60), Duration.ofSeconds(30));
    try (Served served = Served.with(scheduler, o -> o.withLimits(one));
        Socket waiting = served.connect()) {
      waiting
          .getOutputStream()
          .write(
              "GET /api/v1/jobs/backup/tasks HTTP/1.1\r\nHost: localhost\r\n\r\n"
                  .getBytes(StandardCharsets.US_ASCII));
      org.awaitility.Awaitility.await()
          .untilAsserted(
              () -> {
                HttpResponse<String> refused = served.get("/api/v1/running");
                assertThat(refused.statusCode()).isEqualTo(429);
                assertThat(refused.headers().firstValue("Retry-After")).contains("1");
              });
      assertThat(served.get("/healthz").statusCode()).as("probes need no turn").isEqualTo(200);
    }
  }

  @Test
  void aSchedulerThatDoesNotAnswerIsA504() {
    try (Served served =
        Served.with(
            ApiFixture.standard().silent(),
            o -> o.withLimits(Served.limits(1, Duration.ofMillis(300))))) {
      HttpResponse<String> late = served.get("/api/v1/jobs/backup/tasks");
      assertThat(late.statusCode()).isEqualTo(504);
      assertThat(Served.object(late).get("detail"))
          .isEqualTo(Json.of("the scheduler did not answer in time"));
    }
  }

  @Test
  void longAnswersAreCompressedForThoseWhoCanReadThat() throws IOException, InterruptedException {
    try (Served served = Served.standard()) {
      HttpResponse<InputStream> zipped =
          served.client.send(
              served.request("/metrics").header("Accept-Encoding", "br, gzip").build(),
              HttpResponse.BodyHandlers.ofInputStream());
      assertThat(zipped.headers().firstValue("Content-Encoding")).contains("gzip");
      assertThat(
              new String(new GZIPInputStream(zipped.body()).readAllBytes(), StandardCharsets.UTF_8))
          .contains("espalier_view_age_seconds 0.0");

      String batch =
          "{\"n\":{\"handler\":\"nodes\"},\"m\":{\"handler\":\"nodes\"},\"o\":{\"handler\":\"nodes\"}}";
      HttpResponse<InputStream> bistro =
          served.client.send(
              served
                  .request("/")
                  .header("Accept-Encoding", "gzip")
                  .POST(HttpRequest.BodyPublishers.ofString(batch))
                  .build(),
              HttpResponse.BodyHandlers.ofInputStream());
      assertThat(bistro.headers().firstValue("Content-Encoding")).contains("gzip");
      assertThat(new GZIPInputStream(bistro.body()).readAllBytes())
          .isEqualTo(served.post("/", batch).body().getBytes(StandardCharsets.UTF_8));

      HttpRequest refusing =
          served.request("/metrics").header("Accept-Encoding", "gzip;q=0").build();
      assertThat(served.send(refusing).headers().firstValue("Content-Encoding")).isEmpty();
      assertThat(served.get("/healthz").headers().firstValue("Content-Encoding")).isEmpty();
    }
  }
}
