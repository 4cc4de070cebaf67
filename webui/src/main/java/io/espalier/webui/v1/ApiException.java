package io.espalier.webui.v1;

import io.espalier.core.api.RefusedException;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogQueryException;
import io.espalier.core.problem.Causes;
import io.espalier.core.problem.Problem;
import io.espalier.core.text.ShortText;
import io.espalier.webui.contract.Violation;
import io.espalier.webui.v1.json.ApiJson;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/** A failed request, reported to the client as an RFC 9457 problem. */
public final class ApiException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The maximum number of violations in the sentence for people; the list contains all of them. */
  private static final int TOLD = 5;

  private static final int MOST_PROBLEMS = 100;

  /** The maximum number of characters of the sentence for people, which may quote the request. */
  private static final int MOST_DETAIL = 4_000;

  private static final Map<Integer, String> TITLES =
      Map.ofEntries(
          Map.entry(400, "Bad Request"),
          Map.entry(401, "Unauthorized"),
          Map.entry(403, "Forbidden"),
          Map.entry(404, "Not Found"),
          Map.entry(405, "Method Not Allowed"),
          Map.entry(408, "Request Timeout"),
          Map.entry(409, "Conflict"),
          Map.entry(410, "Gone"),
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
  private final String code;
  private final transient List<Violation> violations;
  private final transient List<Problem> problems;

  /**
   * @param status HTTP status
   * @param detail a sentence for people
   */
  public ApiException(int status, String detail) {
    this(status, "", detail, List.of(), List.of());
  }

  private ApiException(
      int status, String code, String detail, List<Violation> violations, List<Problem> problems) {
    super(detail);
    this.status = status;
    this.code = code;
    this.violations = List.copyOf(violations);
    this.problems = List.copyOf(problems);
  }

  /**
   * Creates the failure of a request that violates the contract.
   *
   * @param violations all of them, at least one
   */
  public static ApiException violating(List<Violation> violations) {
    String first = violations.get(0).toString();
    if (violations.size() == 1) {
      return new ApiException(400, "", first, violations, List.of());
    }
    String all =
        violations.stream().limit(TOLD).map(Violation::toString).collect(Collectors.joining("; "));
    return new ApiException(
        400,
        "",
        violations.size()
            + " things are wrong with the request: "
            + all
            + (violations.size() > TOLD ? "; see violations for the others" : ""),
        violations,
        List.of());
  }

  public static ApiException badRequest(String detail) {
    return new ApiException(400, detail);
  }

  public static ApiException notFound(String detail) {
    return new ApiException(404, detail);
  }

  /**
   * Translates the failure of a stage for the caller. A bug becomes a 500 that reveals only its
   * kind.
   *
   * @param failure as a stage reports it, wrapped or not
   */
  public static ApiException of(Throwable failure) {
    Throwable cause = Causes.of(failure);
    if (cause instanceof ApiException known) {
      return known;
    }
    String detail = String.valueOf(cause.getMessage());
    if (cause instanceof RefusedException refused) {
      int status =
          switch (refused.reason()) {
            case UNKNOWN -> 404;
            case CONFLICT, STALE -> 409;
            case INVALID -> 422;
            case UNSUPPORTED -> 405;
            case FULL -> 429;
            case UNAVAILABLE -> 503;
          };
      return new ApiException(status, refused.code(), detail, List.of(), refused.problems());
    }
    if (cause instanceof LogQueryException) {
      return badRequest(detail);
    }
    if (cause instanceof TimeoutException) {
      String why = cause.getMessage();
      return new ApiException(504, why == null ? "the scheduler did not answer in time" : why);
    }
    return new ApiException(500, "internal error: " + cause.getClass().getSimpleName());
  }

  public int status() {
    return status;
  }

  /** Returns the body, of type {@code application/problem+json}. */
  public Json.Obj document() {
    Json.Builder document =
        Json.object()
            .put("type", "about:blank")
            .put("title", TITLES.getOrDefault(status, "Error"))
            .put("status", status)
            .put("detail", ShortText.shown(String.valueOf(getMessage()), MOST_DETAIL));
    if (!code.isEmpty()) {
      document.put("code", code);
    }
    if (!violations.isEmpty()) {
      List<Json> list = new ArrayList<>();
      violations.forEach(violation -> list.add(violation.json()));
      document.put("violations", new Json.Arr(list));
    }
    if (!problems.isEmpty()) {
      List<Json> list = new ArrayList<>();
      problems.stream().limit(MOST_PROBLEMS).map(ApiJson::problem).forEach(list::add);
      document.put("problems", new Json.Arr(list));
    }
    return document.build();
  }
}
