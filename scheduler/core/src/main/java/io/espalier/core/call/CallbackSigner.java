package io.espalier.core.call;

import io.espalier.core.config.task.CallSpec;
import io.espalier.core.running.Call;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Makes and checks the URLs at which services report the ends of their calls. A URL holds an HMAC
 * for one invocation: whoever has it may end this invocation and nothing else. Thread-safe.
 */
public final class CallbackSigner {
  /** The path of callbacks; the id of the invocation follows. */
  public static final String PATH = "/api/v1/callbacks/";

  private static final String ALGORITHM = "HmacSHA256";
  private static final String PLAIN =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";

  private final SecretKeySpec key;
  private volatile String address = "";

  /**
   * @param key random and secret; the same for all schedulers that share a status store
   */
  public CallbackSigner(String key) {
    this.key = new SecretKeySpec(key.getBytes(StandardCharsets.UTF_8), ALGORITHM);
  }

  /** Sets the URL under which services reach this scheduler, without a slash at its end. */
  public void listensAt(String url) {
    address = url;
  }

  /**
   * Returns a call with its callback URL, as a further name. A call that wants no callback, or that
   * nobody could reach this scheduler for, is returned as it is.
   */
  public Call signed(Call call) {
    String base = call.spec().callback().map(CallSpec.Callback::baseUrl).orElse("");
    String at = base.isEmpty() ? address : base;
    return call.spec().callback().isEmpty() || at.isEmpty()
        ? call
        : call.withName(CallSpec.CALLBACK, at + path(call));
  }

  private String path(Call call) {
    String job = call.name(CallSpec.JOB);
    String node = call.name(CallSpec.NODE);
    String invocation = call.name(CallSpec.INVOCATION);
    return PATH
        + invocation
        + "?job="
        + encoded(job)
        + "&node="
        + encoded(node)
        + "&signature="
        + signature(job, node, invocation);
  }

  /** Returns whether a signature is the one for this invocation; takes the same time for all. */
  public boolean isGenuine(String job, String node, String invocation, String signature) {
    return MessageDigest.isEqual(
        signature(job, node, invocation).getBytes(StandardCharsets.UTF_8),
        signature.getBytes(StandardCharsets.UTF_8));
  }

  private String signature(String job, String node, String invocation) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      // With the lengths no two tasks give the same text.
      String text = job.length() + " " + node.length() + " " + job + node + invocation;
      return Base64.getUrlEncoder()
          .withoutPadding()
          .encodeToString(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String encoded(String name) {
    StringBuilder out = new StringBuilder(name.length());
    for (byte each : name.getBytes(StandardCharsets.UTF_8)) {
      if (PLAIN.indexOf(each) >= 0) {
        out.append((char) each);
      } else {
        out.append('%')
            .append(Character.toUpperCase(Character.forDigit(each >> 4 & 15, 16)))
            .append(Character.toUpperCase(Character.forDigit(each & 15, 16)));
      }
    }
    return out.toString();
  }
}
