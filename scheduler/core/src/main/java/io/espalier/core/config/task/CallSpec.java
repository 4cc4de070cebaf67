package io.espalier.core.config.task;

import io.espalier.core.json.Json;
import java.time.Duration;
import java.util.Optional;

/**
 * How the tasks of a job call their service, as configured.
 *
 * @param executor name of the kind of call, such as {@code http}
 * @param options the options of that kind; texts may contain placeholders
 * @param idempotent whether the service carries out a call only once that it gets several times
 *     with the same key, so that a call of unknown outcome may be sent again
 * @param unknownHold how long a call whose service does not confirm it keeps its slots before it
 *     ends as failed
 * @param callback whether and where the service reports the end; empty: it does not
 */
public record CallSpec(
    String executor,
    Json.Obj options,
    boolean idempotent,
    Duration unknownHold,
    Optional<Callback> callback) {
  /** Placeholder: names the invocation; unique for ever. */
  public static final String INVOCATION = "invocation";

  /** Placeholder: grows with each start of a task: a service refuses a lower one. */
  public static final String TOKEN = "token";

  /** Placeholder: names the task; the same for all its attempts. */
  public static final String KEY = "key";

  /** Placeholder: the URL at which the service reports the end of the call; it is secret. */
  public static final String CALLBACK = "callback";

  public static final String JOB = "job";
  public static final String NODE = "node";
  public static final String ATTEMPT = "attempt";

  /** Creates the call of a service that reports nothing. */
  public CallSpec(String executor, Json.Obj options, boolean idempotent, Duration unknownHold) {
    this(executor, options, idempotent, unknownHold, Optional.empty());
  }

  /**
   * That a service reports the end of its calls.
   *
   * @param baseUrl how it reaches the schedulers, without a slash at the end; empty: at the address
   *     of the one that starts the call
   */
  public record Callback(String baseUrl) {}

  /** How long a silent service is waited for when the job does not say. */
  public static final Duration DEFAULT_HOLD = Duration.ofMinutes(10);
}
