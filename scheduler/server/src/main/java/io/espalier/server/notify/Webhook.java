package io.espalier.server.notify;

import io.espalier.core.config.keys.CallKeys;
import io.espalier.core.config.keys.CallTypes;
import io.espalier.core.config.keys.NotifierKeys;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.notification.Notification;
import io.espalier.core.notification.Notifier;
import io.espalier.core.notification.Severity;
import io.espalier.core.notification.WebhookSpec;
import io.espalier.nodes.HttpExchange;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/** Sends notifications by a POST request that an HMAC signs (docs/notifications.md). */
final class Webhook implements Notifier {
  private static final Duration CONNECT = Duration.ofSeconds(10);
  private static final int MOST_ANSWER_BYTES = 64 * 1024;
  private static final int MOST_SECRET_BYTES = 4096;
  private static final String HMAC = "HmacSHA256";

  private final InstantSource clock;
  private @Nullable HttpClient client;

  Webhook(InstantSource clock) {
    this.clock = clock;
  }

  @Override
  public String kind() {
    return WebhookSpec.KIND;
  }

  @Override
  public String send(Json.Obj options, Notification what, String id) throws InterruptedException {
    WebhookSpec webhook = CallKeys.read(NotifierKeys.WEBHOOK, options);
    String secret = "";
    try {
      secret = secret(Path.of(webhook.secretFile()));
      Map<String, String> names = names(what, id, secret);
      String body =
          JsonWriter.compact(
              webhook
                  .body()
                  .map(template -> filled(template, names))
                  .orElseGet(() -> what.toJson().with("id", Json.of(id))));
      post(webhook, url(webhook, names), id, body.getBytes(StandardCharsets.UTF_8), secret);
      return "";
    } catch (IOException | IllegalArgumentException e) {
      return masked(String.valueOf(e.getMessage()), secret);
    }
  }

  /** Hides the secret in what a receiver has answered: it may repeat the URL. */
  private static String masked(String message, String secret) {
    return secret.isEmpty()
        ? message
        : message
            .replace(secret, "***")
            .replace(URLEncoder.encode(secret, StandardCharsets.UTF_8), "***");
  }

  private static URI url(WebhookSpec webhook, Map<String, String> names) throws IOException {
    try {
      return URI.create(replaced(webhook.url(), names));
    } catch (IllegalArgumentException e) {
      // The message would show the secret.
      throw new IOException(
          "the secret in " + webhook.secretFile() + " makes the URL no URL any more", null);
    }
  }

  private void post(WebhookSpec webhook, URI url, String id, byte[] body, String secret)
      throws IOException, InterruptedException {
    ReceiverAddress address = ReceiverAddress.of(url, webhook.allowPrivate());
    Map<String, String> headers = new HashMap<>();
    headers.put("Content-Type", "application/json");
    headers.put("User-Agent", "espalier");
    headers.put("Espalier-Notification", id);
    headers.put("Espalier-Signature", signature(body, secret, clock.instant()));
    if (!address.host().isEmpty()) {
      headers.put("Host", address.host());
    }
    new HttpExchange(client(), headers, webhook.timeout(), MOST_ANSWER_BYTES, "in an answer")
        .post(address.uri(), body);
  }

  private synchronized HttpClient client() {
    HttpClient open = client;
    if (open == null) {
      open = HttpExchange.client(CONNECT);
      client = open;
    }
    return open;
  }

  private static String secret(Path file) throws IOException {
    String secret;
    try {
      byte[] bytes;
      try (InputStream in = Files.newInputStream(file)) {
        bytes = in.readNBytes(MOST_SECRET_BYTES + 1);
      }
      if (bytes.length > MOST_SECRET_BYTES) {
        throw new IOException("it is longer than " + MOST_SECRET_BYTES + " bytes");
      }
      secret = new String(bytes, StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      throw new IOException("the secret in " + file + " cannot be read: " + e.getMessage(), e);
    }
    if (secret.isEmpty()) {
      throw new IOException("the secret in " + file + " is empty");
    }
    return secret;
  }

  /**
   * Signs a body: {@code t=SECONDS,v1=HEX}, the HMAC of the time, a dot and the body with SHA-256.
   */
  static String signature(byte[] body, String secret, Instant now) {
    try {
      Mac mac = Mac.getInstance(HMAC);
      mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), HMAC));
      mac.update((now.getEpochSecond() + ".").getBytes(StandardCharsets.UTF_8));
      return "t=" + now.getEpochSecond() + ",v1=" + HexFormat.of().formatHex(mac.doFinal(body));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has " + HMAC, e);
    }
  }

  private static Map<String, String> names(Notification what, String id, String secret) {
    Map<String, String> names = new HashMap<>();
    for (String about : Notification.ABOUT) {
      names.put(about, what.about().get(about) instanceof Json.Str text ? text.value() : "");
    }
    names.put(NotifierKeys.SECRET, secret);
    names.put("id", id);
    names.put("kind", what.kind());
    names.put("severity", what.severity().word());
    names.put("action", what.severity() == Severity.INFO ? "resolve" : "trigger");
    names.put("subject", what.subject());
    names.put("summary", what.summary());
    names.put("time", Instant.ofEpochMilli(what.timeMillis()).toString());
    names.put("count", Integer.toString(what.count()));
    return names;
  }

  /** Replaces placeholders in all texts, so that no value can change the form of the body. */
  private static Json filled(Json json, Map<String, String> names) {
    if (json instanceof Json.Str text) {
      return Json.of(replaced(text.value(), names));
    }
    if (json instanceof Json.Arr list) {
      List<Json> items = new ArrayList<>();
      list.items().forEach(item -> items.add(filled(item, names)));
      return new Json.Arr(items);
    }
    if (json instanceof Json.Obj object) {
      Json.Builder out = Json.object();
      object.members().forEach((name, value) -> out.put(name, filled(value, names)));
      return out.build();
    }
    return json;
  }

  private static String replaced(String text, Map<String, String> names) {
    return CallTypes.PLACEHOLDER
        .matcher(text)
        .replaceAll(
            found -> Matcher.quoteReplacement(names.getOrDefault(found.group(1), found.group())));
  }
}
