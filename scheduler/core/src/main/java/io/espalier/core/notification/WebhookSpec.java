package io.espalier.core.notification;

import io.espalier.core.json.Json;
import java.time.Duration;
import java.util.Optional;

/**
 * How a webhook is called.
 *
 * @param url where; may have the placeholder {@code {secret}}
 * @param secretFile file with the secret that signs
 * @param timeout of one attempt
 * @param allowPrivate whether the receiver may be on this host or in a private network
 * @param body template of the body; empty: the notification itself
 */
public record WebhookSpec(
    String url, String secretFile, Duration timeout, boolean allowPrivate, Optional<Json> body) {
  /** The name of this kind of notifier. */
  public static final String KIND = "webhook";
}
