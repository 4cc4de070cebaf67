package io.espalier.webui.v1;

import io.espalier.core.api.RefusedException;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogQueryException;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;

/** A request that is not answered with what it asked for: an RFC 9457 problem. */
public final class ApiFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private static final Map<Integer, String> TITLES =
      Map.ofEntries(
          Map.entry(400, "Bad Request"),
          Map.entry(401, "Unauthorized"),
          Map.entry(403, "Forbidden"),
          Map.entry(404, "Not Found"),
          Map.entry(405, "Method Not Allowed"),
          Map.entry(408, "Request Timeout"),
          Map.entry(409, "Conflict"),
          Map.entry(413, "Content Too Large"),
          Map.entry(414, "URI Too Long"),
          Map.entry(429, "Too Many Requests"),
          Map.entry(431, "Request Header Fields Too Large"),
          Map.entry(500, "Internal Server Error"),
          Map.entry(503, "Service Unavailable"),
          Map.entry(504, "Gateway Timeout"));

  private final int status;

  /**
   * @param status HTTP status
   * @param detail a sentence for people
   */
  public ApiFailure(int status, String detail) {
    super(detail);
    this.status = status;
  }

  public static ApiFailure badRequest(String detail) {
    return new ApiFailure(400, detail);
  }

  public static ApiFailure notFound(String detail) {
    return new ApiFailure(404, detail);
  }

  /**
   * What a failed stage means to the caller. A bug becomes a 500 that names its kind only.
   *
   * @param failure as a stage reports it, wrapped or not
   */
  public static ApiFailure of(Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    if (cause instanceof ApiFailure known) {
      return known;
    }
    String detail = String.valueOf(cause.getMessage());
    if (cause instanceof RefusedException refused) {
      int status =
          switch (refused.reason()) {
            case UNKNOWN -> 404;
            case CONFLICT -> 409;
            case UNSUPPORTED -> 405;
            case UNAVAILABLE -> 503;
          };
      return new ApiFailure(status, detail);
    }
    if (cause instanceof LogQueryException) {
      return badRequest(detail);
    }
    if (cause instanceof TimeoutException) {
      return new ApiFailure(504, "the scheduler did not answer in time");
    }
    return new ApiFailure(500, "internal error: " + cause.getClass().getSimpleName());
  }

  public int status() {
    return status;
  }

  /** The body, of type {@code application/problem+json}. */
  public Json.Obj document() {
    return Json.object()
        .put("type", "about:blank")
        .put("title", TITLES.getOrDefault(status, "Error"))
        .put("status", status)
        .put("detail", String.valueOf(getMessage()))
        .build();
  }
}
