package io.espalier.core.config.task;

import io.espalier.core.json.Json;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The options of an HTTP call. Texts may contain placeholders, see {@link CallSpec}.
 *
 * @param body what is sent, an object or text; empty: the JSON argument of the task
 * @param headers by name
 * @param headersFile absolute path of a file with further headers: for secrets, read at each
 *     request
 * @param tls which certificates count; empty: those that Java trusts
 * @param success HTTP statuses that mean that the task has ended; empty: all from 200 to 299 but
 *     202
 * @param timeout how long one request may take
 */
public record HttpCall(
    String url,
    String method,
    Optional<Json> body,
    Map<String, String> headers,
    Optional<String> headersFile,
    Optional<CallTls> tls,
    List<Integer> success,
    Duration timeout,
    Optional<Poll> poll,
    Optional<Cancel> cancel) {
  /** The HTTP status of a service that goes on with a call after its answer. */
  public static final int ACCEPTED = 202;

  public HttpCall {
    headers = Map.copyOf(headers);
    success = List.copyOf(success);
  }

  /**
   * How to ask about a call.
   *
   * @param every wait before the second question
   * @param upTo longest wait
   * @param notFound what it means that the service does not know the call
   */
  public record Poll(String url, Duration every, Duration upTo, NotFound notFound) {}

  /** How to cancel a call. */
  public record Cancel(String url, String method) {}

  /** What it means that a service does not know a call. */
  public enum NotFound {
    /** Nothing: it may still come, or was forgotten. */
    UNKNOWN("unknown"),
    /** It was never carried out, and the service will refuse it from now on. */
    NEVER_STARTED("never_started");

    private final String label;

    NotFound(String label) {
      this.label = label;
    }

    public String label() {
      return label;
    }
  }

  /** Returns whether the task has ended when the service answers with this HTTP status. */
  public boolean isSuccess(int status) {
    return success.isEmpty()
        ? status >= 200 && status <= 299 && status != ACCEPTED
        : success.contains(status);
  }
}
