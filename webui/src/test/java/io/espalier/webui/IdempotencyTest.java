package io.espalier.webui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.api.Command;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.json.Json;
import io.espalier.webui.http.HttpReply;
import io.espalier.webui.http.IdempotencyCache;
import io.espalier.webui.v1.ApiException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A change that comes twice with one key is done once. */
class IdempotencyTest {
  private static HttpResponse<String> forgive(Served served, String key, String body) {
    return served.send(
        served
            .request("/api/v1/jobs/backup/forgive")
            .header("Idempotency-Key", key)
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build());
  }

  private static boolean isReplay(HttpResponse<String> response) {
    return response.headers().firstValue("Idempotency-Replayed").isPresent();
  }

  @Test
  void theSecondRequestGetsTheFirstAnswerAndChangesNothing() {
    Command<?> forgiven = new Command.Forgive(TaskSelection.all("backup", "", "r"));
    try (Served served = Served.standard()) {
      HttpResponse<String> first = forgive(served, "k1", "{\"reason\":\"r\"}");
      HttpResponse<String> second = forgive(served, "k1", "{\"reason\":\"r\"}");
      assertThat(second.body()).isEqualTo(first.body());
      assertThat(List.of(isReplay(first), isReplay(second))).containsExactly(false, true);
      assertThat(served.scheduler.calls()).containsExactly(forgiven);
      HttpResponse<String> other = forgive(served, "k1", "{\"reason\":\"other\"}");
      assertThat(other.statusCode()).isEqualTo(422);
      assertThat(forgive(served, "k2", "{\"reason\":\"r\"}").statusCode()).isEqualTo(200);
      assertThat(served.scheduler.calls()).containsExactly(forgiven, forgiven);
    }
  }

  @Test
  void refusalsAreReplayedAndBadKeysRefused() {
    try (Served served = Served.standard()) {
      HttpRequest kill =
          served
              .request("/api/v1/jobs/backup/tasks/d11/kill")
              .header("Idempotency-Key", "k")
              .POST(HttpRequest.BodyPublishers.noBody())
              .build();
      HttpResponse<String> first = served.send(kill);
      HttpResponse<String> second = served.send(kill);
      assertThat(first.statusCode()).isEqualTo(409);
      assertThat(second.body()).isEqualTo(first.body());
      assertThat(isReplay(second)).isTrue();
      HttpResponse<String> bad = forgive(served, "x".repeat(256), "");
      assertThat(bad.statusCode()).isEqualTo(400);
      assertThat(Served.object(bad).get("violations"))
          .hasToString(
              new Json.Arr(
                      List.of(
                          Json.object()
                              .put("in", "header")
                              .put("parameter", "idempotency-key")
                              .put("value", "x".repeat(60) + "…")
                              .put("expected", "a string of 1 to 255 characters")
                              .put(
                                  "message",
                                  "header \"idempotency-key\" must be a string of 1 to 255"
                                      + " characters, not \""
                                      + "x".repeat(60)
                                      + "…\"")
                              .build()))
                  .toString());
    }
  }

  private static HttpReply ok(String text) {
    return new HttpReply(200, HttpReply.JSON, text, Map.of());
  }

  @Test
  void aRequestThatComesAgainWhileTheFirstIsActedUponWaitsForIt() {
    IdempotencyCache replays = new IdempotencyCache(InstantSource.system());
    CompletableFuture<HttpReply> acting = new CompletableFuture<>();
    AtomicInteger acted = new AtomicInteger();
    List<CompletionStage<HttpReply>> answers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      answers.add(
          replays.once(
              "k",
              "same",
              () -> {
                acted.incrementAndGet();
                return acting;
              }));
    }
    acting.complete(ok("done"));
    assertThat(acted).hasValue(1);
    assertThat(answers)
        .allSatisfy(a -> assertThat(a.toCompletableFuture().join().text()).isEqualTo("done"));
  }

  @Test
  void whatSaysNothingOfTheOutcomeIsTriedAgain() {
    IdempotencyCache replays = new IdempotencyCache(InstantSource.system());
    CompletableFuture<HttpReply> failed =
        replays
            .once("k", "same", () -> CompletableFuture.failedFuture(new ApiException(503, "later")))
            .toCompletableFuture();
    assertThatThrownBy(failed::join).hasMessageContaining("later");
    HttpReply second =
        replays
            .once("k", "same", () -> CompletableFuture.completedFuture(ok("2")))
            .toCompletableFuture()
            .join();
    assertThat(second.text()).isEqualTo("2");
  }

  @Test
  void answersAreKeptForADayAndInBoundedNumber() {
    AtomicLong now = new AtomicLong();
    IdempotencyCache replays = new IdempotencyCache(() -> Instant.ofEpochMilli(now.get()));
    AtomicInteger acted = new AtomicInteger();
    Runnable again =
        () ->
            replays.once(
                "first",
                "same",
                () -> {
                  acted.incrementAndGet();
                  return CompletableFuture.completedFuture(ok(""));
                });
    again.run();
    now.addAndGet(Duration.ofHours(23).toMillis());
    again.run();
    assertThat(acted).hasValue(1);
    now.addAndGet(Duration.ofHours(2).toMillis());
    again.run();
    assertThat(acted).hasValue(2);
    for (int i = 0; i < IdempotencyCache.MAX_ENTRIES; i++) {
      replays.once("k" + i, "f", () -> CompletableFuture.completedFuture(ok("")));
    }
    again.run();
    assertThat(acted).as("the oldest went").hasValue(3);
    String large = "x".repeat(1 << 20);
    for (int i = 0; i < 20; i++) {
      replays.once("l" + i, "f", () -> CompletableFuture.completedFuture(ok(large)));
    }
    again.run();
    assertThat(acted).as("by their size").hasValue(4);
  }
}
