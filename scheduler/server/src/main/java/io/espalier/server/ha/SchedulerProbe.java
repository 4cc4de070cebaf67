package io.espalier.server.ha;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.json.JsonReader;
import io.espalier.server.security.ClientAccess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Sends short HTTP requests to schedulers. */
final class SchedulerProbe {
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final ClientAccess access;
  private final Duration patience;
  private final HttpClient client;

  SchedulerProbe(ClientAccess access) {
    this(access, PATIENCE);
  }

  /**
   * @param access credentials for the schedulers
   * @param patience time limit for a whole answer
   */
  SchedulerProbe(ClientAccess access, Duration patience) {
    this.access = access;
    this.patience = patience;
    this.client =
        access
            .applyTo(
                HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .proxy(HttpClient.Builder.NO_PROXY)
                    .connectTimeout(patience))
            .build();
  }

  /**
   * An answer.
   *
   * @param midMillis our wall clock in the middle of the request
   */
  record Said(int status, Json.Obj body, long midMillis) {}

  /**
   * Sends a GET request.
   *
   * @param at {@code HOST:PORT}
   * @throws IOException when the answer is missing or not an object
   */
  Said get(String at, String path) throws IOException, InterruptedException {
    return send(at, HttpRequest.newBuilder(uri(at, path)).GET());
  }

  /**
   * Sends a POST request.
   *
   * @throws IOException when the answer is missing or not an object
   */
  Said post(String at, String path, Json.Obj body) throws IOException, InterruptedException {
    return send(
        at,
        HttpRequest.newBuilder(uri(at, path))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(JsonWriter.compact(body))));
  }

  private static URI uri(String at, String path) throws IOException {
    try {
      return URI.create(Candidate.url(at) + path);
    } catch (IllegalArgumentException e) {
      throw new IOException(at + " is no address", e);
    }
  }

  private Said send(String at, HttpRequest.Builder request)
      throws IOException, InterruptedException {
    access.authorization().ifPresent(value -> request.header("Authorization", value));
    long before = System.currentTimeMillis();
    // Without this header, some answers are endless streams.
    HttpResponse<byte[]> answer =
        whole(
            client.sendAsync(
                request.header("Accept", "application/json").build(),
                HttpResponse.BodyHandlers.ofByteArray()));
    long mid = (before + System.currentTimeMillis()) / 2;
    if (JsonReader.strict().withMaxBytes(JsonReader.MAX_CONFIG_BYTES).read(answer.body()).value()
        instanceof Json.Obj body) {
      return new Said(answer.statusCode(), body, mid);
    }
    throw new IOException(
        Candidate.url(at) + " answers no JSON, with status " + answer.statusCode());
  }

  /**
   * Waits for the whole answer. The client's own time limit covers only the headers; a body may
   * trickle forever.
   */
  private HttpResponse<byte[]> whole(CompletableFuture<HttpResponse<byte[]>> answer)
      throws IOException, InterruptedException {
    try {
      return answer.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new IOException("no whole answer within " + patience.toMillis() + " ms", e);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException cause ? cause : new IOException(e.getCause());
    } finally {
      answer.cancel(true);
    }
  }
}
