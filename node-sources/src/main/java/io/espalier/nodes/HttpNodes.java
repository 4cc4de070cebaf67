package io.espalier.nodes;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeLookup;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.ProbeUse;
import io.espalier.core.topology.PushDown;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * {@code http}: the nodes that a web service lists as JSON.
 *
 * <p>Preferences: {@code parent_level}; {@code url}, http or https; with the placeholder {@code
 * {parent}} there is a request for each parent, whose name is URL-encoded, and with {@code
 * {parents}} one for as many as the address has room for, with commas between them; for probes,
 * with {@code {node}} there is one for each node, which its answer need not name; {@code push_down}
 * as in {@link Prefs#pushDown}; {@code headers}, {@code headers_file}, {@code max_bytes} (64 MiB)
 * and {@code timeout_sec} (60) as in {@link HttpAccess}; {@code items} as in {@link RowParser};
 * {@code columns} and {@code distinct} as in {@link ColumnMapping}; {@code refresh_sec}.
 *
 * <p>If the last answer had an ETag or a date, the request is conditional: an unchanged answer is
 * not sent again.
 */
public final class HttpNodes implements NodeSource {
  private static final int DEFAULT_MAX_BYTES = 64 << 20;
  private static final String NODE = "node";
  private static final List<String> PLACEHOLDERS = List.of("parent", "parents", NODE);

  /** Limits of one request for many parents; many servers refuse addresses of more than 8 KiB. */
  private static final int PARENTS_PER_REQUEST = 500;

  private static final int MOST_CHARACTERS = 4000;

  private final int parentLevel;
  private final NameFormat url;
  private final HttpAccess access;
  private final RowParser text;
  private final ColumnMapping columns;
  private final PushDown pushDown;
  private final Optional<Duration> refresh;
  private final String path;

  /** Previous answers by address; only those that can be confirmed. */
  private Map<URI, HttpExchange.Answer> known = Map.of();

  private HttpNodes(
      int parentLevel,
      NameFormat url,
      HttpAccess access,
      RowParser text,
      ColumnMapping columns,
      PushDown pushDown,
      Optional<Duration> refresh,
      String path) {
    this.parentLevel = parentLevel;
    this.url = url;
    this.access = access;
    this.text = text;
    this.columns = columns;
    this.pushDown = pushDown;
    this.refresh = refresh;
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
  public ProbeUse probeUse() {
    return url.uses(NODE) ? ProbeUse.PER_NODE : ProbeUse.POSSIBLE;
  }

  @Override
  public void fetch(NodeLookup soFar, Instant now, NodeSink sink)
      throws NodeSourceException, InterruptedException {
    RowToNodes delivery =
        new RowToNodes(
            sink,
            parentLevel,
            columns,
            path,
            url.uses("parents") ? "" : "ask for the rows of each parent, with {parent} in \"url\"");
    HttpExchange exchange = exchange();
    Map<URI, HttpExchange.Answer> newest = new HashMap<>();
    if (url.uses("parents")) {
      for (String batch : batches(soFar.names(parentLevel))) {
        read(address(batch), null, exchange, delivery, newest);
      }
    } else if (url.uses("parent")) {
      for (String parent : soFar.names(parentLevel)) {
        read(address(HttpAccess.encoded(parent)), parent, exchange, delivery, newest);
      }
    } else if (url.uses(NODE)) {
      for (String node : soFar.names(parentLevel + 1)) {
        URI address = address(HttpAccess.encoded(node));
        byte[] body = get(address, exchange, newest);
        text.valueOf(node, body, HttpExchange.shown(address), delivery);
      }
    } else {
      read(address(""), null, exchange, delivery, newest);
    }
    delivery.finish();
    known = newest;
  }

  private HttpExchange exchange() throws NodeSourceException {
    try {
      return access.exchange();
    } catch (IOException e) {
      throw failure(String.valueOf(e.getMessage()));
    }
  }

  private URI address(String parents) {
    return URI.create(url.name(placeholder -> parents));
  }

  /** Returns encoded names with commas between them; a comma in a name is encoded. */
  private static List<String> batches(List<String> parents) {
    List<String> batches = new ArrayList<>();
    StringBuilder batch = new StringBuilder();
    int count = 0;
    for (String parent : parents) {
      String name = HttpAccess.encoded(parent);
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

  private void read(
      URI address,
      @Nullable String parent,
      HttpExchange exchange,
      RowToNodes delivery,
      Map<URI, HttpExchange.Answer> newest)
      throws NodeSourceException, InterruptedException {
    byte[] body = get(address, exchange, newest);
    text.read(body, HttpExchange.shown(address), parent, delivery);
  }

  private byte[] get(URI address, HttpExchange exchange, Map<URI, HttpExchange.Answer> newest)
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
    return answer.body();
  }

  private NodeSourceException failure(String message) {
    return new NodeSourceException(List.of(Problem.error(path, message)));
  }

  @Override
  public void close() {
    access.close();
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
      NameFormat url = NameFormat.read("url", text == null ? "-" : text, PLACEHOLDERS, prefs);
      List<String> used = PLACEHOLDERS.stream().filter(url::uses).toList();
      if (used.size() > 1) {
        String all =
            used.stream().map(each -> "{" + each + "}").collect(Collectors.joining(" and "));
        NameFormat.problem(prefs, "url", "there is " + all + ", use one of them", null);
      }
      PushDown pushDown = prefs.pushDown(url.uses("parent") || url.uses("parents"), parentLevel);
      if (text != null && !prefs.hasErrorAt("url")) {
        HttpAccess.checkUrl(url.name(placeholder -> "x"), prefs);
      }
      HttpAccess access =
          HttpAccess.read(prefs, context.configDirectory(), DEFAULT_MAX_BYTES, url.uses(NODE));
      List<String> items = RowParser.readItems(prefs);
      ColumnMapping columns = ColumnMapping.read(prefs, false);
      Optional<Duration> refresh = prefs.refresh();
      return prefs.finish(
          () ->
              new HttpNodes(
                  parentLevel,
                  url,
                  access,
                  new RowParser(RowParser.Form.JSON, items, ','),
                  columns,
                  pushDown,
                  refresh,
                  spec.path()));
    }
  }
}
