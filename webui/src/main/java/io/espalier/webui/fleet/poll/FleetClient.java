package io.espalier.webui.fleet.poll;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import java.io.ByteArrayOutputStream;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends HTTP requests to schedulers, with one event loop for all of them. Each request has a
 * deadline for the whole exchange; the size of each answer and of all answers in memory is limited.
 * It does not follow redirects, so that it calls only schedulers of the list. Thread-safe.
 */
public final class FleetClient implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(FleetClient.class);
  private static final int READERS = 2;
  private static final int CONNECTIONS_EACH = 4;
  private static final int KEEP_ALIVE_SECONDS = 45;

  private final FleetOptions options;
  private final Vertx vertx;
  private final HttpClient client;
  private final ExecutorService readers;
  private final AtomicLong held = new AtomicLong();

  public FleetClient(FleetOptions options) {
    this.options = options;
    this.vertx =
        Vertx.vertx(
            new VertxOptions()
                .setEventLoopPoolSize(1)
                .setWorkerPoolSize(1)
                .setInternalBlockingPoolSize(2)
                .setUseDaemonThread(true)
                .setFileSystemOptions(
                    new FileSystemOptions()
                        .setFileCachingEnabled(false)
                        .setClassPathResolvingEnabled(false)));
    this.client = vertx.createHttpClient(http(options), pool());
    AtomicInteger number = new AtomicInteger();
    this.readers =
        Executors.newFixedThreadPool(
            READERS,
            work -> {
              Thread thread = new Thread(work, "espalier-fleet-" + number.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
  }

  /** Returns the options of every client that connects to schedulers of the list. */
  public static HttpClientOptions http(FleetOptions options) {
    HttpClientOptions http =
        new HttpClientOptions()
            .setConnectTimeout((int) options.connect().toMillis())
            .setKeepAlive(true)
            .setKeepAliveTimeout(KEEP_ALIVE_SECONDS)
            .setVerifyHost(true);
    FleetOptions.Access access = options.access();
    access
        .ca()
        .ifPresent(ca -> http.setTrustOptions(new PemTrustOptions().addCertPath(ca.toString())));
    if (access.cert().isPresent() && access.key().isPresent()) {
      http.setKeyCertOptions(
          new PemKeyCertOptions()
              .setCertPath(access.cert().get().toString())
              .setKeyPath(access.key().get().toString()));
    }
    return http;
  }

  private static PoolOptions pool() {
    return new PoolOptions().setHttp1MaxSize(CONNECTIONS_EACH);
  }

  /** Returns the pool for processing answers outside the event loop. */
  public ExecutorService readers() {
    return readers;
  }

  /**
   * Sends a request to one scheduler.
   *
   * @param path with its query
   * @param body null for none
   * @param reader converts the answer, on a thread of the pool; its exceptions fail the stage
   * @return a stage that fails with {@link SchedulerUnreachableException}
   */
  public <T> CompletableFuture<T> ask(
      SchedulerAddress to,
      String method,
      String path,
      Json.@Nullable Obj body,
      Map<String, String> headers,
      Duration within,
      Function<SchedulerReply, T> reader) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    try {
      vertx.runOnContext(
          v -> new Exchange<>(answer, reader).begin(to, method, path, body, headers, within));
    } catch (RejectedExecutionException e) {
      answer.completeExceptionally(
          new SchedulerUnreachableException(FleetSchedulerState.ERROR, false, "this is stopping"));
    }
    return answer;
  }

  /** Requests JSON. */
  public CompletableFuture<Json> get(SchedulerAddress from, String path, Duration within) {
    return ask(from, "GET", path, null, Map.of(), within, SchedulerReply::json);
  }

  /** Aborts all requests, within a few seconds. */
  @Override
  public void close() {
    try {
      vertx.close().toCompletionStage().toCompletableFuture().get(5, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      LOG.warn("the client for schedulers did not stop cleanly", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      readers.shutdownNow();
    }
  }

  /** A request and its answer; runs on the event loop except for the reader. */
  private final class Exchange<T> {
    private final CompletableFuture<T> answer;
    private final Function<SchedulerReply, T> reader;
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();
    private @Nullable HttpClientRequest request;
    private boolean over;
    private boolean sent;
    private long timer;

    Exchange(CompletableFuture<T> answer, Function<SchedulerReply, T> reader) {
      this.answer = answer;
      this.reader = reader;
    }

    void begin(
        SchedulerAddress to,
        String method,
        String path,
        Json.@Nullable Obj json,
        Map<String, String> headers,
        Duration within) {
      timer =
          vertx.setTimer(
              Math.max(1, within.toMillis()),
              t ->
                  fail(
                      sent
                          ? new SchedulerUnreachableException(
                              FleetSchedulerState.SLOW,
                              true,
                              "no answer within " + within.toMillis() + " ms")
                          : new SchedulerUnreachableException(
                              FleetSchedulerState.DEAD, false, "no connection in time")));
      RequestOptions asked =
          new RequestOptions()
              .setHost(to.host())
              .setPort(to.port())
              .setSsl(to.isTls())
              .setMethod(HttpMethod.valueOf(method))
              .setURI(path)
              .setConnectTimeout(options.connect().toMillis())
              .putHeader("Accept", "application/json");
      options.access().token().ifPresent(t -> asked.putHeader("Authorization", "Bearer " + t));
      headers.forEach(asked::putHeader);
      try {
        client
            .request(asked)
            .onComplete(connected -> send(connected, json), failure -> fail(unreachable(failure)));
      } catch (IllegalStateException e) {
        fail(
            new SchedulerUnreachableException(
                FleetSchedulerState.ERROR, false, "this is stopping"));
      }
    }

    private void send(HttpClientRequest connected, Json.@Nullable Obj json) {
      if (over) {
        connected.reset();
        return;
      }
      request = connected;
      sent = true;
      connected.response().onComplete(this::receive, failure -> fail(broken(failure)));
      if (json == null) {
        connected.end();
      } else {
        connected
            .putHeader("Content-Type", "application/json")
            .end(Buffer.buffer(JsonWriter.compact(json)));
      }
    }

    private void receive(HttpClientResponse response) {
      if (over) {
        return;
      }
      response.handler(this::take);
      response.exceptionHandler(failure -> fail(broken(failure)));
      response.endHandler(
          v -> {
            if (stop()) {
              read(new SchedulerReply(response.statusCode(), body.toByteArray()));
            }
          });
    }

    private void take(Buffer chunk) {
      if (over) {
        return;
      }
      boolean tooMuch = held.addAndGet(chunk.length()) > options.allBytes();
      body.writeBytes(chunk.getBytes());
      if (tooMuch) {
        fail(
            new SchedulerUnreachableException(
                FleetSchedulerState.ERROR,
                true,
                "the answers of all schedulers together are too long"));
      } else if (body.size() > options.answerBytes()) {
        fail(
            new SchedulerUnreachableException(
                FleetSchedulerState.ERROR,
                true,
                "the answer is longer than " + options.answerBytes() + " bytes"));
      }
    }

    private void read(SchedulerReply reply) {
      int length = reply.bytes();
      try {
        readers.execute(
            () -> {
              try {
                answer.complete(reader.apply(reply));
              } catch (RuntimeException | Error e) {
                // Without an answer the scheduler would count as being asked for ever.
                answer.completeExceptionally(e);
              } finally {
                held.addAndGet(-length);
              }
            });
      } catch (RejectedExecutionException e) {
        answer.completeExceptionally(
            new SchedulerUnreachableException(FleetSchedulerState.ERROR, true, "this is stopping"));
      }
    }

    private void fail(SchedulerUnreachableException failure) {
      if (stop()) {
        held.addAndGet(-body.size());
        if (request != null) {
          request.reset();
        }
        answer.completeExceptionally(failure);
      }
    }

    private boolean stop() {
      boolean first = !over;
      over = true;
      vertx.cancelTimer(timer);
      return first;
    }

    private SchedulerUnreachableException broken(Throwable failure) {
      return new SchedulerUnreachableException(
          FleetSchedulerState.ERROR,
          true,
          failure instanceof SSLException ? tls(failure) : "the connection broke: is it HTTP?");
    }
  }

  /**
   * Translates a failure to a message without names and addresses, so that schedulers with the same
   * failure form one group.
   */
  private static SchedulerUnreachableException unreachable(Throwable failure) {
    String said = String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT);
    if (failure instanceof UnknownHostException
        || failure.getCause() instanceof UnknownHostException) {
      return new SchedulerUnreachableException(
          FleetSchedulerState.DEAD, false, "there is no such host");
    }
    if (failure instanceof SSLException || failure.getCause() instanceof SSLException) {
      return new SchedulerUnreachableException(FleetSchedulerState.ERROR, false, tls(failure));
    }
    if (said.contains("refused")) {
      return new SchedulerUnreachableException(
          FleetSchedulerState.DEAD, false, "connection refused");
    }
    if (said.contains("timed out") || said.contains("timeout")) {
      return new SchedulerUnreachableException(
          FleetSchedulerState.DEAD, false, "no connection in time");
    }
    if (said.contains("no route") || said.contains("unreachable")) {
      return new SchedulerUnreachableException(
          FleetSchedulerState.DEAD, false, "no route to the host");
    }
    return new SchedulerUnreachableException(
        FleetSchedulerState.DEAD,
        false,
        failure instanceof ConnectException ? "no connection" : "no connection: " + failure);
  }

  private static String tls(Throwable failure) {
    String said = String.valueOf(failure.getMessage());
    return "TLS: " + (said.length() <= 200 ? said : said.substring(0, 200));
  }
}
