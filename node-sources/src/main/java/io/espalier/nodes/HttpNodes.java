package io.espalier.nodes;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.text.HttpHeaders;
import io.espalier.core.topology.NodeLookup;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.PushDown;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * {@code http}: the nodes that a web service lists as JSON.
 *
 * <p>Preferences: {@code parent_level}; {@code url}, http or https; with the placeholder {@code
 * {parent}} there is a request for each parent, whose name is URL-encoded, and with {@code
 * {parents}} one for as many as the address has room for, with commas between them; {@code
 * push_down} as in {@link Prefs#pushDown}; {@code headers}, an object; {@code headers_file}, a file
 * of {@code Name: value} lines, for secrets; {@code items} as in {@link RowParser}; {@code columns}
 * as in {@link ColumnMapping}; {@code max_bytes} of an answer (64 MiB); {@code refresh_sec}; {@code
 * timeout_sec} of an answer (60).
 *
 * <p>If the last answer had an ETag or a date, the request is conditional: an unchanged answer is
 * not sent again.
 */
public final class HttpNodes implements NodeSource {
  private static final int DEFAULT_MAX_BYTES = 64 << 20;
  private static final int MOST_BYTES = 1 << 30;

  /** Limits of one request for many parents; many servers refuse addresses of more than 8 KiB. */
  private static final int PARENTS_PER_REQUEST = 500;

  private static final int MOST_CHARACTERS = 4000;

  private final int parentLevel;
  private final NameFormat url;
  private final Map<String, String> headers;
  private final @Nullable Path headersFile;
  private final RowParser text;
  private final ColumnMapping columns;
  private final int maxBytes;
  private final PushDown pushDown;
  private final Optional<Duration> refresh;
  private final Duration timeout;
  private final String path;

  /** Created at the first fetch; its threads end when it is no longer used. */
  private @Nullable HttpClient client;

  /** Previous answers by address; only those that can be confirmed. */
  private Map<URI, HttpExchange.Answer> known = Map.of();

  private HttpNodes(
      int parentLevel,
      NameFormat url,
      Map<String, String> headers,
      @Nullable Path headersFile,
      RowParser text,
      ColumnMapping columns,
      int maxBytes,
      PushDown pushDown,
      Optional<Duration> refresh,
      Duration timeout,
      String path) {
    this.parentLevel = parentLevel;
    this.url = url;
    this.headers = headers;
    this.headersFile = headersFile;
    this.text = text;
    this.columns = columns;
    this.maxBytes = maxBytes;
    this.pushDown = pushDown;
    this.refresh = refresh;
    this.timeout = timeout;
    this.path = path;
  }

  @Override
  public Optional<Duration> refreshEvery() {
    return refresh;
  }

  @Override
  public PushDown pushDown() {
    return pushDown;
  }

  @Override
  public void fetch(NodeLookup soFar, Instant now, NodeSink sink)
      throws NodeSourceException, InterruptedException {
    RowToNodes delivery = new RowToNodes(sink, parentLevel, columns, path);
    HttpExchange exchange =
        new HttpExchange(client(), allHeaders(), timeout, maxBytes, "by max_bytes");
    Map<URI, HttpExchange.Answer> newest = new HashMap<>();
    if (url.uses("parents")) {
      for (String batch : batches(soFar.names(parentLevel))) {
        read(address(batch), null, exchange, delivery, newest);
      }
    } else if (url.uses("parent")) {
      for (String parent : soFar.names(parentLevel)) {
        read(address(encoded(parent)), parent, exchange, delivery, newest);
      }
    } else {
      read(address(""), null, exchange, delivery, newest);
    }
    delivery.finish();
    known = newest;
  }

  private URI address(String parents) {
    return URI.create(url.name(placeholder -> parents));
  }

  private static String encoded(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** Returns encoded names with commas between them; a comma in a name is encoded. */
  private static List<String> batches(List<String> parents) {
    List<String> batches = new ArrayList<>();
    StringBuilder batch = new StringBuilder();
    int count = 0;
    for (String parent : parents) {
      String name = encoded(parent);
      if (count > 0
          && (count == PARENTS_PER_REQUEST || batch.length() + name.length() > MOST_CHARACTERS)) {
        batches.add(batch.toString());
        batch.setLength(0);
        count = 0;
      }
      batch.append(count++ == 0 ? "" : ",").append(name);
    }
    if (count > 0) {
      batches.add(batch.toString());
    }
    return batches;
  }

  private HttpClient client() {
    if (client == null) {
      client = HttpExchange.client(timeout);
    }
    return client;
  }

  private Map<String, String> allHeaders() throws NodeSourceException {
    Map<String, String> all = new LinkedHashMap<>(headers);
    if (headersFile != null) {
      try {
        all.putAll(HttpExchange.headersIn(headersFile));
      } catch (IOException e) {
        throw failure(String.valueOf(e.getMessage()));
      }
    }
    return all;
  }

  private void read(
      URI address,
      @Nullable String parent,
      HttpExchange exchange,
      RowToNodes delivery,
      Map<URI, HttpExchange.Answer> newest)
      throws NodeSourceException, InterruptedException {
    HttpExchange.Answer answer;
    try {
      answer = exchange.get(address, known.get(address));
    } catch (IOException e) {
      throw failure(HttpExchange.shown(address) + " " + e.getMessage());
    }
    if (answer.canBeConfirmed()) {
      newest.put(address, answer);
    }
    text.read(answer.body(), HttpExchange.shown(address), parent, delivery);
  }

  private NodeSourceException failure(String message) {
    return new NodeSourceException(List.of(Problem.error(path, message)));
  }

  @Override
  public void close() {
    client = null;
    known = Map.of();
  }

  /** Checks the preferences and creates the source. */
  public static final class Type implements NodeSourceType {
    @Override
    public String name() {
      return "http";
    }

    @Override
    public Result<NodeSource> create(
        NodeSourceSpec spec, Levels levels, NodeSourceContext context) {
      Prefs prefs = new Prefs(spec);
      int parentLevel = prefs.parentLevel(levels);
      String text = prefs.requireString("url", "an address of http or https");
      NameFormat url =
          NameFormat.read("url", text == null ? "-" : text, List.of("parent", "parents"), prefs);
      if (url.uses("parent") && url.uses("parents")) {
        NameFormat.problem(prefs, "url", "there is {parent} and {parents}, use one of them", null);
      }
      PushDown pushDown = prefs.pushDown(url.uses("parent") || url.uses("parents"), parentLevel);
      if (text != null && !prefs.hasErrorAt("url")) {
        checkUrl(url, prefs);
      }
      Map<String, String> headers = headers(prefs);
      Path headersFile = headersFile(prefs, context.configDirectory());
      List<String> items = RowParser.readItems(prefs);
      ColumnMapping columns = ColumnMapping.read(prefs, false);
      int maxBytes = (int) prefs.integer("max_bytes", DEFAULT_MAX_BYTES, 1, MOST_BYTES);
      Optional<Duration> refresh = prefs.refresh();
      Duration timeout = prefs.timeout();
      return prefs.finish(
          () ->
              new HttpNodes(
                  parentLevel,
                  url,
                  headers,
                  headersFile,
                  new RowParser(RowParser.Form.JSON, items, ','),
                  columns,
                  maxBytes,
                  pushDown,
                  refresh,
                  timeout,
                  spec.path()));
    }

    private static void checkUrl(NameFormat url, Prefs prefs) {
      String objection = HttpExchange.objection(url.name(placeholder -> "x"));
      if (!objection.isEmpty()) {
        NameFormat.problem(prefs, "url", objection, null);
      }
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
}
