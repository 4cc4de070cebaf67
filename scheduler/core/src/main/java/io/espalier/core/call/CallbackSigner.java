package io.espalier.core.call;

import io.espalier.core.config.task.CallSpec;
import io.espalier.core.running.Call;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/**
 * Makes and checks the URLs at which services report the ends of their calls. A URL contains an
 * HMAC for one invocation: a client that has it may end this invocation and nothing else.
 * Thread-safe.
 */
public final class CallbackSigner {
  /** The path of callbacks; the id of the invocation follows. */
  public static final String PATH = "/api/v1/callbacks/";

  private static final int BLOCK_BYTES = 64;
  private static final String PLAIN =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";

  private final byte[] key;
  private volatile String address = "";

  /**
   * @param key random and secret; the same for all schedulers that share a status store
   */
  public CallbackSigner(String key) {
    byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
    this.key = bytes.length > BLOCK_BYTES ? hash(bytes) : bytes;
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
    // With the lengths no two tasks give the same text.
    String text = job.length() + " " + node.length() + " " + job + node + invocation;
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(hmac(text.getBytes(StandardCharsets.UTF_8)));
  }

  /** HMAC (RFC 2104) with SHA-256, because {@code javax.crypto} is no part of the core. */
  private byte[] hmac(byte[] text) {
    return hash(padded(0x5c), hash(padded(0x36), text));
  }

  private byte[] padded(int with) {
    byte[] block = new byte[BLOCK_BYTES];
    for (int i = 0; i < BLOCK_BYTES; i++) {
      block[i] = (byte) ((i < key.length ? key[i] : 0) ^ with);
    }
    return block;
  }

  private static byte[] hash(byte[]... parts) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (byte[] part : parts) {
        digest.update(part);
      }
      return digest.digest();
    } catch (NoSuchAlgorithmException e) {
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
