package io.espalier.webui.http;

import io.espalier.webui.v1.ApiException;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpServerRequest;
import org.jspecify.annotations.Nullable;

/** Answers malformed HTTP requests with an explanation, before any route sees them. */
public final class BadRequestHandler implements Handler<HttpServerRequest> {
  private final int lineBytes;
  private final int headerBytes;

  public BadRequestHandler(int lineBytes, int headerBytes) {
    this.lineBytes = lineBytes;
    this.headerBytes = headerBytes;
  }

  @Override
  public void handle(HttpServerRequest request) {
    HttpReply reply = HttpReply.problem(failure(request.decoderResult().cause()));
    request
        .response()
        .setStatusCode(reply.status())
        .putHeader("Content-Type", reply.type())
        .putHeader("Connection", "close")
        .end(reply.text())
        // The start of a next request would be unknown.
        .onComplete(sent -> request.connection().close());
  }

  private ApiException failure(@Nullable Throwable cause) {
    String why = cause == null ? "" : cause.getClass().getSimpleName();
    return switch (why) {
      case "TooLongHttpLineException" ->
          new ApiException(
              414,
              "the first line of the request, which contains the path and the query, may have "
                  + lineBytes
                  + " bytes");
      case "TooLongHttpHeaderException" ->
          new ApiException(431, "the headers of a request may have " + headerBytes + " bytes");
      default -> new ApiException(400, "this is no HTTP request");
    };
  }
}
