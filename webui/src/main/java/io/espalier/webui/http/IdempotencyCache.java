package io.espalier.webui.http;

import io.espalier.core.json.Json;
import io.espalier.core.status.store.KeyedAnswer;
import io.espalier.webui.v1.ApiException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the answers to requests with an {@code Idempotency-Key}. The first request with a key
 * is carried out; repetitions get its answer, also while it is still in progress, after a restart
 * and from the next leader. A request that had begun before a restart and has no answer is not
 * carried out again: it is refused, because nobody knows its outcome.
 *
 * <p>Number, size and age of answers are limited; the oldest are dropped first. Answers that do not
 * tell the outcome (5xx) are not remembered. Thread-safe.
 */
public final class IdempotencyCache {
  public static final int MAX_ENTRIES = 10_000;
  static final long MAX_CHARACTERS = 16L << 20;
  static final Duration KEPT = Duration.ofHours(24);

  /** Longer answers do not outlive a restart. */
  static final int MAX_STORED = 100_000;

  /** How long an answer waits until it is stored. A store that is away must not stop a brake. */
  private static final long STORED_WITHIN_MILLIS = 1_000;

  private final InstantSource clock;
  private final Store store;
  private final Map<String, Entry> entries = new LinkedHashMap<>();
  private long characters;

  /** Port: keeps answers over restarts. Thread-safe; never blocks, except {@link #load}. */
  public interface Store {
    /** Keeps nothing. */
    Store NONE =
        new Store() {
          @Override
          public List<KeyedAnswer> load() {
            return List.of();
          }

          @Override
          public CompletionStage<Void> keep(KeyedAnswer answer) {
            return CompletableFuture.completedFuture(null);
          }

          @Override
          public void forget(Set<String> keys) {
            // There is nothing to forget.
          }
        };

    /** Reads what was kept, in any order. */
    List<KeyedAnswer> load();

    /**
     * Keeps an answer, replacing an older one with the same key. It is durable no later than the
     * effect of any command that is given afterwards.
     *
     * @return completes when it is durable
     */
    CompletionStage<Void> keep(KeyedAnswer answer);

    /** Forgets answers. */
    void forget(Set<String> keys);
  }

  /** Reads the answers of earlier processes. */
  public IdempotencyCache(InstantSource clock, Store store) {
    this.clock = clock;
    this.store = store;
    store.load().stream()
        .sorted(Comparator.comparingLong(KeyedAnswer::sinceMillis).thenComparing(KeyedAnswer::key))
        .forEach(this::restore);
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

    /** Returns the form for stores; a null reply: the request has only begun. */
    KeyedAnswer stored(String key, @Nullable HttpReply reply) {
      Json.Builder body = Json.object().put("fingerprint", fingerprint);
      if (reply != null) {
        Json.Builder headers = Json.object();
        reply.headers().forEach(headers::put);
        body.put("status", reply.status())
            .put("type", reply.type())
            .put("text", reply.text())
            .put("headers", headers.build());
      }
      return new KeyedAnswer(key, sinceMillis, body.build());
    }
  }

  private void restore(KeyedAnswer stored) {
    Entry entry = new Entry(text(stored.body(), "fingerprint"), stored.sinceMillis());
    if (stored.body().get("status") instanceof Json.Num status) {
      Map<String, String> headers = new LinkedHashMap<>();
      if (stored.body().get("headers") instanceof Json.Obj each) {
        each.members().keySet().forEach(name -> headers.put(name, text(each, name)));
      }
      entry.answer.complete(
          new HttpReply(
              status.value().intValue(),
              text(stored.body(), "type"),
              text(stored.body(), "text"),
              headers));
      entry.size = text(stored.body(), "text").length();
      characters += entry.size;
    } else {
      entry.answer.completeExceptionally(
          new ApiException(
              409,
              "a request with this Idempotency-Key came before the scheduler was restarted, and its"
                  + " answer is not known: look whether it was carried out, then use a new key"));
    }
    entries.put(stored.key(), entry);
  }

  private static String text(Json.Obj json, String name) {
    return json.get(name) instanceof Json.Str text ? text.value() : "";
  }

  /**
   * Carries out an action once per key.
   *
   * @param caller name of the caller
   * @param key the key that the caller has chosen
   * @param fingerprint of the whole request
   * @throws ApiException 422 when the key was used with another request
   */
  public CompletionStage<HttpReply> once(
      String caller, String key, String fingerprint, Supplier<CompletionStage<HttpReply>> action) {
    String hash =
        hash(caller.getBytes(StandardCharsets.UTF_8), key.getBytes(StandardCharsets.UTF_8));
    Entry mine;
    synchronized (this) {
      forgetOld();
      Entry known = entries.get(hash);
      if (known != null) {
        if (!known.fingerprint.equals(fingerprint)) {
          throw new ApiException(
              422, "this Idempotency-Key was used with another request; use a new one for each");
        }
        return known.answer.thenApply(reply -> reply.with("Idempotency-Replayed", "true"));
      }
      mine = new Entry(fingerprint, clock.millis());
      entries.put(hash, mine);
    }
    // Before the action, so that no effect is stored without it.
    var unused = store.keep(mine.stored(hash, null));
    CompletionStage<HttpReply> acting;
    try {
      acting = action.get();
    } catch (RuntimeException e) {
      acting = CompletableFuture.failedFuture(e);
    }
    acting.whenComplete((reply, failure) -> settle(hash, mine, reply, failure));
    return mine.answer;
  }

  private void settle(String key, Entry entry, HttpReply reply, Throwable failure) {
    ApiException explained = failure == null ? null : ApiException.of(failure);
    HttpReply kept = explained == null ? reply : HttpReply.problem(explained);
    if (kept.status() >= 500) {
      synchronized (this) {
        entries.remove(key, entry);
      }
      store.forget(Set.of(key));
      if (explained != null) {
        entry.answer.completeExceptionally(failure);
      } else {
        entry.answer.complete(kept);
      }
      return;
    }
    synchronized (this) {
      entry.size = kept.text().length();
      characters += entry.size;
    }
    CompletionStage<Void> stored =
        entry.size > MAX_STORED
            ? CompletableFuture.completedFuture(null)
            : store.keep(entry.stored(key, kept));
    var unused =
        stored
            .handle((done, problem) -> kept)
            .toCompletableFuture()
            .completeOnTimeout(kept, STORED_WITHIN_MILLIS, TimeUnit.MILLISECONDS)
            .thenAccept(entry.answer::complete);
  }

  private void forgetOld() {
    long before = clock.millis() - KEPT.toMillis();
    Set<String> forgotten = new HashSet<>();
    Iterator<Map.Entry<String, Entry>> oldest = entries.entrySet().iterator();
    while (oldest.hasNext()) {
      Map.Entry<String, Entry> next = oldest.next();
      Entry entry = next.getValue();
      boolean tooMuch = entries.size() >= MAX_ENTRIES || characters > MAX_CHARACTERS;
      if (!tooMuch && entry.sinceMillis > before) {
        break;
      }
      // An action in progress must not be repeated, so it is kept; there are few of them.
      if (entry.answer.isDone()) {
        forgotten.add(next.getKey());
        oldest.remove();
        characters -= entry.size;
      }
    }
    if (!forgotten.isEmpty()) {
      store.forget(forgotten);
    }
  }

  /** Returns a hash of these parts in hexadecimal: 64 characters. */
  public static String hash(byte[]... parts) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (byte[] part : parts) {
        digest.update(part);
        digest.update((byte) 0);
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
