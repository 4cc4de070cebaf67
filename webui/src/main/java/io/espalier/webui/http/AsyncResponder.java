package io.espalier.webui.http;

import io.espalier.webui.v1.ApiException;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.zip.GZIPOutputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers queries outside the event loops: the query, its JSON, its text and its compression run on
 * the pool, and only the finished bytes return. The number of concurrent queries is limited; the
 * rest get 429.
 */
public final class AsyncResponder {
  private static final Logger LOG = LoggerFactory.getLogger(AsyncResponder.class);
  private static final int WORTH_COMPRESSING = 1024;

  private final Executor pool;
  private final Semaphore permits;
  private final int atATime;
  private final Duration within;

  public AsyncResponder(Executor pool, int atATime, Duration within) {
    this.pool = pool;
    this.permits = new Semaphore(atATime);
    this.atATime = atATime;
    this.within = within;
  }

  /** Returns how long an answer may take. */
  public Duration within() {
    return within;
  }

  /** Returns the number of queries being answered. */
  public int active() {
    return atATime - permits.availablePermits();
  }

  /** Answers a query; sends a problem document when it fails or takes too long. */
  public void answer(RoutingContext ctx, Supplier<CompletionStage<HttpReply>> question) {
    answer(ctx, question, within);
  }

  /** Like {@link #answer(RoutingContext, Supplier)} for a query with its own deadline. */
  public void answer(
      RoutingContext ctx, Supplier<CompletionStage<HttpReply>> question, Duration deadline) {
    if (!permits.tryAcquire()) {
      send(ctx, HttpReply.problem(new ApiException(429, "too many requests at a time")));
      return;
    }
    AtomicBoolean released = new AtomicBoolean();
    ctx.addEndHandler(
        end -> {
          if (released.compareAndSet(false, true)) {
            permits.release();
          }
        });
    Context loop = ctx.vertx().getOrCreateContext();
    boolean gzip = acceptsGzip(ctx);
    CompletableFuture<Void> done =
        CompletableFuture.supplyAsync(question, pool)
            .thenCompose(stage -> stage)
            .orTimeout(deadline.toMillis(), TimeUnit.MILLISECONDS)
            .exceptionally(failure -> HttpReply.problem(explained(ctx, failure)))
            .thenApplyAsync(reply -> new Encoded(reply, gzip), pool)
            .thenAccept(encoded -> loop.runOnContext(v -> encoded.write(ctx.response())));
    done.exceptionally(
        failure -> {
          LOG.error(
              "{} {} was not answered", ctx.request().method(), ctx.normalizedPath(), failure);
          loop.runOnContext(v -> ctx.request().connection().close());
          return null;
        });
  }

  /** Sends a small answer immediately, from an event loop. */
  public static void send(RoutingContext ctx, HttpReply reply) {
    send(ctx.response(), reply);
  }

  /**
   * Refuses a stream and closes the connection, so that a client that opens many does not occupy
   * connections.
   */
  public static void refuseStream(RoutingContext ctx, String why) {
    HttpServerResponse response = ctx.response();
    response.putHeader("Connection", "close");
    ctx.addEndHandler(end -> ctx.request().connection().close());
    send(response, HttpReply.problem(new ApiException(429, why)));
  }

  public static void send(HttpServerResponse response, HttpReply reply) {
    new Encoded(reply, false).write(response);
  }

  private static ApiException explained(RoutingContext ctx, Throwable failure) {
    ApiException explained = ApiException.of(failure);
    if (explained.status() == 500) {
      LOG.error("{} {} failed", ctx.request().method(), ctx.normalizedPath(), failure);
    }
    return explained;
  }

  public static boolean acceptsGzip(RoutingContext ctx) {
    String accepted = ctx.request().getHeader("Accept-Encoding");
    if (accepted == null) {
      return false;
    }
    for (String coding : accepted.split(",", -1)) {
      String[] parts = coding.trim().split(";", -1);
      if (parts[0].trim().equalsIgnoreCase("gzip")) {
        return parts.length == 1 || !parts[1].replace(" ", "").matches("q=0(\\.0*)?");
      }
    }
    return false;
  }

  public static byte[] gzip(byte[] plain) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(plain.length / 4 + 64);
    try (GZIPOutputStream zip = new GZIPOutputStream(out)) {
      zip.write(plain);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toByteArray();
  }

  /** A reply as bytes. */
  private static final class Encoded {
    private final HttpReply reply;
    private final boolean compressed;
    private final Buffer body;

    Encoded(HttpReply reply, boolean gzip) {
      this.reply = reply;
      byte[] plain = reply.text().getBytes(StandardCharsets.UTF_8);
      this.compressed = gzip && plain.length >= WORTH_COMPRESSING;
      this.body = Buffer.buffer(compressed ? gzip(plain) : plain);
    }

    void write(HttpServerResponse response) {
      if (response.ended() || response.closed()) {
        return;
      }
      response.setStatusCode(reply.status());
      reply.headers().forEach(response::putHeader);
      response.putHeader("Vary", "Accept-Encoding");
      if (reply.status() == 304) {
        response.end();
        return;
      }
      response.putHeader("Content-Type", reply.type());
      if (compressed) {
        response.putHeader("Content-Encoding", "gzip");
      }
      response.end(body);
    }
  }
}
