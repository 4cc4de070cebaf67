package io.espalier.worker.process.os;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Makes file names from job names, which may contain any characters
 * (docs/design/design.md#names-of-jobs-in-paths).
 */
public final class FileNames {
  private static final int MAX_BYTES = 200;
  private static final int KEPT_OF_LONG = 150;

  private FileNames() {}

  /**
   * Encodes a name as one directory entry: letters, digits and {@code _ - .} stay; all other bytes
   * of the UTF-8 form, and a leading dot, become {@code %XX}. A result longer than 200 bytes is cut
   * and ends in {@code ~} and a hash. Different names never give the same file name.
   */
  public static String encode(String name) {
    StringBuilder out = new StringBuilder();
    for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
      boolean plain =
          (b >= 'a' && b <= 'z')
              || (b >= 'A' && b <= 'Z')
              || (b >= '0' && b <= '9')
              || b == '_'
              || b == '-'
              || (b == '.' && out.length() > 0);
      if (plain) {
        out.append((char) b);
      } else {
        out.append('%').append(HexFormat.of().withUpperCase().toHexDigits(b));
      }
    }
    if (out.length() == 0) {
      return "%";
    }
    if (out.length() <= MAX_BYTES) {
      return out.toString();
    }
    return out.substring(0, KEPT_OF_LONG) + "~" + hash(name);
  }

  private static String hash(String name) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest, 0, 16);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
