package io.espalier.webui.v1;

import io.espalier.core.api.RefusedException;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogQueryException;
import io.espalier.webui.contract.Violation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/** A request that is not answered with what it asked for: an RFC 9457 problem. */
public final class ApiFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** So many violations stand in the sentence for people, all of them in the list. */
  private static final int TOLD = 5;

  private static final Map<Integer, String> TITLES =
      Map.ofEntries(
          Map.entry(400, "Bad Request"),
          Map.entry(401, "Unauthorized"),
          Map.entry(403, "Forbidden"),
          Map.entry(404, "Not Found"),
          Map.entry(405, "Method Not Allowed"),
          Map.entry(408, "Request Timeout"),
          Map.entry(409, "Conflict"),
          Map.entry(412, "Precondition Failed"),
          Map.entry(413, "Content Too Large"),
          Map.entry(414, "URI Too Long"),
          Map.entry(422, "Unprocessable Content"),
          Map.entry(429, "Too Many Requests"),
          Map.entry(431, "Request Header Fields Too Large"),
          Map.entry(500, "Internal Server Error"),
          Map.entry(503, "Service Unavailable"),
          Map.entry(504, "Gateway Timeout"));

  private final int status;
  private final transient List<Violation> violations;

  /**
   * @param status HTTP status
   * @param detail a sentence for people
   */
  public ApiFailure(int status, String detail) {
    this(status, detail, List.of());
  }

  private ApiFailure(int status, String detail, List<Violation> violations) {
    super(detail);
    this.status = status;
    this.violations = List.copyOf(violations);
  }

  /**
   * A request that the contract does not allow.
   *
   * @param violations all of them, at least one
   */
  public static ApiFailure violating(List<Violation> violations) {
    String first = violations.get(0).toString();
    if (violations.size() == 1) {
      return new ApiFailure(400, first, violations);
    }
    String all =
        violations.stream().limit(TOLD).map(Violation::toString).collect(Collectors.joining("; "));
    return new ApiFailure(
        400,
        violations.size()
            + " things are wrong with the request: "
            + all
            + (violations.size() > TOLD ? "; see violations for the others" : ""),
        violations);
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
            case CONFLICT, STALE -> 409;
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
    Json.Builder document =
        Json.object()
            .put("type", "about:blank")
            .put("title", TITLES.getOrDefault(status, "Error"))
            .put("status", status)
            .put("detail", String.valueOf(getMessage()));
    if (!violations.isEmpty()) {
      List<Json> list = new ArrayList<>();
      violations.forEach(violation -> list.add(violation.json()));
      document.put("violations", new Json.Arr(list));
    }
    return document.build();
  }
}
