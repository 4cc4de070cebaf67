package io.espalier.server.store;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Turns any name into a safe name of one file (rulings 16). */
public final class FileNames {
  private static final int MAX_BYTES = 200;
  private static final String PLAIN =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

  private FileNames() {}

  /**
   * Percent-encodes all but ASCII letters, digits, {@code _}, {@code -} and inner dots, so that the
   * result has no separator, is no dot name and no option. Beyond 200 bytes the end is replaced by
   * {@code ~} and a SHA-256. Different names have different results.
   *
   * @throws IllegalArgumentException for an empty name
   */
  public static String encode(String name) {
    if (name.isEmpty()) {
      throw new IllegalArgumentException("an empty name names no file");
    }
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < bytes.length; i++) {
      char c = (char) (bytes[i] & 0xff);
      boolean plain = (i > 0 && (c == '.' || c == '-')) || PLAIN.indexOf(c) >= 0;
      if (plain) {
        out.append(c);
      } else {
        out.append('%').append(HexFormat.of().withUpperCase().toHexDigits(bytes[i]));
      }
    }
    if (out.length() <= MAX_BYTES) {
      return out.toString();
    }
    String hash = "~" + sha256(bytes);
    return out.substring(0, MAX_BYTES - hash.length()) + hash;
  }

  private static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
