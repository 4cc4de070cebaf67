package io.espalier.webui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.api.Command;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.json.Json;
import io.espalier.core.status.store.KeyedAnswer;
import io.espalier.webui.http.HttpReply;
import io.espalier.webui.http.IdempotencyCache;
import io.espalier.webui.v1.ApiException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
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

  @Test
  void anEmptyKeyIsRefusedAndNotTakenForNone() {
    try (Served served = Served.standard()) {
      HttpResponse<String> empty = forgive(served, "", "{}");
      assertThat(empty.statusCode()).isEqualTo(400);
      assertThat(empty.body()).contains("idempotency-key");
      assertThat(served.scheduler.calls()).isEmpty();
    }
  }

  /** Keeps answers as a status store does. */
  private static final class Kept implements IdempotencyCache.Store {
    final Map<String, KeyedAnswer> answers = new LinkedHashMap<>();
    CompletionStage<Void> durable = CompletableFuture.completedFuture(null);

    @Override
    public List<KeyedAnswer> load() {
      return List.copyOf(answers.values());
    }

    @Override
    public CompletionStage<Void> keep(KeyedAnswer answer) {
      answers.put(answer.key(), answer);
      return durable;
    }

    @Override
    public void forget(Set<String> keys) {
      answers.keySet().removeAll(keys);
    }
  }

  private final Kept kept = new Kept();
  private final AtomicInteger acts = new AtomicInteger();

  private CompletionStage<HttpReply> act(
      IdempotencyCache replays, String caller, String key, String fingerprint, String answer) {
    return replays.once(
        caller,
        key,
        fingerprint,
        () -> {
          acts.incrementAndGet();
          return CompletableFuture.completedFuture(ok(answer).with("ETag", "\"3\""));
        });
  }

  @Test
  void afterARestartARequestThatComesAgainGetsTheFirstAnswer() {
    HttpReply first =
        act(new IdempotencyCache(InstantSource.system(), kept), "ann", "k", "f", "\u00e4")
            .toCompletableFuture()
            .join();
    IdempotencyCache next = new IdempotencyCache(InstantSource.system(), kept);
    assertThat(act(next, "ann", "k", "f", "2").toCompletableFuture().join())
        .isEqualTo(first.with("Idempotency-Replayed", "true"));
    assertThatThrownBy(() -> act(next, "ann", "k", "other", "2"))
        .hasMessageContaining("was used with another request");
    assertThat(acts).hasValue(1);
    assertThat(act(next, "bob", "k", "f", "2").toCompletableFuture().join().text())
        .as("another caller's key")
        .isEqualTo("2");
    assertThat(kept.answers).hasSize(2);
    assertThat(kept.answers.toString()).doesNotContain("ann", "bob");
  }

  @Test
  void whatHadBegunBeforeARestartIsNotDoneAgain() {
    var unused =
        new IdempotencyCache(InstantSource.system(), kept)
            .once("ann", "k", "f", () -> new CompletableFuture<>());
    IdempotencyCache next = new IdempotencyCache(InstantSource.system(), kept);
    assertThatThrownBy(() -> act(next, "ann", "k", "f", "2").toCompletableFuture().join())
        .hasMessageContaining("look whether it was carried out, then use a new key");
    assertThat(acts).hasValue(0);
  }

  @Test
  void anAnswerIsGivenOnceItIsStored() {
    CompletableFuture<Void> writing = new CompletableFuture<>();
    kept.durable = writing;
    CompletableFuture<HttpReply> answer =
        act(new IdempotencyCache(InstantSource.system(), kept), "ann", "k", "f", "1")
            .toCompletableFuture();
    assertThat(acts).as("the action does not wait for the store").hasValue(1);
    assertThat(answer).isNotDone();
    writing.completeExceptionally(new IllegalStateException("the store is away"));
    assertThat(answer.join().text()).isEqualTo("1");
  }

  private static HttpReply ok(String text) {
    return new HttpReply(200, HttpReply.JSON, text, Map.of());
  }

  @Test
  void aRequestThatComesAgainWhileTheFirstIsActedUponWaitsForIt() {
    IdempotencyCache replays =
        new IdempotencyCache(InstantSource.system(), IdempotencyCache.Store.NONE);
    CompletableFuture<HttpReply> acting = new CompletableFuture<>();
    AtomicInteger acted = new AtomicInteger();
    List<CompletionStage<HttpReply>> answers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      answers.add(
          replays.once(
              "ann",
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
    IdempotencyCache replays = new IdempotencyCache(InstantSource.system(), kept);
    CompletableFuture<HttpReply> failed =
        replays
            .once(
                "ann",
                "k",
                "same",
                () -> CompletableFuture.failedFuture(new ApiException(503, "later")))
            .toCompletableFuture();
    assertThatThrownBy(failed::join).hasMessageContaining("later");
    HttpReply second =
        replays
            .once("ann", "k", "same", () -> CompletableFuture.completedFuture(ok("2")))
            .toCompletableFuture()
            .join();
    assertThat(second.text()).isEqualTo("2");
    assertThat(kept.answers).hasSize(1);
  }

  @Test
  void answersAreKeptForADayAndInBoundedNumber() {
    AtomicLong now = new AtomicLong();
    IdempotencyCache replays = new IdempotencyCache(() -> Instant.ofEpochMilli(now.get()), kept);
    AtomicInteger acted = new AtomicInteger();
    Runnable again =
        () ->
            replays.once(
                "ann",
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
      replays.once("ann", "k" + i, "f", () -> CompletableFuture.completedFuture(ok("")));
    }
    again.run();
    assertThat(acted).as("the oldest went").hasValue(3);
    String large = "x".repeat(1 << 20);
    for (int i = 0; i < 20; i++) {
      replays.once("ann", "l" + i, "f", () -> CompletableFuture.completedFuture(ok(large)));
    }
    again.run();
    assertThat(acted).as("by their size").hasValue(4);
    assertThat(kept.answers).as("the store has what the cache has").hasSizeLessThan(20);
  }
}
