package io.espalier.core.text;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Checks HTTP headers that people configure, and parses those that they keep in files. */
public final class HttpHeaders {
  private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");
  private static final Pattern VALUE = Pattern.compile("[\\t\\x20-\\x7e\\x80-\\xff]*");

  /** Headers that the client itself sets. */
  private static final Set<String> RESERVED =
      Set.of("connection", "content-length", "expect", "host", "upgrade", "transfer-encoding");

  private static final Set<String> SECRET =
      Set.of("authorization", "proxy-authorization", "cookie");

  private HttpHeaders() {}

  /** Returns why this cannot be a header; empty if it can. The reason does not repeat the value. */
  public static String objection(String name, String value) {
    if (!NAME.matcher(name).matches()) {
      return "is not the name of a header";
    }
    if (RESERVED.contains(name.toLowerCase(Locale.ROOT))) {
      return "is set by the client itself";
    }
    return VALUE.matcher(value).matches() ? "" : "has a value with a line break or the like";
  }

  /** Returns whether the values of such headers are secrets, which no configuration contains. */
  public static boolean isSecret(String name) {
    return SECRET.contains(name.toLowerCase(Locale.ROOT));
  }

  /**
   * Parses lines {@code Name: value}; empty ones and those that begin with {@code #} are ignored.
   *
   * @throws IllegalArgumentException describing the problem without any of the content
   */
  public static Map<String, String> parse(String text) {
    Map<String, String> headers = new LinkedHashMap<>();
    List<String> lines = text.lines().toList();
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
        throw new IllegalArgumentException("line " + (i + 1) + " " + objection);
      }
      headers.put(name, value);
    }
    return headers;
  }
}
