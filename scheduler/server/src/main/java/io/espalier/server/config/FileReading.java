package io.espalier.server.config;

import io.espalier.core.config.ConfigSource.Document;
import io.espalier.core.config.ConfigSource.Text;
import io.espalier.core.config.ConfigSource.Unavailable;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.json.JsonReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the file and the directory source have in common. */
final class FileReading {
  private static final int TRIES = 20;

  private FileReading() {}

  /** Reads all documents once. */
  interface Reading {
    List<Document> read() throws IOException;
  }

  /**
   * Reads until two readings in a row agree: a file that is being written then shows itself. What
   * is written slower than that is caught by the poller, which waits for the text to settle.
   *
   * @param place for problems
   */
  static Text stable(Path place, Reading reading) throws Unavailable, InterruptedException {
    try {
      Text last = text(reading.read());
      for (int i = 0; i < TRIES; i++) {
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        Text again = text(reading.read());
        if (again.hash().equals(last.hash())) {
          return again;
        }
        last = again;
      }
      throw unavailable(place, "the text changes faster than it can be read", null);
    } catch (IOException e) {
      throw unavailable(place, e);
    }
  }

  /** The bytes, or as many as show that there are too many. */
  static byte[] bytes(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return in.readNBytes(JsonReader.MAX_CONFIG_BYTES + 1);
    }
  }

  private static Text text(List<Document> documents) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (Document document : documents) {
        // Lengths first, so that text cannot wander from one file to the next unnoticed.
        byte[] name = document.name().getBytes(StandardCharsets.UTF_8);
        digest.update(
            ByteBuffer.allocate(8).putInt(name.length).putInt(document.bytes().length).array());
        digest.update(name);
        digest.update(document.bytes());
      }
      return new Text(documents, HexFormat.of().formatHex(digest.digest()));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  static Unavailable unavailable(Path place, IOException e) {
    if (e instanceof NoSuchFileException) {
      return unavailable(place, "there is no such file or directory", null);
    }
    if (e instanceof AccessDeniedException) {
      return unavailable(place, "this may not be read", "look at its permissions");
    }
    String reason = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    return unavailable(place, "this cannot be read: " + reason, null);
  }

  static Unavailable unavailable(Path place, String message, @Nullable String hint) {
    return new Unavailable(
        new Problem(Severity.ERROR, "", new Position(place.toString(), 0, 0), message, null, hint));
  }
}
