package io.espalier.nodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.espalier.core.config.Levels;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.ProbeUse;
import io.espalier.testkit.nodes.NodeRecorder;
import io.espalier.testkit.nodes.NodeSourceContract;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Against a server that plays Prometheus; {@code RealPrometheusTest} is against a real one. */
@Timeout(60)
@SuppressWarnings("NullAway.Init")
class PrometheusNodesTest extends NodeSourceContract {
  private static final Levels ONE = Levels.of(List.of("host"));

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final CountDownLatch never = new CountDownLatch(1);
  @TempDir private Path directory;
  private HttpServer server;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", this::answer);
    server.start();
  }

  @AfterEach
  void stop() {
    never.countDown();
    server.stop(0);
    threads.shutdownNow();
  }

  private static String vector(String samples) {
    return "{\"status\": \"success\", \"data\": {\"resultType\": \"vector\", \"result\": ["
        + samples
        + "]}}";
  }

  private static String sample(String labels, String value) {
    return "{\"metric\": {" + labels + "}, \"value\": [1700000000.5, \"" + value + "\"]}";
  }

  /** The query says what is answered. */
  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      assertThat(exchange.getRequestURI().getPath()).isEqualTo("/prom/api/v1/query");
      switch (exchange.getRequestURI().getQuery()) {
        case "query=lag{a=\"b+c\"} > 1" ->
            send(
                exchange,
                200,
                vector(
                    sample("\"host\": \"h1\", \"job\": \"db\", \"value\": \"x\"", "7.25")
                        + ","
                        + sample("\"host\": \"h2\"", "NaN")));
        case "query=unlabelled" -> send(exchange, 200, vector(sample("\"job\": \"db\"", "1")));
        case "query=sum" -> send(exchange, 200, vector(sample("", "1")));
        case "query=no value" -> send(exchange, 200, vector("{\"metric\": {\"host\": \"h\"}}"));
        case "query=no sample" -> send(exchange, 200, vector("7"));
        case "query=scalar" ->
            send(exchange, 200, vector("").replace("vector", "scalar").replace("[]", "[1, \"2\"]"));
        case "query=range" -> send(exchange, 200, vector("").replace("vector", "matrix"));
        case "query=no list" -> send(exchange, 200, vector("").replace("[]", "{}"));
        case "query=refused" ->
            send(
                exchange,
                400,
                "{\"status\": \"error\", \"errorType\": \"bad_data\", \"error\": \"parse error: x\"}");
        case "query=error with 200" ->
            send(exchange, 200, "{\"status\": \"error\", \"error\": \"out of memory\"}");
        case "query=gone" -> send(exchange, 502, "<html>bad gateway</html>");
        case "query=text" -> send(exchange, 200, "lag 7");
        case "query=other" -> send(exchange, 200, "[1]");
        case "query=away" -> {
          exchange.getResponseHeaders().set("Location", "file:///etc/passwd");
          exchange.sendResponseHeaders(302, -1);
        }
        case "query=round" -> {
          exchange.getResponseHeaders().set("Location", exchange.getRequestURI().toString());
          exchange.sendResponseHeaders(302, -1);
        }
        case "query=hangs" -> {
          exchange.sendResponseHeaders(200, 0);
          exchange.getResponseBody().write('{');
          exchange.getResponseBody().flush();
          await();
        }
        case "query=a million" -> million(exchange);
        default -> send(exchange, 404, "");
      }
    }
  }

  private void await() {
    try {
      never.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void send(HttpExchange exchange, int status, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  private static void million(HttpExchange exchange) throws IOException {
    exchange.sendResponseHeaders(200, 0);
    byte[] one =
        (sample("\"host\": \"h1\"", "1") + ",").repeat(1000).getBytes(StandardCharsets.UTF_8);
    try {
      for (int i = 0; i < 1000; i++) {
        exchange.getResponseBody().write(one);
      }
    } catch (IOException e) {
      // The reader has had enough.
    }
  }

  private String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/prom/";
  }

  private Json.Obj prefs(String query, String more) {
    String prefs =
        "{'url': '" + url() + "', 'query': '" + query + "', 'label': 'host'" + more + "}";
    return Tree.prefs(prefs.replace('\'', '"'));
  }

  @Override
  protected NodeSourceType type() {
    return new PrometheusNodes.Type();
  }

  @Override
  protected String configDirectory() {
    return directory.toString();
  }

  @Override
  protected Example example() throws IOException {
    Files.writeString(directory.resolve("secret"), "Authorization: Bearer s3cret");
    return new Example(
        ONE,
        prefs(
            "lag{a=\\\"b+c\\\"} > 1",
            ", 'headers': {'X-Scope-OrgID': '1'}, 'headers_file': 'secret', 'max_bytes': 10000,"
                + " 'timeout_sec': 20"),
        List.of(),
        List.of(value("h1", Json.of("7.25")), value("h2", Json.of("NaN"))));
  }

  private static NodeSpec value(String node, Json value) {
    Json.Obj attributes = Json.object().put("value", value).build();
    return new NodeSpec(1, node, null, 0, true, Set.of(), attributes);
  }

  @Override
  protected Map<Json.Obj, List<String>> badPrefs() {
    return Map.of(
        Json.Obj.EMPTY,
        List.of("url", "query"),
        Tree.prefs(
            "{\"url\": \"ftp://x\", \"query\": \" \", \"label\": 3, \"headers\": {\"Cookie\": \"x\"},"
                + " \"max_bytes\": 0, \"timeout_sec\": 0}"),
        List.of("url", "query", "label", "headers.Cookie", "max_bytes", "timeout_sec"),
        Tree.prefs("{\"url\": \"http://x/api/v1/query\", \"query\": \"up\"}"),
        List.of("url"));
  }

  @Override
  protected List<Json.Obj> failingPrefs() {
    return List.of(prefs("gone", ""), prefs("text", ""), prefs("unlabelled", ""));
  }

  private String problem(String query, String more) {
    NodeSource source = source(ONE, prefs(query, more));
    List<Problem> problems = new ArrayList<>();
    assertThatThrownBy(() -> NodeRecorder.fetch(source, ONE, List.of(), NOW))
        .isInstanceOfSatisfying(NodeSourceException.class, e -> problems.addAll(e.problems()));
    assertThat(problems).hasSize(1);
    return problems.get(0).message().replace(url(), "/");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "refused | answered with status 400: parse error: x",
        "gone | answered with status 502",
        "text | is not JSON: ",
        "other | is not an answer of Prometheus, whose \"status\" is \"success\"",
        "error with 200 | whose \"status\" is \"success\": out of memory",
        "scalar | answered with a scalar where an instant vector is needed",
        "range | answered with a matrix where an instant vector is needed",
        "no list | answered with a vector without the list \"result\"",
        "away | redirects to something that is not http or https",
        "round | redirects more than 5 times",
        "hangs | did not answer within 0.3 s",
        "a million | the body is longer than the 16777216 bytes allowed by max_bytes"
      })
  void whatIsNoAnswerIsSaid(String query, String problem) {
    String more = query.equals("hangs") ? ", 'timeout_sec': 0.3" : "";
    assertThat(problem(query, more)).startsWith("/api/v1/query?… ").contains(problem);
  }

  @Test
  void samplesThatNameNoNodeMakeTheAnswerUnusable() {
    assertThat(problem("unlabelled", ""))
        .isEqualTo("sample 1 of /api/v1/query?… has no label \"host\"; there are job");
    assertThat(problem("sum", "")).endsWith("has no label \"host\": it has none");
    assertThat(problem("no sample", "")).endsWith("has no label \"host\": it has none");
  }

  @Test
  void aSampleWithoutAValueIsLeftToTheProbeToReport() throws Exception {
    NodeSource source = source(ONE, prefs("no value", ""));
    assertThat(NodeRecorder.fetch(source, ONE, List.of(), NOW))
        .containsExactly(value("h", Json.Null.NULL));
  }

  @Test
  void itIsForProbesOnly() {
    assertThat(source(ONE, prefs("up", "")).probeUse()).isEqualTo(ProbeUse.ONLY);
  }
}
