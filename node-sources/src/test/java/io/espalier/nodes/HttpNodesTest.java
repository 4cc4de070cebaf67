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
import io.espalier.core.topology.PushDown;
import io.espalier.testkit.nodes.NodeRecorder;
import io.espalier.testkit.nodes.NodeSourceContract;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class HttpNodesTest extends NodeSourceContract {
  private static final Levels TWO = Levels.of(List.of("host", "db"));
  private static final Levels ONE = Levels.of(List.of("host"));

  private final Path directory;
  private HttpServer server = newServer();
  private HttpServer other = newServer();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final CountDownLatch never = new CountDownLatch(1);

  /** What was asked, as {@code path header=value …}. */
  private final List<String> asked = Collections.synchronizedList(new ArrayList<>());

  private static HttpServer newServer() {
    try {
      return HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @BeforeEach
  void start() {
    for (HttpServer each : List.of(server, other)) {
      each.setExecutor(threads);
      each.createContext("/", this::answer);
      each.start();
    }
  }

  @AfterEach
  void stop() {
    never.countDown();
    server.stop(0);
    other.stop(0);
    threads.shutdownNow();
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      String path = exchange.getRequestURI().toString();
      StringBuilder seen = new StringBuilder(path);
      for (String header : List.of("X-Token", "X-Plain", "If-None-Match", "If-Modified-Since")) {
        String value = exchange.getRequestHeaders().getFirst(header);
        seen.append(value == null ? "" : " " + header + "=" + value);
      }
      asked.add(seen.toString());
      switch (path) {
        case "/to-other" -> redirect(exchange, uri(other, "/hosts"));
        case "/to-ftp" -> redirect(exchange, "ftp://localhost/hosts");
        case "/to-file" -> redirect(exchange, "file:///etc/passwd");
        case "/to-nothing" -> redirect(exchange, "");
        case "/round" -> redirect(exchange, "/round");
        case "/relative" -> redirect(exchange, "hosts");
        case "/etag" -> {
          exchange.getResponseHeaders().set("ETag", "\"v1\"");
          boolean same = "\"v1\"".equals(exchange.getRequestHeaders().getFirst("If-None-Match"));
          send(exchange, same ? 304 : 200, "[\"e1\"]");
        }
        case "/dated" -> {
          String date = "Sat, 21 Nov 2026 07:00:00 GMT";
          exchange.getResponseHeaders().set("Last-Modified", date);
          boolean same = date.equals(exchange.getRequestHeaders().getFirst("If-Modified-Since"));
          send(exchange, same ? 304 : 200, "[\"d1\"]");
        }
        case "/slow" -> await();
        case "/drip" -> {
          exchange.sendResponseHeaders(200, 0);
          exchange.getResponseBody().write('[');
          exchange.getResponseBody().flush();
          await();
        }
        case "/large" -> send(exchange, 200, "[\"" + "x".repeat(5000) + "\"]");
        case "/gone" -> send(exchange, 410, "it is gone");
        case "/same" -> send(exchange, 304, "");
        case "/text" -> send(exchange, 200, "hello");
        case "/empty" -> send(exchange, 200, "");
        case "/dbs" ->
            send(
                exchange,
                200,
                "{\"page\": {\"list\": [{\"name\": \"d1\", \"parent\": \"b\"}, {\"name\": \"d2\","
                    + " \"parent\": \"a\", \"tags\": [\"t\"], \"more\": 1}]}}");
        case "/lag/a%2F%3F" -> send(exchange, 200, "{\"value\": 7.5}");
        case "/nested/a%2F%3F" -> send(exchange, 200, "{\"lag\": {\"s\": 7.5}}");
        case "/of/a%20%2F%3F" -> send(exchange, 200, "[\"x1\"]");
        case "/of?hosts=a%2Cb,c%26d" ->
            send(exchange, 200, "[{\"name\": \"y1\", \"parent\": \"c&d\"}]");
        default -> send(exchange, 200, "[\"h1\", {\"name\": \"h2\"}]");
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

  private static void redirect(HttpExchange exchange, String to) throws IOException {
    exchange.getResponseHeaders().set("Location", to);
    exchange.sendResponseHeaders(302, -1);
  }

  private static void send(HttpExchange exchange, int status, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, status == 304 ? -1 : bytes.length);
    if (status != 304) {
      exchange.getResponseBody().write(bytes);
    }
  }

  private static String uri(HttpServer server, String path) {
    return "http://127.0.0.1:" + server.getAddress().getPort() + path;
  }

  HttpNodesTest(@TempDir Path directory) {
    this.directory = directory;
  }

  @Override
  protected NodeSourceType type() {
    return new HttpNodes.Type();
  }

  @Override
  protected String configDirectory() {
    return directory.toString();
  }

  @Override
  protected Example example() throws Exception {
    Files.writeString(directory.resolve("secret"), "# of the service\n\nX-Token: s3cret\n");
    Json.Obj prefs =
        Tree.prefs(
            "{\"parent_level\": \"host\", \"url\": \""
                + uri(server, "/dbs")
                + "\", \"items\": \"page.list\", \"headers\": {\"X-Plain\": \"1\"},"
                + " \"headers_file\": \"secret\", \"max_bytes\": 10000, \"refresh_sec\": 10,"
                + " \"timeout_sec\": 20, \"columns\": {\"attributes\": [\"more\"]}}");
    return new Example(
        TWO,
        prefs,
        List.of(NodeSpec.child(1, "a", null), NodeSpec.child(1, "b", null)),
        List.of(
            NodeSpec.child(2, "d1", "b"),
            new NodeSpec(
                2, "d2", "a", 1, true, Set.of("t"), Json.object().put("more", 1).build())));
  }

  @Override
  protected Map<Json.Obj, List<String>> badPrefs() {
    return Map.of(
        Json.Obj.EMPTY,
        List.of("parent_level", "url"),
        Tree.prefs(
            "{\"parent_level\": \"rack\", \"url\": \"ftp://x/y\", \"headers\": {\"a b\": \"1\","
                + " \"Host\": \"x\", \"X\": 3, \"Y\": \"a\\nb\", \"Authorization\": \"top\"},"
                + " \"headers_file\": \"\", \"items\": [], \"columns\": {\"attributes\": 3},"
                + " \"max_bytes\": \"many\", \"refresh_sec\": -1, \"timeout_sec\": 0}"),
        List.of(
            "parent_level",
            "url",
            "headers[\"a b\"]",
            "headers.Host",
            "headers.X",
            "headers.Y",
            "headers.Authorization",
            "headers_file",
            "items",
            "columns.attributes",
            "max_bytes",
            "refresh_sec",
            "timeout_sec"),
        Tree.prefs(
            "{\"parent_level\": \"host\", \"url\": \"http://joe:pw@x/\", \"headers\": 3,"
                + " \"headers_file\": 3}"),
        List.of("url", "headers", "headers_file"),
        Tree.prefs("{\"parent_level\": \"host\", \"url\": \"http:///x\"}"),
        List.of("url"),
        Tree.prefs("{\"parent_level\": \"host\", \"url\": \"http://x/{other}\"}"),
        List.of("url"),
        Tree.prefs("{\"parent_level\": \"host\", \"url\": \"http://x/a b\"}"),
        List.of("url"),
        Tree.prefs("{\"parent_level\": \"host\", \"url\": \"http://x/{parent}/{parents}\"}"),
        List.of("url"),
        Tree.prefs(
            "{\"parent_level\": \"host\", \"url\": \"http://x/\", \"push_down\":"
                + " \"one_parent\"}"),
        List.of("push_down"));
  }

  @Override
  protected List<Json.Obj> failingPrefs() {
    return List.of(
        Tree.prefs("{\"parent_level\": \"host\", \"url\": \"" + uri(server, "/gone") + "\"}"),
        Tree.prefs("{\"parent_level\": \"host\", \"url\": \"" + uri(server, "/hosts") + "\"}"));
  }

  private NodeSource hosts(String path, String more) {
    String columns = path.endsWith("{node}") ? ", 'columns': {'attributes': ['value']}" : "";
    return source(
        ONE,
        Tree.prefs(
            ("{'parent_level': 'instance', 'url': '"
                    + uri(server, path)
                    + "'"
                    + more
                    + columns
                    + "}")
                .replace('\'', '"')));
  }

  private static List<String> names(NodeSource source) throws Exception {
    return NodeRecorder.fetch(source, ONE, List.of(), NOW).stream().map(NodeSpec::name).toList();
  }

  private String problem(String path, String more) {
    NodeSource source = hosts(path, more);
    List<Problem> problems = new ArrayList<>();
    assertThatThrownBy(() -> names(source))
        .isInstanceOfSatisfying(NodeSourceException.class, e -> problems.addAll(e.problems()));
    assertThat(problems).hasSize(1);
    return problems.get(0).message().replace(uri(server, ""), "");
  }

  @ParameterizedTest
  @CsvSource({
    "/etag, e1, If-None-Match=\"v1\"",
    "/dated, d1, 'If-Modified-Since=Sat, 21 Nov 2026 07:00:00 GMT'"
  })
  void anAnswerThatHasNotChangedIsNotSentAgain(String path, String name, String condition)
      throws Exception {
    NodeSource source = hosts(path, "");
    assertThat(names(source)).containsExactly(name);
    assertThat(names(source)).containsExactly(name);
    assertThat(names(source)).containsExactly(name);
    assertThat(asked).containsExactly(path, path + " " + condition, path + " " + condition);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/gone | answered with status 410",
        "/same | answered with status 304",
        "/to-ftp | redirects to something that is not http or https",
        "/to-file | redirects to something that is not http or https",
        "/to-nothing | redirects to something that is not http or https",
        "/round | redirects more than 5 times",
        "/slow | did not answer within 0.3 s",
        "/drip | did not answer within 0.3 s"
      })
  void whatIsNoAnswerIsSaid(String path, String problem) {
    assertThat(problem(path, ", 'timeout_sec': 0.3")).isEqualTo(path + " " + problem);
  }

  @Test
  void anAnswerThatIsTooLargeOrNoJsonIsRefused() {
    assertThat(problem("/large", ", 'max_bytes': 4999"))
        .contains("the body is longer than the 4999 bytes allowed by max_bytes");
    assertThat(problem("/large", "")).endsWith("its name is longer than 1024 bytes");
    assertThat(problem("/text", "")).startsWith("/text is not JSON: 1:1 ");
    assertThat(problem("/empty", "")).startsWith("/empty is not JSON: ");
    assertThat(problem("/dbs", ", 'items': 'page.rows'"))
        .isEqualTo("/dbs has no \"rows\" on the way to its rows; there are list");
  }

  @Test
  void whereNobodyListensIsSaid() {
    server.stop(0);
    assertThat(problem("/hosts", "")).startsWith("/hosts failed: cannot connect");
  }

  @Test
  void redirectsAreFollowedButSecretsStayAtHome() throws Exception {
    Files.writeString(directory.resolve("secret"), "X-Token: s3cret");
    String secret = ", 'headers_file': 'secret'";
    assertThat(names(hosts("/relative", secret))).containsExactly("h1", "h2");
    assertThat(names(hosts("/to-other", secret))).containsExactly("h1", "h2");
    assertThat(asked)
        .containsExactly(
            "/relative X-Token=s3cret",
            "/hosts X-Token=s3cret",
            "/to-other X-Token=s3cret",
            "/hosts");
  }

  @Test
  void theFileOfHeadersIsReadEachTimeAndItsContentIsNeverShown() throws Exception {
    Path secret = directory.resolve("secret");
    NodeSource source = hosts("/hosts?key=s3cret", ", 'headers_file': 'secret'");
    Supplier<String> problem =
        () -> {
          List<String> said = new ArrayList<>();
          assertThatThrownBy(() -> names(source))
              .isInstanceOfSatisfying(
                  NodeSourceException.class,
                  e -> e.problems().forEach(p -> said.add(p.toString())));
          return String.join("\n", said);
        };
    assertThat(problem.get()).contains("there is no file " + secret + " of headers");
    Files.writeString(secret, "X-Token s3cret");
    assertThat(problem.get())
        .contains("line 1 is not of the form \"Name: value\"")
        .doesNotContain("s3cret");
    Files.writeString(secret, "X-Token: one");
    assertThat(names(source)).hasSize(2);
    Files.writeString(secret, "X-Token: two");
    assertThat(names(source)).hasSize(2);
    assertThat(asked)
        .containsExactly("/hosts?key=s3cret X-Token=one", "/hosts?key=s3cret X-Token=two");
    server.stop(0);
    assertThat(problem.get()).contains("/hosts?…").doesNotContain("s3cret");
  }

  @Test
  void secretsInTheConfigurationAreRefusedWithoutBeingRepeated() {
    String problems =
        create(
                ONE,
                Tree.prefs(
                    "{\"parent_level\": \"instance\", \"url\": \"http://x/\", \"headers\":"
                        + " {\"authorization\": \"Bearer s3cret\"}}"))
            .problems()
            .toString();
    assertThat(problems).contains("headers_file").doesNotContain("s3cret");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "'url': 'http://x/', 'headers': 'Authorization: Basic s3cret'",
        "'url': 'http://x/', 'headers': ['X-Api-Key: s3cret']",
        "'url': 'http://x/', 'headers': {'X-Api-Key': ['s3cret']}",
        "'url': 'http://joe:s3cret@x/'",
        "'url': 'x:?api_key=s3cret'",
        "'url': {'password': 's3cret'}",
        "'url': 'http://x/', 'columns': {'attributes': {'token': 's3cret'}}"
      })
  void whatMayBeASecretIsNotRepeatedByAProblem(String members) {
    List<Problem> problems =
        create(
                ONE,
                Tree.prefs(("{'parent_level': 'instance', " + members + "}").replace('\'', '"')))
            .problems();
    assertThat(problems).anyMatch(Problem::isError);
    assertThat(problems.toString()).doesNotContain("s3cret");
  }

  @Test
  void eachParentIsAskedForWithItsNameEncoded() throws Exception {
    NodeSource source =
        source(
            TWO,
            Tree.prefs(
                "{\"parent_level\": \"host\", \"url\": \"" + uri(server, "/of/{parent}") + "\"}"));
    assertThat(NodeRecorder.fetch(source, TWO, List.of(NodeSpec.child(1, "a /?", null)), NOW))
        .containsExactly(NodeSpec.child(2, "x1", "a /?"));
    assertThat(asked).containsExactly("/of/a%20%2F%3F");
  }

  @Test
  void manyParentsAreAskedForInBatchesWithTheirNamesEncoded() throws Exception {
    NodeSource source =
        source(
            TWO,
            Tree.prefs(
                "{\"parent_level\": \"host\", \"url\": \""
                    + uri(server, "/of?hosts={parents}")
                    + "\", \"push_down\": \"all_parents\"}"));
    assertThat(source.pushDown()).isEqualTo(PushDown.ALL_PARENTS);
    List<NodeSpec> two = List.of(NodeSpec.child(1, "a,b", null), NodeSpec.child(1, "c&d", null));
    assertThat(NodeRecorder.fetch(source, TWO, two, NOW))
        .containsExactly(NodeSpec.child(2, "y1", "c&d"));
    assertThat(asked).containsExactly("/of?hosts=a%2Cb,c%26d");
    assertThat(NodeRecorder.fetch(source, TWO, List.of(), NOW)).isEmpty();
    asked.clear();
    List<NodeSpec> many = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      many.add(NodeSpec.child(1, "host-" + i, null));
    }
    assertThatThrownBy(() -> NodeRecorder.fetch(source, TWO, many, NOW))
        .as("the rows of this server name no parent")
        .isInstanceOf(NodeSourceException.class);
    assertThat(asked).hasSize(3).allMatch(path -> path.length() < 4100);
    assertThat(String.join(",", asked).split("host-")).hasSize(1001);
  }

  @Test
  void aProbeAsksAboutEachNodeAndTheAnswerNeedNotNameIt() throws Exception {
    for (String items : List.of("", ", 'items': 'lag.s'")) {
      NodeSource source = hosts(items.isEmpty() ? "/lag/{node}" : "/nested/{node}", items);
      assertThat(source.probeUse()).isEqualTo(ProbeUse.PER_NODE);
      List<NodeSpec> rows =
          NodeRecorder.fetch(source, ONE, List.of(NodeSpec.child(1, "a/?", null)), NOW);
      assertThat(rows).hasSize(1);
      assertThat(rows.get(0).name()).isEqualTo("a/?");
      assertThat(rows.get(0).attributes()).hasToString("{\"value\":7.5}");
    }
    assertThat(asked).containsExactly("/lag/a%2F%3F", "/nested/a%2F%3F");
    assertThat(hosts("/hosts", "").probeUse()).isEqualTo(ProbeUse.POSSIBLE);
  }

  @Test
  void aFetchHonoursInterruption() {
    NodeSource source = hosts("/slow", "");
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> names(source)).isInstanceOf(InterruptedException.class);
    assertThat(Thread.interrupted()).isFalse();
  }
}
