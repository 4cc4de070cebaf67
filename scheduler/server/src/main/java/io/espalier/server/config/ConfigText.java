package io.espalier.server.config;

import io.espalier.core.config.source.ConfigSource.Document;
import io.espalier.core.config.source.ConfigSource.Text;
import io.espalier.core.config.source.ConfigSource.Unavailable;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Problem.Severity;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Helpers shared by configuration sources. */
final class ConfigText {
  private ConfigText() {}

  /** Returns a text with the hash of its content. */
  static Text of(List<Document> documents) {
    return of(documents, List.of());
  }

  /** Returns a text with the hash of its content and of the files to which it refers. */
  static Text of(List<Document> documents, List<Document> referred) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (Document document : Stream.concat(documents.stream(), referred.stream()).toList()) {
        // Lengths come first, so that moving text from one document to the next changes the hash.
        byte[] name = document.name().getBytes(StandardCharsets.UTF_8);
        digest.update(
            ByteBuffer.allocate(8).putInt(name.length).putInt(document.bytes().length).array());
        digest.update(name);
        digest.update(document.bytes());
      }
      return new Text(documents, HexFormat.of().formatHex(digest.digest()), List.of(), referred);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /**
   * Creates the problem of a source.
   *
   * @param where its name, without secrets
   */
  static Unavailable unavailable(String where, String message, @Nullable String hint) {
    return new Unavailable(
        new Problem(Severity.ERROR, "", new Position(where, 0, 0), message, null, hint));
  }

  /** Encodes text for storage. */
  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Decodes stored text. */
  static String string(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /**
   * Encodes a name as a path segment: unusual characters become %XX, so that different names stay
   * different.
   */
  static String segment(String name) {
    StringBuilder out = new StringBuilder();
    for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
      char c = (char) (b & 0xff);
      boolean plain =
          (c >= 'a' && c <= 'z')
              || (c >= 'A' && c <= 'Z')
              || (c >= '0' && c <= '9')
              || c == '-'
              || c == '_'
              || (c == '.' && out.length() > 0);
      if (plain) {
        out.append(c);
      } else {
        out.append(String.format("%%%02X", (int) c));
      }
    }
    return out.toString();
  }
}
