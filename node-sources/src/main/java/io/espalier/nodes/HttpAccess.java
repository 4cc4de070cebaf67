package io.espalier.nodes;

import io.espalier.core.json.Json;
import io.espalier.core.text.HttpHeaders;
import java.io.IOException;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Access to a web service: {@code headers}, an object; {@code headers_file}, a file of {@code Name:
 * value} lines, for secrets, read at each fetch; {@code max_bytes} and {@code timeout_sec} of an
 * answer. For one thread at a time.
 */
final class HttpAccess {
  private static final int MOST_BYTES = 1 << 30;

  private final Map<String, String> headers;
  private final @Nullable Path headersFile;
  private final int maxBytes;
  private final Duration timeout;

  /** Created at the first fetch; its threads end when it is no longer used. */
  private @Nullable HttpClient client;

  private HttpAccess(
      Map<String, String> headers, @Nullable Path headersFile, int maxBytes, Duration timeout) {
    this.headers = headers;
    this.headersFile = headersFile;
    this.maxBytes = maxBytes;
    this.timeout = timeout;
  }

  /**
   * Reads the preferences.
   *
   * @param maxBytes of an answer, unless the preferences say something else
   * @param isPerNode see {@link Prefs#timeout(boolean)}
   */
  static HttpAccess read(Prefs prefs, String configDirectory, int maxBytes, boolean isPerNode) {
    return new HttpAccess(
        headers(prefs),
        headersFile(prefs, configDirectory),
        (int) prefs.integer("max_bytes", maxBytes, 1, MOST_BYTES),
        prefs.timeout(isPerNode));
  }

  /** Reports what is wrong with the address of the preference {@code url}. */
  static void checkUrl(String address, Prefs prefs) {
    String objection = HttpExchange.objection(address);
    if (!objection.isEmpty()) {
      NameFormat.problem(prefs, "url", objection, null);
    }
  }

  /** Returns a text as a part of an address. */
  static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /**
   * Prepares requests with the headers of this moment.
   *
   * @throws IOException with a message that is a sentence
   */
  HttpExchange exchange() throws IOException {
    if (client == null) {
      client = HttpExchange.client(timeout);
    }
    Map<String, String> all = new LinkedHashMap<>(headers);
    if (headersFile != null) {
      all.putAll(HttpExchange.headersIn(headersFile));
    }
    return new HttpExchange(client, all, timeout, maxBytes, "by max_bytes");
  }

  void close() {
    client = null;
  }

  private static Map<String, String> headers(Prefs prefs) {
    Json.Obj object = prefs.object("headers");
    Map<String, String> headers = new LinkedHashMap<>();
    Prefs in = prefs.inside(object, prefs.at("headers"));
    object
        .members()
        .forEach(
            (name, value) -> {
              if (name.startsWith("_") || name.startsWith("//")) {
                return;
              }
              if (!(value instanceof Json.Str string)) {
                in.expected(name, value, "a string");
                return;
              }
              String objection = HttpHeaders.objection(name, string.value());
              if (!objection.isEmpty()) {
                in.error(in.at(name), value.at(), null, "the header " + objection);
              } else if (HttpHeaders.isSecret(name)) {
                // Without its value, because problems are printed.
                in.error(
                    in.at(name),
                    value.at(),
                    null,
                    "this header is a secret, and the configuration is not",
                    "write it into a file, and name that as headers_file");
              }
              headers.put(name, string.value());
            });
    return headers;
  }

  private static @Nullable Path headersFile(Prefs prefs, String configDirectory) {
    if (prefs.get("headers_file") == null) {
      return null;
    }
    String file = prefs.string("headers_file", "the path of a file", "");
    try {
      Path path = Path.of(file);
      if (!file.isEmpty() && (path.isAbsolute() || !configDirectory.isEmpty())) {
        return Path.of(configDirectory).resolve(path);
      }
    } catch (InvalidPathException e) {
      // Reported below.
    }
    if (!prefs.hasErrorAt("headers_file")) {
      NameFormat.problem(
          prefs,
          "headers_file",
          "expected the path of a file, absolute or beside the configuration",
          null);
    }
    return null;
  }
}
