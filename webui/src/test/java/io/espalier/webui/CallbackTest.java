package io.espalier.webui;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Callback;
import io.espalier.core.json.Json;
import io.espalier.testkit.api.ApiFixture;
import io.espalier.webui.http.WebSecurity;
import io.espalier.webui.security.Credentials;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What services hear when they report about their calls. */
class CallbackTest {
  private static final String QUERY = "?job=backup&node=d%2F1%20%C3%A9&signature=";

  private static HttpResponse<String> report(
      Served served, String invocation, String signature, String body) {
    return served.post("/api/v1/callbacks/" + invocation + QUERY + signature, body);
  }

  @Test
  void theAnswerSaysWhatBecameOfTheReport() {
    try (Served served =
        Served.of(
            ApiFixture.standard()
                .callback("known", Callback.Outcome.KNOWN)
                .callback("other", Callback.Outcome.CONTRADICTED)
                .callback("gone", Callback.Outcome.GONE))) {
      HttpResponse<String> first = report(served, "new", "s", "{\"result\": \"done\"}");
      assertThat(first.statusCode()).isEqualTo(200);
      assertThat(Served.object(first).get("known")).isEqualTo(Json.of(false));
      assertThat(Served.object(report(served, "known", "s", "")).get("known"))
          .isEqualTo(Json.of(true));
      assertThat(report(served, "other", "s", "{}").statusCode()).isEqualTo(409);
      assertThat(report(served, "gone", "s", "{}").statusCode()).isEqualTo(410);
      assertThat(served.scheduler.callbacks())
          .first()
          .isEqualTo(
              new Callback(
                  "backup", "d/1 \u00e9", "new", "s", Json.object().put("result", "done").build()));
    }
  }

  @Test
  void aReportMayCountAsTheAnswerToAPoll() {
    try (Served served = Served.standard()) {
      String count = "\"count\": {\"rows\": 3}";
      String ended = "{\"result\": \"done\", " + count + "}";
      String running = "{\"progress\": {\"done\": 1}, " + count + "}";
      for (String body : List.of(ended, running)) {
        assertThat(report(served, "i", "s", body).statusCode()).as(body).isEqualTo(200);
      }
      assertThat(served.scheduler.callbacks())
          .extracting(callback -> callback.said().get("count"))
          .containsOnly(Json.object().put("rows", 3).build());
    }
  }

  @Test
  void whatIsNoReportIsRefusedBeforeAnybodyIsAsked() {
    try (Served served = Served.standard()) {
      for (String body :
          List.of(
              "[]", "{", "<html>", "{\"result\": \"perhaps\"}", "{\"result\": 1}", "{\"x\": 1}")) {
        HttpResponse<String> answer = report(served, "i", "topsecret", body);
        assertThat(answer.statusCode()).as(body).isEqualTo(400);
        assertThat(answer.body()).doesNotContain("topsecret");
      }
      String huge = "{\"data\": {\"x\": \"" + "y".repeat(70_000) + "\"}}";
      assertThat(report(served, "i", "s", huge).statusCode()).isEqualTo(413);
      assertThat(served.scheduler.callbacks()).isEmpty();
    }
  }

  @Test
  void nobodyNeedsATokenAndForgersHearTheSameUntilTheyHaveToWait(@TempDir Path directory)
      throws Exception {
    Path tokens = Files.writeString(directory.resolve("tokens"), "ada admin token-of-the-admin\n");
    Files.setPosixFilePermissions(tokens, PosixFilePermissions.fromString("rw-------"));
    WebSecurity security =
        WebSecurity.open()
            .withCredentials(Credentials.of(tokens))
            .withRates(new WebSecurity.Rates(20, 0.001, 2, 0.001));
    try (Served served = Served.with(ApiFixture.standard(), o -> o.withSecurity(security))) {
      assertThat(served.get("/api/v1/jobs").statusCode()).isEqualTo(401);
      String forged = report(served, "a", "forged", "{}").body();
      HttpResponse<String> again = report(served, "b", "forged", "{}");
      assertThat(again.statusCode()).isEqualTo(403);
      assertThat(again.body()).isEqualTo(forged).doesNotContain("backup");
      HttpResponse<String> third = report(served, "c", "forged", "{}");
      assertThat(third.statusCode()).isEqualTo(429);
      assertThat(third.headers().firstValue("Retry-After")).isPresent();
      for (int i = 0; i < 20; i++) {
        assertThat(report(served, "d", "s", "{}").statusCode()).as("genuine").isEqualTo(200);
      }
      assertThat(report(served, "d", "s", "{}").statusCode()).as("one call only").isEqualTo(429);
      assertThat(report(served, "e", "s", "{}").statusCode()).isEqualTo(200);
    }
  }
}
