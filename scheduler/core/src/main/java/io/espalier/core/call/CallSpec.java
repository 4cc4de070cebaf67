package io.espalier.core.call;

import io.espalier.core.json.Json;
import java.time.Duration;

/**
 * How the tasks of a job call their service, as configured.
 *
 * @param executor name of the kind of call, such as {@code http}
 * @param options the options of that kind; texts may contain placeholders
 * @param idempotent whether the service carries out a call only once that it gets several times
 *     with the same key, so that a call of unknown outcome may be sent again
 * @param unknownHold how long a call whose service does not confirm it keeps its slots before it
 *     ends as failed
 */
public record CallSpec(
    String executor, Json.Obj options, boolean idempotent, Duration unknownHold) {
  /** How long a silent service is waited for when the job does not say. */
  public static final Duration DEFAULT_HOLD = Duration.ofMinutes(10);
}
