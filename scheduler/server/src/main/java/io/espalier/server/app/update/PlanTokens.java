package io.espalier.server.app.update;

import io.espalier.core.api.RefusedException;
import io.espalier.core.api.RefusedException.Reason;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.json.JsonReader;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Signs plans. A token says which configuration was planned on which version of it, in which
 * cluster, and until when that is good. The key comes from the status store, so a token outlives a
 * restart and a fail-over. Thread-safe.
 */
public final class PlanTokens {
  /** For so long a plan can be applied. */
  static final Duration GOOD_FOR = Duration.ofHours(1);

  private static final String HMAC = "HmacSHA256";

  private final String cluster;
  private final byte[] secret;

  /**
   * @param cluster id of the status store
   * @param secret of the status store; other things are signed with it, too
   */
  public PlanTokens(String cluster, String secret) {
    this.cluster = cluster;
    this.secret = secret.getBytes(StandardCharsets.UTF_8);
  }

  /** Not computed before it is needed: Java loads all its cryptography for it. */
  private byte[] key() {
    return hmac(secret, "plans of configurations");
  }

  /**
   * Returns a token.
   *
   * @param version of the configuration that the plan is based on
   * @param content hash of what is to be applied
   * @param untilMillis its end, epoch milliseconds
   */
  String sign(String version, String content, long untilMillis) {
    String claims =
        JsonWriter.compact(
            Json.object()
                .put("cluster", cluster)
                .put("version", version)
                .put("content", content)
                .put("until_ms", untilMillis)
                .build());
    String body = encoded(claims.getBytes(StandardCharsets.UTF_8));
    return body + "." + encoded(hmac(key(), body));
  }

  /**
   * Returns the version that the plan of a token is based on.
   *
   * @param content hash of what is to be applied
   * @throws RefusedException with a code when the token is not good for that
   */
  String check(String token, String content, long nowMillis) {
    int dot = token.indexOf('.');
    Json.Obj claims = dot < 0 ? Json.Obj.EMPTY : claims(token.substring(0, dot));
    if (claims.get("cluster") == null) {
      throw refused("plan_unreadable", "this is no token of a plan; take it from \"plan\"");
    }
    if (!text(claims, "cluster").equals(cluster)) {
      throw refused(
          "plan_of_another_cluster",
          "this plan was made by another cluster, whose tasks and nodes are others; plan it here");
    }
    byte[] expected =
        encoded(hmac(key(), token.substring(0, dot))).getBytes(StandardCharsets.UTF_8);
    if (!MessageDigest.isEqual(
        expected, token.substring(dot + 1).getBytes(StandardCharsets.UTF_8))) {
      throw refused(
          "plan_forged",
          "the signature of the token is wrong: this cluster has not made this plan");
    }
    long until = claims.get("until_ms") instanceof Json.Num number ? number.value().longValue() : 0;
    if (nowMillis >= until) {
      throw refused(
          "plan_expired",
          "this plan was good until " + Instant.ofEpochMilli(until) + "; plan it again");
    }
    if (!text(claims, "content").equals(content)) {
      throw refused(
          "plan_of_other_content",
          "this is not the configuration that was planned, or \"prune\" is not what it was; plan it"
              + " again");
    }
    return text(claims, "version");
  }

  private static RefusedException refused(String code, String message) {
    return new RefusedException(Reason.CONFLICT, code, message);
  }

  private static Json.Obj claims(String body) {
    try {
      String text = new String(Base64.getUrlDecoder().decode(body), StandardCharsets.UTF_8);
      return JsonReader.parse(text).value() instanceof Json.Obj claims ? claims : Json.Obj.EMPTY;
    } catch (IllegalArgumentException e) {
      return Json.Obj.EMPTY;
    }
  }

  private static String text(Json.Obj claims, String name) {
    return claims.get(name) instanceof Json.Str string ? string.value() : "";
  }

  private static String encoded(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  private static byte[] hmac(byte[] key, String text) {
    try {
      Mac mac = Mac.getInstance(HMAC);
      mac.init(new SecretKeySpec(key, HMAC));
      return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has " + HMAC, e);
    }
  }
}
