package io.espalier.webui.http;

import io.espalier.webui.v1.ApiException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * Caches the answers to requests with an {@code Idempotency-Key}. The first request with a key is
 * carried out; repetitions get its answer, also while it is still in progress. The cache is in
 * memory: after a restart a repeated request counts as new.
 *
 * <p>Number, size and age of answers are limited; the oldest are dropped first. Answers that do not
 * tell the outcome (5xx) are not cached. Thread-safe.
 */
public final class IdempotencyCache {
  public static final int MAX_ENTRIES = 10_000;
  static final long MAX_CHARACTERS = 16L << 20;
  static final Duration KEPT = Duration.ofHours(24);

  private final InstantSource clock;
  private final Map<String, Entry> entries = new LinkedHashMap<>();
  private long characters;

  public IdempotencyCache(InstantSource clock) {
    this.clock = clock;
  }

  private static final class Entry {
    final String fingerprint;
    final long sinceMillis;
    final CompletableFuture<HttpReply> answer = new CompletableFuture<>();
    long size;

    Entry(String fingerprint, long sinceMillis) {
      this.fingerprint = fingerprint;
      this.sinceMillis = sinceMillis;
    }
  }

  /**
   * Carries out an action once per key.
   *
   * @param key of the caller and the request
   * @param fingerprint of the whole request
   * @throws ApiException 422 when the key was used with another request
   */
  public CompletionStage<HttpReply> once(
      String key, String fingerprint, Supplier<CompletionStage<HttpReply>> action) {
    Entry mine;
    synchronized (this) {
      forgetOld();
      Entry known = entries.get(key);
      if (known != null) {
        if (!known.fingerprint.equals(fingerprint)) {
          throw new ApiException(
              422, "this Idempotency-Key was used with another request; use a new one for each");
        }
        return known.answer.thenApply(reply -> reply.with("Idempotency-Replayed", "true"));
      }
      mine = new Entry(fingerprint, clock.millis());
      entries.put(key, mine);
    }
    CompletionStage<HttpReply> acting;
    try {
      acting = action.get();
    } catch (RuntimeException e) {
      acting = CompletableFuture.failedFuture(e);
    }
    acting.whenComplete((reply, failure) -> settle(key, mine, reply, failure));
    return mine.answer;
  }

  private void settle(String key, Entry entry, HttpReply reply, Throwable failure) {
    ApiException explained = failure == null ? null : ApiException.of(failure);
    HttpReply kept = explained == null ? reply : HttpReply.problem(explained);
    synchronized (this) {
      if (kept.status() >= 500) {
        entries.remove(key, entry);
      } else {
        entry.size = kept.text().length();
        characters += entry.size;
      }
    }
    if (explained != null && explained.status() >= 500) {
      entry.answer.completeExceptionally(failure);
    } else {
      entry.answer.complete(kept);
    }
  }

  private void forgetOld() {
    long before = clock.millis() - KEPT.toMillis();
    Iterator<Entry> oldest = entries.values().iterator();
    while (oldest.hasNext()) {
      Entry entry = oldest.next();
      boolean tooMuch = entries.size() >= MAX_ENTRIES || characters > MAX_CHARACTERS;
      if (!tooMuch && entry.sinceMillis > before) {
        return;
      }
      // An action in progress must not be repeated, so it is kept; there are few of them.
      if (entry.answer.isDone()) {
        oldest.remove();
        characters -= entry.size;
      }
    }
  }
}
