package io.espalier.nodes;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.text.ShortText;
import io.espalier.core.topology.NodeLookup;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.ProbeUse;
import io.espalier.json.JsonReader;
import java.io.IOException;
import java.net.URI;
import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * {@code prometheus}: the values of nodes that a query of Prometheus returns, for probes.
 *
 * <p>Preferences: {@code url} of the server, without {@code /api/v1/query}; {@code query}, in
 * PromQL, whose result is an instant vector; {@code label} that has the name of the node ({@code
 * instance}); the others as in {@link HttpAccess}, with 16 MiB for {@code max_bytes}.
 *
 * <p>A row is the name of a node with the attribute {@code value}. The instants of an answer are
 * those of its evaluation, so they are not passed on. A sample without the label makes the whole
 * answer unusable, because nobody knows what it is about.
 */
public final class PrometheusNodes implements NodeSource {
  /** About 100,000 samples with a few labels. */
  private static final int DEFAULT_MAX_BYTES = 16 << 20;

  private static final String PATH = "/api/v1/query";
  private static final int MOST_SHOWN = 200;

  private final URI address;
  private final String label;
  private final HttpAccess access;
  private final String path;

  private PrometheusNodes(URI address, String label, HttpAccess access, String path) {
    this.address = address;
    this.label = label;
    this.access = access;
    this.path = path;
  }

  @Override
  public ProbeUse probeUse() {
    return ProbeUse.ONLY;
  }

  @Override
  public void fetch(NodeLookup soFar, Instant now, NodeSink sink)
      throws NodeSourceException, InterruptedException {
    Json answer;
    try {
      answer = read(access.exchange().get(address, null).body());
    } catch (HttpExchange.StatusException e) {
      // Prometheus tells with it what is wrong with a query.
      Json said = JsonReader.strict().withMaxBytes(Integer.MAX_VALUE).read(e.body()).value();
      throw failure(e.getMessage() + refusal(said));
    } catch (IOException e) {
      throw failure(String.valueOf(e.getMessage()));
    }
    RowToNodes delivery = new RowToNodes(sink, 0, ColumnMapping.usual(), path, "");
    int number = 0;
    for (Json sample : samples(answer).items()) {
      take(sample, "sample " + ++number + " of " + HttpExchange.shown(address), delivery);
    }
    delivery.finish();
  }

  private Json read(byte[] body) throws NodeSourceException {
    Result<Json> read = JsonReader.strict().withMaxBytes(Integer.MAX_VALUE).read(body);
    Json value = read.value();
    if (value == null) {
      String why = read.problems().stream().map(Problem::message).findFirst().orElse("");
      throw failure("is not JSON: " + why);
    }
    return value;
  }

  /** Returns the list of samples in an answer. */
  private Json.Arr samples(Json answer) throws NodeSourceException {
    if (!"success".equals(text(answer, "status"))) {
      throw failure(
          "is not an answer of Prometheus, whose \"status\" is \"success\"" + refusal(answer));
    }
    Json data = member(answer, "data");
    String kind = text(data, "resultType");
    if (!"vector".equals(kind)) {
      throw failure(
          "answered with "
              + (kind == null ? "no \"resultType\"" : "a " + ShortText.shown(kind, MOST_SHOWN))
              + " where an instant vector is needed, which has one value for each node");
    }
    if (member(data, "result") instanceof Json.Arr list) {
      return list;
    }
    throw failure("answered with a vector without the list \"result\"");
  }

  private void take(Json sample, String where, RowToNodes delivery)
      throws NodeSourceException, InterruptedException {
    String name = text(member(sample, "metric"), label);
    if (name == null) {
      delivery.problem(
          where + " has no label \"" + label + "\"" + labels(member(sample, "metric")));
      return;
    }
    Json value =
        member(sample, "value") instanceof Json.Arr pair && pair.items().size() == 2
            ? pair.items().get(1)
            : Json.Null.NULL;
    delivery.row(
        Json.object()
            .put("name", name)
            .put("attributes", Json.object().put("value", value).build())
            .build(),
        where,
        null);
  }

  private static String labels(@Nullable Json metric) {
    if (!(metric instanceof Json.Obj labels) || labels.members().isEmpty()) {
      return ": it has none";
    }
    String all = labels.members().keySet().stream().collect(Collectors.joining(", "));
    return "; there are " + ShortText.shown(all, MOST_SHOWN);
  }

  /** Returns what an answer says about an error, to be appended; empty: nothing. */
  private static String refusal(@Nullable Json answer) {
    String error = answer == null ? null : text(answer, "error");
    return error == null ? "" : ": " + ShortText.shown(error, MOST_SHOWN);
  }

  private static @Nullable Json member(@Nullable Json of, String key) {
    return of instanceof Json.Obj object ? object.get(key) : null;
  }

  private static @Nullable String text(@Nullable Json of, String key) {
    return member(of, key) instanceof Json.Str text ? text.value() : null;
  }

  private NodeSourceException failure(String message) {
    return new NodeSourceException(
        List.of(Problem.error(path, HttpExchange.shown(address) + " " + message)));
  }

  @Override
  public void close() {
    access.close();
  }

  /** Checks the preferences and creates the source. */
  public static final class Type implements NodeSourceType {
    @Override
    public String name() {
      return "prometheus";
    }

    @Override
    public Result<NodeSource> create(
        NodeSourceSpec spec, Levels levels, NodeSourceContext context) {
      Prefs prefs = new Prefs(spec);
      String url = prefs.requireString("url", "the address of a Prometheus server");
      if (url != null) {
        checkUrl(url, prefs);
      }
      String query = prefs.requireString("query", "a query of PromQL");
      if (query != null && query.isBlank()) {
        NameFormat.problem(prefs, "query", "the query is empty", null);
      }
      String label = prefs.string("label", "the label that has the name of the node", "instance");
      HttpAccess access =
          HttpAccess.read(prefs, context.configDirectory(), DEFAULT_MAX_BYTES, false);
      return prefs.finish(
          () -> new PrometheusNodes(address(url, query), label, access, spec.path()));
    }

    private static void checkUrl(String url, Prefs prefs) {
      HttpAccess.checkUrl(url, prefs);
      boolean isPage = url.indexOf('?') >= 0 || url.contains("/api/");
      if (!prefs.hasErrorAt("url") && isPage) {
        NameFormat.problem(
            prefs,
            "url",
            "expected the address of the server alone",
            "leave out what follows the server, such as " + PATH);
      }
    }

    private static URI address(@Nullable String url, @Nullable String query) {
      String server = String.valueOf(url).replaceFirst("/+$", "");
      return URI.create(server + PATH + "?query=" + HttpAccess.encoded(String.valueOf(query)));
    }
  }
}
