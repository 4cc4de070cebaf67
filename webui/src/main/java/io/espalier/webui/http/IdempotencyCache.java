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
 * Answers to requests that carried an {@code Idempotency-Key}, for those that come again: the first
 * one is acted upon, the others get its answer, also while it is still being acted upon. In memory:
 * after a restart a repeated request is a new one.
 *
 * <p>Bounded in number, size and age; the oldest answers go first. Answers that say nothing of what
 * happened (5xx) are not kept. Thread-safe.
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
   * Acts once per key.
   *
   * @param key whose and which
   * @param fingerprint of the whole request
   * @throws ApiException 422 when the key came with another request
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
      // What is still being acted upon must not be done twice; there is little of it.
      if (entry.answer.isDone()) {
        oldest.remove();
        characters -= entry.size;
      }
    }
  }
}
