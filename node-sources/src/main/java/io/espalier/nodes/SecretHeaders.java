package io.espalier.nodes;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Reads and checks HTTP header lines. */
final class SecretHeaders {
  private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");
  private static final Pattern VALUE = Pattern.compile("[\\t\\x20-\\x7e\\x80-\\xff]*");
  private static final int MAX_BYTES = 1 << 16;

  /** Headers that the client itself sets. */
  private static final Set<String> RESERVED =
      Set.of("connection", "content-length", "expect", "host", "upgrade", "transfer-encoding");

  private SecretHeaders() {}

  /** Returns why this cannot be a header; empty if it can. The reason does not repeat the value. */
  static String objection(String name, String value) {
    if (!NAME.matcher(name).matches()) {
      return "is not the name of a header";
    }
    if (RESERVED.contains(name.toLowerCase(Locale.ROOT))) {
      return "is set by the client itself";
    }
    return VALUE.matcher(value).matches() ? "" : "has a value with a line break or the like";
  }

  /**
   * Reads a file of {@code Name: value} lines.
   *
   * @throws IOException describing the problem without any of the content
   */
  static Map<String, String> read(Path file) throws IOException {
    if (Files.size(file) > MAX_BYTES) {
      throw new IOException("it is longer than " + MAX_BYTES + " bytes");
    }
    Map<String, String> headers = new LinkedHashMap<>();
    List<String> lines = Files.readAllLines(file, StandardCharsets.UTF_8);
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      int colon = line.indexOf(':');
      String name = colon < 0 ? "" : line.substring(0, colon).strip();
      String value = line.substring(colon + 1).strip();
      String objection = colon < 0 ? "is not of the form \"Name: value\"" : objection(name, value);
      if (!objection.isEmpty()) {
        throw new IOException("line " + (i + 1) + " " + objection);
      }
      headers.put(name, value);
    }
    return headers;
  }
}
