package io.espalier.webui.http;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Result;
import io.espalier.json.JsonReader;
import io.espalier.webui.contract.OpenApiContract;
import io.espalier.webui.contract.Violation;
import io.espalier.webui.v1.ApiException;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;

/**
 * Reads request bodies of any content type. The body handler of Vert.x Web would treat {@code curl
 * -d} as a form and refuse JSON over a few kilobytes.
 */
public final class BodyReader {
  private static final long SLOWEST_MILLIS = 20_000;
  private static final long LINGER_MILLIS = 2_000;

  private final int limit;

  /**
   * @param limit in bytes; a larger body is refused with 413
   */
  public BodyReader(int limit) {
    this.limit = limit;
  }

  /** Reads the body. Must be called before the handler of the request returns. */
  public void read(RoutingContext ctx, Handler<Buffer> whole) {
    new Reading(ctx, whole).begin();
  }

  /**
   * Reads the body and then answers the request, once the contract is known. Must be called before
   * the handler of the request returns.
   *
   * @param deadline of the answer, from the end of the body on
   */
  public void answer(
      RoutingContext ctx,
      AsyncResponder answers,
      OpenApiValidator contract,
      Duration deadline,
      BiFunction<OpenApiContract, byte[], CompletionStage<HttpReply>> question) {
    read(
        ctx,
        body ->
            answers.answer(
                ctx,
                () ->
                    contract
                        .contract()
                        .thenCompose(known -> question.apply(known, body.getBytes())),
                deadline));
  }

  /**
   * Parses a body; a missing one is an empty object.
   *
   * @throws ApiException when it is not valid JSON
   */
  public static Json json(byte[] body) {
    if (body.length == 0) {
      return Json.Obj.EMPTY;
    }
    Result<Json> read = JsonReader.strict().read(body);
    Json value = read.value();
    if (value == null || read.hasErrors()) {
      String why = read.problems().isEmpty() ? "" : ": " + read.problems().get(0);
      throw ApiException.violating(
          List.of(
              new Violation(
                  "body", "", null, "valid JSON", "the body is not valid JSON" + why, null)));
    }
    return value;
  }

  private final class Reading {
    private final RoutingContext ctx;
    private final HttpServerRequest request;
    private final Handler<Buffer> whole;
    private final Buffer body = Buffer.buffer();
    private boolean over;
    private long timer;

    Reading(RoutingContext ctx, Handler<Buffer> whole) {
      this.ctx = ctx;
      this.request = ctx.request();
      this.whole = whole;
    }

    void begin() {
      if (declaredLength() > limit) {
        refuse(413, "the body is larger than " + limit + " bytes");
        return;
      }
      timer = ctx.vertx().setTimer(SLOWEST_MILLIS, t -> refuse(408, "the body came too slowly"));
      if ("100-continue".equalsIgnoreCase(request.getHeader("Expect"))) {
        ctx.response().writeContinue();
      }
      request.exceptionHandler(e -> stop());
      request.handler(this::take);
      request.endHandler(
          v -> {
            if (stop()) {
              whole.handle(body);
            }
          });
    }

    private void take(Buffer chunk) {
      if (over) {
        return;
      }
      if (body.length() + chunk.length() > limit) {
        refuse(413, "the body is larger than " + limit + " bytes");
      } else {
        body.appendBuffer(chunk);
      }
    }

    private void refuse(int status, String detail) {
      boolean first = !over;
      stop();
      if (first) {
        request.handler(chunk -> {});
        ctx.response().putHeader("Connection", "close");
        AsyncResponder.send(ctx, HttpReply.problem(new ApiException(status, detail)));
        // Closing immediately could reset the connection before the client has read the answer.
        ctx.vertx().setTimer(LINGER_MILLIS, t -> request.connection().close());
      }
    }

    private boolean stop() {
      boolean first = !over;
      over = true;
      ctx.vertx().cancelTimer(timer);
      return first;
    }

    private long declaredLength() {
      String declared = request.getHeader("Content-Length");
      try {
        return declared == null ? 0 : Long.parseLong(declared.trim());
      } catch (NumberFormatException e) {
        return Long.MAX_VALUE;
      }
    }
  }
}
